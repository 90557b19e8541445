#include "examples/train/task/tasks.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "examples/train/run/held_out.h"
#include "examples/train/run/options.h"
#include "tests/catch.h"

using namespace train;

namespace {

std::vector<Tokens> draw_many(const Task& task, std::uint64_t seed, std::size_t count) {
  Random random(seed, 0);
  std::vector<Tokens> sequences;
  for (std::size_t i = 0; i < count; ++i) {
    sequences.push_back(task.draw(random));
  }
  return sequences;
}

Task default_task(const std::string& name) {
  return make_task(name, default_options(name).length);
}

std::string some_text(std::size_t size) {
  std::string text;
  Random random(9, 9);
  while (text.size() < size) {
    text += static_cast<char>(random.below(256));
  }
  return text;
}

Tokens part(const Tokens& tokens, std::size_t begin, std::size_t end) {
  return {tokens.begin() + static_cast<std::ptrdiff_t>(begin),
          tokens.begin() + static_cast<std::ptrdiff_t>(end)};
}

std::uint64_t as_number(const Tokens& digits) {
  std::uint64_t number = 0;
  for (const std::int64_t digit : digits) number = number * 10 + static_cast<std::uint64_t>(digit);
  return number;
}

}  // namespace

TEST_CASE("a seed and a step determine a training batch") {
  const std::string name = GENERATE(from_range(task_names()));
  CAPTURE(name);
  const Task task = default_task(name);
  const Batch batch = training_batch(task, 5, 17, 4);
  CHECK(batch.inputs == training_batch(task, 5, 17, 4).inputs);
  CHECK(batch.inputs != training_batch(task, 5, 18, 4).inputs);
  CHECK(batch.inputs != training_batch(task, 6, 17, 4).inputs);
}

TEST_CASE("held-out sequences are never drawn for training") {
  const std::string name = GENERATE(from_range(task_names()));
  CAPTURE(name);
  const Task task = default_task(name);
  Random random(0, 0);
  for (const Tokens& sequence : task.held_out(random, 300)) {
    CHECK(is_held_out(question_of(sequence, task.is_answer)));
  }
  for (const Tokens& sequence : draw_many(task, 1, 3000)) {
    CHECK_FALSE(is_held_out(question_of(sequence, task.is_answer)));
  }
}

TEST_CASE("the check consists of held-out sequences that are not in the examination") {
  const std::string name = GENERATE(from_range(task_names()));
  CAPTURE(name);
  const Task task = default_task(name);
  const std::vector<Tokens> examination = examination_sequences(task);
  const std::vector<Tokens> check = check_sequences(task);
  CHECK(examination.size() == 1000);
  CHECK(check.size() == 2000);
  const std::set<Tokens> examined(examination.begin(), examination.end());
  for (const Tokens& sequence : check) {
    CHECK(is_held_out(question_of(sequence, task.is_answer)));
    CHECK_FALSE(examined.contains(sequence));
  }
  CHECK(check_sequences(make_task("add", 1)).empty());  // the examination uses every sequence
}

TEST_CASE("reverse answers with the digits backwards") {
  const Task task = make_task("reverse", 10);
  CHECK(task.context() == 20);
  for (const Tokens& s : draw_many(task, 2, 50)) {
    Tokens question = part(s, 0, 10);
    std::reverse(question.begin(), question.end());
    CHECK(part(s, 11, 21) == question);
    CHECK(task.labels.at(static_cast<std::size_t>(s[10])) == "→");
  }
}

TEST_CASE("sort answers with the digits in ascending order") {
  const Task task = make_task("sort", 10);
  for (const Tokens& s : draw_many(task, 2, 50)) {
    Tokens question = part(s, 0, 10);
    const Tokens answer = part(s, 11, 21);
    CHECK(std::is_sorted(answer.begin(), answer.end()));
    CHECK(std::is_permutation(answer.begin(), answer.end(), question.begin(), question.end()));
  }
}

TEST_CASE("add answers with the sum, in plain or reversed digits") {
  const bool reversed = GENERATE(false, true);
  const Task task = make_task(reversed ? "add-reversed" : "add", 3);
  CHECK(task.context() == 11);
  for (const Tokens& s : draw_many(task, 2, 50)) {
    Tokens sum = part(s, 8, 12);
    if (reversed) std::reverse(sum.begin(), sum.end());
    CHECK(as_number(sum) == as_number(part(s, 0, 3)) + as_number(part(s, 4, 7)));
    CHECK(spell(task, s, 3, 4) + spell(task, s, 7, 8) == "+=");
  }
}

TEST_CASE("recall asks once for each letter and answers with its digit") {
  const Task task = make_task("recall", 8);
  CHECK(task.context() == 31);
  for (const Tokens& s : draw_many(task, 2, 50)) {
    std::set<std::pair<std::int64_t, std::int64_t>> told;
    std::set<std::pair<std::int64_t, std::int64_t>> asked;
    std::set<std::int64_t> letters;
    for (std::size_t i = 0; i < 16; i += 2) {
      told.insert({s[i], s[i + 1]});
      asked.insert({s[16 + i], s[17 + i]});
      letters.insert(s[i]);
    }
    CHECK(told == asked);
    CHECK(letters.size() == 8);
  }
}

TEST_CASE("only answers contribute to the loss and each position predicts the next token") {
  const std::string name = GENERATE(from_range(task_names()));
  CAPTURE(name);
  const Task task = default_task(name);
  const std::vector<Tokens> sequences = draw_many(task, 3, 2);
  const Batch batch = make_batch(task, sequences);
  REQUIRE(batch.size == 2);
  REQUIRE(batch.length == task.context());
  REQUIRE(batch.inputs.size() == 2 * batch.length);
  std::size_t asked = 0;
  for (std::size_t row = 0; row < 2; ++row) {
    for (std::size_t i = 0; i < batch.length; ++i) {
      CHECK(batch.inputs[row * batch.length + i] == sequences[row][i]);
      const std::int64_t target = batch.targets[row * batch.length + i];
      CHECK(target == (task.is_answer[i + 1] ? sequences[row][i + 1] : kNoTarget));
      asked += target == kNoTarget ? 0 : 1;
    }
  }
  const std::size_t length = default_options(name).length;
  CHECK(asked == 2 * (name.starts_with("add") ? length + 1 : length));
}

TEST_CASE("the links of a pattern lead back to tokens with the answer") {
  const std::string name = GENERATE("reverse", "copy", "sort", "recall");
  CAPTURE(name);
  const Task task = default_task(name);
  for (const Tokens& s : draw_many(task, 4, 20)) {
    const std::vector<Link> links = task.patterns.front().links(s);
    CHECK(links.size() >= default_options(name).length);
    for (const Link& link : links) {
      CHECK(link.key < link.query);
      CHECK(s.at(link.key) == s.at(link.query + 1));
    }
  }
}

TEST_CASE("lengths that a task cannot have are refused") {
  using Catch::Matchers::ContainsSubstring;
  CHECK_THROWS_WITH(make_task("recall", 17), ContainsSubstring("from 2 to 16, not 17"));
  CHECK_THROWS_WITH(make_task("add", 19), ContainsSubstring("from 1 to 18, not 19"));
  CHECK_THROWS_WITH(make_task("reverse", 0), ContainsSubstring("not 0"));
  CHECK_THROWS_WITH(make_task("juggle", 5), ContainsSubstring("unknown task \"juggle\""));
  CHECK_THROWS_AS(default_options("juggle"), std::invalid_argument);
}

TEST_CASE("text keeps its last tenth for validation") {
  std::string text(900, 'a');
  text += std::string(50, 'b') + std::string(50, 'c');
  const Task task = make_text_task(text, 9);
  CHECK(task.labels == std::vector<std::string>{"a", "b", "c"});
  for (const Tokens& s : draw_many(task, 0, 2000)) {
    CHECK(std::count(s.begin(), s.end(), 0) == 10);
  }
  Random random(0, 0);
  const std::vector<Tokens> held_out = task.held_out(random, 1000);
  REQUIRE(held_out.size() == 11);  // each sequence predicts 9 of the last 100 bytes
  Tokens predicted;
  for (const Tokens& s : held_out) predicted.insert(predicted.end(), s.begin() + 1, s.end());
  CHECK(held_out.front().front() == 0);
  CHECK(task.rest.size() == 2);
  predicted.push_back(task.rest.back());
  Tokens last(50, 1);
  last.resize(100, 2);
  CHECK(predicted == last);
  CHECK(task.held_out(random, 3).size() == 3);
}

TEST_CASE("general patterns link the tokens that their names describe") {
  const Tokens sequence{7, 8, 7, 7, 9};  // the last token is only predicted
  std::map<std::string, std::vector<std::pair<std::size_t, std::size_t>>> links;
  for (const Pattern& pattern : general_patterns()) {
    for (const Link& link : pattern.links(sequence))
      links[pattern.name].emplace_back(link.query, link.key);
  }
  using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;
  CHECK(links.at("previous token") == Pairs{{1, 0}, {2, 1}, {3, 2}});
  CHECK(links.at("first token") == Pairs{{1, 0}, {2, 0}, {3, 0}});
  CHECK(links.at("same token") == Pairs{{2, 0}, {3, 0}, {3, 2}});
  CHECK(links.at("induction") == Pairs{{2, 1}, {3, 1}, {3, 3}});
  CHECK(all_patterns(make_text_task(some_text(500), 4)).size() == 4);
  CHECK(all_patterns(default_task("recall")).size() == 6);
}

TEST_CASE("text that is too short for its context is refused") {
  CHECK_THROWS_AS(make_text_task("", 4), std::runtime_error);
  CHECK_THROWS_AS(make_text_task(some_text(49), 4), std::runtime_error);
  CHECK_NOTHROW(make_text_task(some_text(50), 4));
}

TEST_CASE("the rate warms up, peaks and ends at a fiftieth of its peak") {
  Options options = default_options("reverse");
  options.rate = 1.0;
  options.warmup = 10;
  options.steps = 110;
  CHECK(rate_at(options, 0) == Approx(0.1));
  CHECK(rate_at(options, 9) == Approx(1.0));
  CHECK(rate_at(options, 10) == Approx(1.0));
  CHECK(rate_at(options, 60) == Approx(0.51));
  CHECK(rate_at(options, 110) == Approx(0.02));
  options.warmup = 0;
  CHECK(rate_at(options, 0) == Approx(1.0));
  options.warmup = 1000;
  CHECK(rate_at(options, 109) == Approx(0.11));
}
