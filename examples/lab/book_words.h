// The first tokenizer of the book's chapter 2. Each word is a token.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace book {

using Words = std::vector<std::string>;

/// The text as Python's repr shows it.
inline std::string quoted(const std::string& text) {
  const bool has_single = text.find('\'') != std::string::npos;
  const char quote = has_single && text.find('"') == std::string::npos ? '"' : '\'';
  std::string out(1, quote);
  for (const char c : text) out += c == quote ? std::string{'\\', c} : std::string{c};
  return out + quote;
}

inline bool is_punctuation(const std::string& word) {
  return word.size() == 1 && std::string_view(",.:;?_!\"()'").find(word) != std::string_view::npos;
}

/// The words, punctuation marks and double dashes of a text.
inline Words words_of(const std::string& text) {
  Words words{""};
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string letter = text.substr(i, text.compare(i, 2, "--") == 0 ? 2 : 1);
    if (letter == "--" || is_punctuation(letter)) {
      words.insert(words.end(), {letter, ""});
    } else if (std::isspace(static_cast<unsigned char>(text[i])) != 0) {
      words.emplace_back();
    } else {
      words.back() += letter;
    }
    i += letter.size() - 1;
  }
  std::erase(words, "");
  return words;
}

/// A tokenizer. The id of a word is its index in sorted order.
class WordTokenizer {
 public:
  explicit WordTokenizer(const Words& words) {
    const std::set<std::string> sorted(words.begin(), words.end());
    words_.assign(sorted.begin(), sorted.end());
  }
  void add(const Words& words) { words_.insert(words_.end(), words.begin(), words.end()); }

  std::int64_t size() const { return std::ssize(words_); }
  /// A part of the vocabulary, as Python prints its items.
  std::string items(std::int64_t first, std::int64_t end) const {
    std::string text;
    for (std::int64_t id = first; id < std::min(end, size()); ++id)
      text += (text.empty() ? "(" : "\n(") + quoted(words_[static_cast<std::size_t>(id)]) + ", " +
              std::to_string(id) + ')';
    return text;
  }
  /// Encodes a text. An unknown word gets the id of the last word, <|unk|>.
  std::vector<std::int64_t> encode(const std::string& text) const {
    std::vector<std::int64_t> ids;
    for (const std::string& word : words_of(text)) {
      const auto place = std::find(words_.begin(), words_.end() - 1, word);
      ids.push_back(place - words_.begin());
    }
    return ids;
  }
  std::string decode(const std::vector<std::int64_t>& ids) const {
    std::string text;
    for (const std::int64_t id : ids) {
      const std::string& word = words_[static_cast<std::size_t>(id)];
      text += (text.empty() || is_punctuation(word) ? "" : " ") + word;
    }
    return text;
  }

 private:
  Words words_;
};

}  // namespace book
