#include <tend/nn/text/vocabulary.h>

#include <algorithm>
#include <set>
#include <utility>

#include <tend/core/base/error.h>
#include <tend/core/base/function_ref.h>
#include <tend/nn/files/file_name.h>
#include <tend/nn/files/json.h>
#include <tend/nn/files/write_file.h>
#include <tend/nn/text/tokenizer_parts.h>
#include <tend/nn/text/utf8.h>

#include <nlohmann/json.hpp>

namespace tend::nn {
namespace {

constexpr std::string_view kUnknown = "<|unk|>";
constexpr std::string_view kSeparators = ",.:;?_!\"()'";
constexpr std::string_view kWithoutSpaceBefore = ",.:;?!\"()'";

using EachToken = FunctionRef<void(std::string_view token, std::size_t at)>;

void for_each_character(std::string_view operation, std::string_view text, EachToken each) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8::length_at(text.substr(at));
    if (length == 0) fail(operation, "byte ", at, " of the text is not UTF-8");
    each(text.substr(at, length), at);
    at += length;
  }
}

void for_each_word(std::string_view operation, std::string_view text, EachToken each) {
  std::size_t begin = 0;  // the start of the current word
  const auto end_word = [&](std::size_t at) {
    if (at > begin) each(text.substr(begin, at - begin), begin);
    begin = at;
  };
  for_each_character(operation, text, [&](std::string_view character, std::size_t at) {
    if (at < begin) return;  // the second dash of "--"
    if (utf8::is_space(utf8::code_point(character))) {
      end_word(at);
      begin = at + character.size();
      return;
    }
    const std::size_t separator = text.substr(at).starts_with("--")                       ? 2
                                  : kSeparators.find(character) != std::string_view::npos ? 1
                                                                                          : 0;
    if (separator == 0) return;
    end_word(at);
    end_word(at + separator);
  });
  end_word(text.size());
}

std::vector<std::string> sorted_tokens(const std::set<std::string_view>& tokens) {
  return {tokens.begin(), tokens.end()};
}

std::vector<std::string> load_tokens(const FileName& file) {
  return in_order_of_ids(file, read_vocabulary(file, json::read(file)));
}

}  // namespace

Vocabulary::Vocabulary(std::vector<std::string> tokens) : tokens_(std::move(tokens)) {
  for (const std::string& token : tokens_) ids_.emplace(token, std::ssize(ids_));
}

std::int64_t Vocabulary::vocab_size() const noexcept {
  return std::ssize(tokens_);
}

std::optional<std::int64_t> Vocabulary::token_id(std::string_view token) const {
  const auto found = ids_.find(std::string(token));
  if (found == ids_.end()) return {};
  return found->second;
}

const std::string& Vocabulary::token(std::int64_t id) const {
  return token_at("Vocabulary::token", id, 0);
}

const std::string& Vocabulary::token_at(std::string_view operation, std::int64_t id,
                                        std::size_t at) const {
  if (id < 0 || id >= vocab_size()) {
    fail<IndexError>(operation, "id ", id, " at position ", at,
                     " of the ids is not in the vocabulary of ", vocab_size(), " tokens");
  }
  return tokens_[static_cast<std::size_t>(id)];
}

void Vocabulary::save(const std::filesystem::path& path) const {
  write_file(path, vocabulary_json(tokens_).dump() + '\n', "Vocabulary::save");
}

CharVocabulary CharVocabulary::from_text(std::string_view text) {
  std::set<std::string_view> characters;
  for_each_character("CharVocabulary::from_text", text,
                     [&](std::string_view each, std::size_t) { characters.insert(each); });
  return CharVocabulary(sorted_tokens(characters));
}

CharVocabulary CharVocabulary::load(const std::filesystem::path& path) {
  const FileName file{"CharVocabulary::load", path};
  std::vector<std::string> tokens = load_tokens(file);
  for (const std::string& token : tokens) {
    if (token.empty() || utf8::length_at(token) != token.size())
      file.refuse("'", shown(token), "' is not a single character");
  }
  return CharVocabulary(std::move(tokens));
}

std::vector<std::int64_t> CharVocabulary::encode(std::string_view text) const {
  constexpr std::string_view kOperation = "CharVocabulary::encode";
  std::vector<std::int64_t> ids;
  for_each_character(kOperation, text, [&](std::string_view character, std::size_t at) {
    const auto id = token_id(character);
    if (!id) fail(kOperation, "'", character, "' at byte ", at, " is not in the vocabulary");
    ids.push_back(*id);
  });
  return ids;
}

std::string CharVocabulary::decode(const std::vector<std::int64_t>& ids) const {
  std::string text;
  for (std::size_t at = 0; at < ids.size(); ++at)
    text += token_at("CharVocabulary::decode", ids[at], at);
  return text;
}

WordVocabulary WordVocabulary::from_text(std::string_view text) {
  std::set<std::string_view> words;
  for_each_word("WordVocabulary::from_text", text,
                [&](std::string_view word, std::size_t) { words.insert(word); });
  for (const std::string_view last : {kEndOfText, kUnknown}) words.erase(last);
  std::vector<std::string> tokens = sorted_tokens(words);
  for (const std::string_view last : {kEndOfText, kUnknown}) tokens.emplace_back(last);
  return WordVocabulary(std::move(tokens));
}

WordVocabulary WordVocabulary::load(const std::filesystem::path& path) {
  const FileName file{"WordVocabulary::load", path};
  std::vector<std::string> tokens = load_tokens(file);
  if (std::find(tokens.begin(), tokens.end(), kUnknown) == tokens.end())
    file.refuse("has no '", kUnknown, "'");
  return WordVocabulary(std::move(tokens));
}

std::vector<std::int64_t> WordVocabulary::encode(std::string_view text) const {
  const std::int64_t unknown = token_id(kUnknown).value();
  std::vector<std::int64_t> ids;
  for_each_word("WordVocabulary::encode", text, [&](std::string_view word, std::size_t) {
    ids.push_back(token_id(word).value_or(unknown));
  });
  return ids;
}

std::string WordVocabulary::decode(const std::vector<std::int64_t>& ids) const {
  std::string text;
  for (std::size_t at = 0; at < ids.size(); ++at) {
    const std::string& word = token_at("WordVocabulary::decode", ids[at], at);
    const bool joins = word.size() == 1 && kWithoutSpaceBefore.find(word) != std::string_view::npos;
    if (at > 0 && !joins) text += ' ';
    text += word;
  }
  return text;
}

}  // namespace tend::nn
