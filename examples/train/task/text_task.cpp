#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <system_error>

#include <tend/core/base/fnv.h>

#include "examples/train/task/tasks.h"

namespace train {

namespace {

/// The label of a byte. Spaces and line ends have visible symbols. Bytes that are not printable
/// ASCII are shown by their number.
std::string byte_label(unsigned char byte) {
  switch (byte) {
    case ' ': return "␣";
    case '\n': return "⏎";
    case '\t': return "⇥";
    default: break;
  }
  if (byte > 0x20 && byte < 0x7f) {
    return {static_cast<char>(byte)};
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  return {'x', kDigits[byte >> 4], kDigits[byte & 15]};
}

/// Numbers the bytes that occur in `text`, in ascending order. Returns the text as these numbers.
Tokens encode(std::string_view text, Task& task) {
  std::array<std::int64_t, 256> number{};
  for (const char c : text) {
    number[static_cast<unsigned char>(c)] = 1;
  }
  for (std::size_t byte = 0; byte < number.size(); ++byte) {
    if (number[byte] != 0) {
      number[byte] = static_cast<std::int64_t>(task.labels.size());
      task.labels.push_back(byte_label(static_cast<unsigned char>(byte)));
      task.spellings.emplace_back(1, static_cast<char>(byte));
    }
  }
  Tokens tokens;
  tokens.reserve(text.size());
  for (const char c : text) {
    tokens.push_back(number[static_cast<unsigned char>(c)]);
  }
  return tokens;
}

Tokens window(const Tokens& tokens, std::size_t begin, std::size_t count) {
  const auto first = tokens.begin() + static_cast<std::ptrdiff_t>(begin);
  return {first, first + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace

std::string read_text_file(const std::string& path) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 30;
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw std::runtime_error("cannot read " + path + ": " + std::generic_category().message(errno));
  std::string text;
  std::array<char, 1 << 16> part{};
  while (file.read(part.data(), part.size()), file.gcount() > 0) {
    text.append(part.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() > kMostBytes)
      throw std::runtime_error("cannot read " + path + ": it has more than 2^30 bytes");
  }
  if (file.bad()) throw std::runtime_error("cannot read " + path);
  return text;
}

Task make_text_task(std::string_view text, std::size_t context) {
  const std::size_t train_size = text.size() - text.size() / 10;
  const std::size_t length = context + 1;
  if (context < 2 || text.size() - train_size < length) {
    throw std::runtime_error(
        "a text of " + std::to_string(text.size()) + " bytes is too short for a context of " +
        std::to_string(context) +
        ": the last tenth is held out and must be longer than the context, which must be at least "
        "2");
  }
  Task task;
  task.name = "text";
  task.goal = "Read text, and predict each next byte.";
  tend::Fnv1a hash;
  hash.add(text);
  task.fingerprint = hash.value();
  task.prompt = context / 2;
  task.is_answer.assign(length, true);
  task.is_answer.front() = false;
  task.patterns = {{"previous token", "Each character attends to the previous character.",
                    [context](const Tokens&) {
                      std::vector<Link> links;
                      for (std::size_t query = 1; query < context; ++query) {
                        links.push_back({query, query - 1});
                      }
                      return links;
                    }}};
  const auto tokens = std::make_shared<const Tokens>(encode(text, task));
  task.draw = [tokens, train_size, length](Random& random) {
    return window(*tokens, static_cast<std::size_t>(random.below(train_size - length + 1)), length);
  };
  // Consecutive held-out sequences share one token.
  const std::size_t begin = train_size - 1;
  const std::size_t whole = (tokens->size() - train_size) / context;
  task.rest = window(*tokens, begin + whole * context, (tokens->size() - train_size) % context + 1);
  task.held_out = [tokens, begin, whole, context](Random&, std::size_t count) {
    std::vector<Tokens> sequences;
    for (std::size_t i = 0; i < std::min(whole, count); ++i) {
      sequences.push_back(window(*tokens, begin + i * context, context + 1));
    }
    return sequences;
  };
  return task;
}

}  // namespace train
