#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "examples/train/task/tasks.h"

namespace train {

namespace {

using Position = std::size_t;

std::vector<std::string> symbols(char first, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) {
    names.emplace_back(1, static_cast<char>(first + static_cast<char>(i)));
  }
  return names;
}

std::int64_t draw_symbol(Random& random, std::size_t count) {
  return static_cast<std::int64_t>(random.below(count));
}

/// Completes a task from its generator of arbitrary sequences. `draw` returns sequences that are
/// not held out, `held_out` returns the others.
Task with_held_out(Task task, std::function<Tokens(Random&)> generate) {
  const auto draw_from = [is_answer = task.is_answer, generate = std::move(generate)](
                             Random& random, bool held_out) {
    // A question is held out with probability 1/32. So after 10,000 failed attempts, there is no
    // such question.
    for (int attempt = 0; attempt < 10000; ++attempt) {
      Tokens sequence = generate(random);
      if (is_held_out(question_of(sequence, is_answer)) == held_out) {
        return sequence;
      }
    }
    throw std::invalid_argument(
        "there are too few different sequences of this length to hold some out; use a larger "
        "--length");
  };
  task.draw = [draw_from](Random& random) { return draw_from(random, false); };
  task.held_out = [draw_from](Random& random, std::size_t count) {
    std::vector<Tokens> sequences;
    for (std::size_t i = 0; i < count; ++i) {
      sequences.push_back(draw_from(random, true));
    }
    return sequences;
  };
  return task;
}

/// A task whose sequences are `length` symbols, an arrow, and an answer of `length` symbols.
Task rewriting_task(Task task, std::size_t length, std::function<void(Tokens&)> rewrite) {
  const std::size_t alphabet = task.labels.size();
  task.labels.emplace_back("→");
  task.spellings = task.labels;
  task.prompt = length + 1;
  task.is_answer.assign(2 * length + 1, false);
  std::fill(task.is_answer.end() - static_cast<std::ptrdiff_t>(length), task.is_answer.end(), true);
  return with_held_out(std::move(task),
                       [length, alphabet, rewrite = std::move(rewrite)](Random& random) {
                         Tokens sequence;
                         for (std::size_t i = 0; i < length; ++i) {
                           sequence.push_back(draw_symbol(random, alphabet));
                         }
                         Tokens answer = sequence;
                         rewrite(answer);
                         sequence.push_back(static_cast<std::int64_t>(alphabet));
                         sequence.insert(sequence.end(), answer.begin(), answer.end());
                         return sequence;
                       });
}

/// Links each query that predicts symbol j of the answer to the position `source(j)` of the
/// question.
std::function<std::vector<Link>(const Tokens&)> answer_links(
    std::size_t length, std::function<Position(std::size_t)> source) {
  return [length, source = std::move(source)](const Tokens&) {
    std::vector<Link> links;
    for (std::size_t j = 0; j < length; ++j) {
      links.push_back({length + j, source(j)});
    }
    return links;
  };
}

Task reverse_task(std::size_t length) {
  Task task;
  task.name = "reverse";
  task.goal = "Read " + std::to_string(length) + " digits, then write them backwards.";
  task.labels = symbols('0', 10);
  task.patterns = {{"mirrored diagonal",
                    "Each digit of the answer is copied from its mirror position in the question. "
                    "So later digits attend to earlier positions.",
                    answer_links(length, [length](std::size_t j) { return length - 1 - j; })}};
  return rewriting_task(std::move(task), length,
                        [](Tokens& answer) { std::reverse(answer.begin(), answer.end()); });
}

Task copy_task(std::size_t length) {
  Task task;
  task.name = "copy";
  task.goal = "Read " + std::to_string(length) + " letters, then write them again.";
  task.labels = symbols('a', 26);
  task.patterns = {{"shifted diagonal",
                    "Each letter of the answer is copied from the same position in the question.",
                    answer_links(length, [](std::size_t j) { return j; })}};
  return rewriting_task(std::move(task), length, [](Tokens&) {});
}

Task sort_task(std::size_t length) {
  Task task;
  task.name = "sort";
  task.goal = "Read " + std::to_string(length) + " digits, then write them in ascending order.";
  task.labels = symbols('0', 10);
  task.patterns = {{"answered digit",
                    "Each digit of the answer attends to the copies of that digit in the question.",
                    [length](const Tokens& sequence) {
                      std::vector<Link> links;
                      for (Position query = length; query < 2 * length; ++query) {
                        for (Position key = 0; key < length; ++key) {
                          if (sequence[key] == sequence[query + 1]) {
                            links.push_back({query, key});
                          }
                        }
                      }
                      return links;
                    }}};
  return rewriting_task(std::move(task), length,
                        [](Tokens& answer) { std::sort(answer.begin(), answer.end()); });
}

constexpr std::int64_t kPlus = 10;
constexpr std::int64_t kEquals = 11;

/// Appends the last `count` decimal digits of `number`, most significant first.
void append_digits(Tokens& tokens, std::uint64_t number, std::size_t count) {
  const std::size_t begin = tokens.size();
  tokens.resize(begin + count);
  for (std::size_t i = count; i-- > 0; number /= 10) {
    tokens[begin + i] = static_cast<std::int64_t>(number % 10);
  }
}

Task add_task(std::size_t digits, bool reversed) {
  Task task;
  task.name = reversed ? "add-reversed" : "add";
  task.goal = "Add two numbers of " + std::to_string(digits) + " digits" +
              (reversed ? "; the sum is written with its last digit first." : ".");
  task.labels = symbols('0', 10);
  task.labels.insert(task.labels.end(), {"+", "="});
  task.spellings = task.labels;
  const Position answer = 2 * digits + 2;  // a + b = sum, and the sum has one more digit
  task.prompt = answer;
  task.is_answer.assign(answer, false);
  task.is_answer.insert(task.is_answer.end(), digits + 1, true);
  task.patterns = {
      {"operand digits",
       "Each digit of the sum attends to the two digits with the same place value, one in each "
       "number.",
       [digits, answer, reversed](const Tokens&) {
         std::vector<Link> links;
         for (std::size_t place = 0; place < digits;
              ++place) {  // place 0 is the ones; the last carry has no digits to attend to
           const Position written = answer + (reversed ? place : digits - place);
           const Position first = digits - 1 - place;
           links.push_back({written - 1, first});
           links.push_back({written - 1, first + digits + 1});
         }
         return links;
       }}};
  std::uint64_t bound = 1;
  for (std::size_t i = 0; i < digits; ++i) {
    bound *= 10;
  }
  return with_held_out(std::move(task), [digits, reversed, bound](Random& random) {
    const std::uint64_t a = random.below(bound);
    const std::uint64_t b = random.below(bound);
    Tokens sequence;
    append_digits(sequence, a, digits);
    sequence.push_back(kPlus);
    append_digits(sequence, b, digits);
    sequence.push_back(kEquals);
    append_digits(sequence, a + b, digits + 1);
    if (reversed) {
      std::reverse(sequence.end() - static_cast<std::ptrdiff_t>(digits + 1), sequence.end());
    }
    return sequence;
  });
}

constexpr std::size_t kRecallKeys = 16;  // the keys are letters, a to p; the values are digits
constexpr std::size_t kRecallValues = 10;

/// Replaces the first `count` items by a uniform random choice of all items, in random order
/// (Fisher and Yates).
void shuffle_front(Random& random, Tokens& items, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::swap(items[i], items[i + random.below(items.size() - i)]);
  }
}

Tokens generate_recall(Random& random, std::size_t pairs) {
  Tokens letters(kRecallKeys);
  for (std::size_t i = 0; i < kRecallKeys; ++i) {
    letters[i] = static_cast<std::int64_t>(i);
  }
  shuffle_front(random, letters, pairs);
  Tokens sequence;
  Tokens order;
  for (std::size_t i = 0; i < pairs; ++i) {
    sequence.push_back(letters[i]);
    sequence.push_back(static_cast<std::int64_t>(kRecallKeys) + draw_symbol(random, kRecallValues));
    order.push_back(static_cast<std::int64_t>(2 * i));
  }
  shuffle_front(random, order, pairs);
  for (const std::int64_t key : order) {
    sequence.push_back(sequence[static_cast<Position>(key)]);
    sequence.push_back(sequence[static_cast<Position>(key) + 1]);
  }
  return sequence;
}

Task recall_task(std::size_t pairs) {
  Task task;
  task.name = "recall";
  task.goal = "Read " + std::to_string(pairs) +
              " letters, each followed by its digit; then give the digit of each repeated letter.";
  task.labels = symbols('a', kRecallKeys);
  const std::vector<std::string> values = symbols('0', kRecallValues);
  task.labels.insert(task.labels.end(), values.begin(), values.end());
  task.spellings = task.labels;
  task.group = 2;
  task.prompt = 2 * pairs;
  for (Position i = 0; i < 4 * pairs; ++i) {
    task.is_answer.push_back(i >= 2 * pairs && i % 2 == 1);
  }
  task.patterns = {
      {"key to value",
       "A repeated letter attends to the digit that followed it in the question, and copies it.",
       [pairs](const Tokens& sequence) {
         std::vector<Link> links;
         for (Position query = 2 * pairs; query < 4 * pairs; query += 2) {
           const auto asked = std::find(sequence.begin(), sequence.end(), sequence[query]);
           links.push_back({query, static_cast<Position>(asked - sequence.begin()) + 1});
         }
         return links;
       }},
      {"digit to letter",
       "Each digit of the question attends to the letter just before it, and so gets to know its "
       "letter.",
       [pairs](const Tokens&) {
         std::vector<Link> links;
         for (Position value = 1; value < 2 * pairs; value += 2) {
           links.push_back({value, value - 1});
         }
         return links;
       }}};
  return with_held_out(std::move(task),
                       [pairs](Random& random) { return generate_recall(random, pairs); });
}

void check_length(std::string_view task, std::size_t length, std::size_t smallest,
                  std::size_t largest) {
  if (length < smallest || length > largest) {
    throw std::invalid_argument(std::string(task) + ": the length must be from " +
                                std::to_string(smallest) + " to " + std::to_string(largest) +
                                ", not " + std::to_string(length));
  }
}

}  // namespace

Task make_task(std::string_view name, std::size_t length) {
  if (name == "recall") {
    check_length(name, length, 2, kRecallKeys);
    return recall_task(length);
  }
  if (name == "add" || name == "add-reversed") {
    check_length(name, length, 1, 18);  // two numbers below 10^18 add up within 64 bits
    return add_task(length, name == "add-reversed");
  }
  check_length(name, length, 2, 1000);
  if (name == "reverse") {
    return reverse_task(length);
  }
  if (name == "copy") {
    return copy_task(length);
  }
  if (name == "sort") {
    return sort_task(length);
  }
  throw std::invalid_argument("unknown task \"" + std::string(name) + "\"");
}

}  // namespace train
