#include "examples/train/task/tasks.h"

#include <algorithm>
#include <stdexcept>

namespace train {

bool is_held_out(std::span<const std::int64_t> question) {
  std::uint64_t hash = 0;
  for (const std::int64_t token : question) {
    // The odd multiplier carries every bit upwards, and the shift brings the high bits back down.
    // Adding 1 makes a leading 0 count.
    hash = (hash ^ (static_cast<std::uint64_t>(token) + 1)) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 32;
  }
  return hash % 32 == 0;
}

Tokens question_of(const Tokens& sequence, const std::vector<bool>& is_answer) {
  Tokens question;
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    if (!is_answer[i]) {
      question.push_back(sequence[i]);
    }
  }
  return question;
}

std::string spell(const Task& task, const Tokens& sequence, std::size_t begin, std::size_t end) {
  std::string text;
  for (std::size_t i = begin; i < end; ++i) {
    text += task.spellings[static_cast<std::size_t>(sequence[i])];
    if (task.group != 0 && (i + 1) % task.group == 0 && i + 1 < end) {
      text += ' ';
    }
  }
  return text;
}

Tokens encode(const Task& task, std::string_view text) {
  Tokens tokens;
  for (const char c : text) {
    const auto found =
        std::find(task.spellings.begin(), task.spellings.end(), std::string_view(&c, 1));
    if (found == task.spellings.end()) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(c);
      throw std::invalid_argument(std::string("the model does not know the byte 0x") +
                                  kDigits[byte >> 4] + kDigits[byte & 15] +
                                  (byte > 0x20 && byte < 0x7f ? std::string(", ") + c : ""));
    }
    tokens.push_back(found - task.spellings.begin());
  }
  return tokens;
}

Batch make_batch(const Task& task, std::span<const Tokens> sequences) {
  Batch batch{sequences.size(), sequences.front().size() - 1, {}, {}};
  batch.inputs.reserve(batch.size * batch.length);
  batch.targets.reserve(batch.size * batch.length);
  for (const Tokens& sequence : sequences) {
    for (std::size_t i = 0; i < batch.length; ++i) {
      batch.inputs.push_back(sequence[i]);
      batch.targets.push_back(task.is_answer[i + 1] ? sequence[i + 1] : kNoTarget);
    }
  }
  return batch;
}

Batch training_batch(const Task& task, std::uint64_t seed, std::uint64_t step, std::size_t size) {
  Random random(seed, step);
  std::vector<Tokens> sequences;
  sequences.reserve(size);
  for (std::size_t i = 0; i < size; ++i) {
    sequences.push_back(task.draw(random));
  }
  return make_batch(task, sequences);
}

}  // namespace train
