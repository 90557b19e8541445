#include <tend/nn/text/tokenizer_parts.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include <tend/nn/text/byte_alphabet.h>

#include <nlohmann/json.hpp>

namespace tend::nn {

std::vector<std::string> in_order_of_ids(const FileName& file, std::vector<WrittenToken> tokens) {
  if (tokens.size() > std::numeric_limits<TokenId>::max()) file.refuse("has too many tokens");
  std::vector<std::string> texts(tokens.size());
  std::vector<bool> is_there(tokens.size());
  for (WrittenToken& token : tokens) {
    const auto index = static_cast<std::size_t>(token.id);
    if (token.id < 0 || index >= tokens.size()) {
      file.refuse("the id of '", shown(token.text), "' is ", token.id, ", not one of 0 to ",
                  tokens.size() - 1);
    }
    if (is_there[index]) {
      file.refuse("'", shown(texts[index]), "' and '", shown(token.text), "' have the same id, ",
                  token.id);
    }
    is_there[index] = true;
    texts[index] = std::move(token.text);
  }
  return texts;
}

std::vector<WrittenToken> read_vocabulary(const FileName& file, const json::Value& vocabulary) {
  if (!vocabulary.is_object()) file.refuse("the vocabulary is not an object");
  std::vector<WrittenToken> tokens;
  tokens.reserve(vocabulary.size());
  for (const auto& [text, value] : vocabulary.items()) {
    const auto* id = value.get_ptr<const std::int64_t*>();
    if (id == nullptr) file.refuse("the id of '", shown(text), "' is not an integer");
    tokens.push_back({text, *id});
  }
  return tokens;
}

nlohmann::ordered_json vocabulary_json(const std::vector<std::string>& texts) {
  nlohmann::ordered_json vocabulary = nlohmann::ordered_json::object();
  // operator[] would search for each name, in quadratic time.
  auto& members = vocabulary.get_ref<nlohmann::ordered_json::object_t&>();
  for (std::size_t id = 0; id < texts.size(); ++id) members.push_back({texts[id], id});
  return vocabulary;
}

std::vector<std::string> bytes_of_tokens(const FileName& file,
                                         const std::vector<std::string>& written,
                                         const std::vector<AddedToken>& added) {
  std::vector<std::string> tokens(written.size());
  for (const AddedToken& token : added) tokens[token.id] = token.content;
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    if (tokens[id].empty()) {
      std::optional<std::string> bytes = bytes_of_printable(written[id]);
      if (!bytes || bytes->empty()) {
        file.refuse("token ", id, ", '", shown(written[id]),
                    "', is not written in the characters of a byte-level vocabulary");
      }
      tokens[id] = std::move(*bytes);
    }
  }
  return tokens;
}

std::vector<std::string> written_tokens(const TokenizerParts& parts) {
  std::vector<std::string> written(parts.tokens.size());
  std::transform(parts.tokens.begin(), parts.tokens.end(), written.begin(), printable);
  for (const AddedToken& token : parts.added) written[token.id] = token.content;
  return written;
}

MergeReader::MergeReader(const FileName& file, const std::vector<std::string>& written,
                         TokenizerParts& parts)
    : file_(file), parts_(parts) {
  ids_.reserve(written.size());
  for (std::size_t id = 0; id < written.size(); ++id)
    ids_.emplace(written[id], static_cast<TokenId>(id));
}

TokenId MergeReader::id_of(std::string_view written) const {
  const auto found = ids_.find(written);
  if (found == ids_.end()) {
    file_.refuse("merge ", parts_.merges.size() + 1, ": '", shown(written),
                 "' is not in the vocabulary");
  }
  return found->second;
}

void MergeReader::add(std::string_view left, std::string_view right) {
  const Merge merge{id_of(left), id_of(right), id_of(std::string(left) + std::string(right))};
  const auto& tokens = parts_.tokens;
  if (tokens[merge.merged] != tokens[merge.left] + tokens[merge.right]) {
    file_.refuse("the bytes of '", shown(tokens[merge.merged]),
                 "' are not the bytes of its two parts, since one of the three is an added token");
  }
  parts_.merges.push_back(merge);
}

bool MergeReader::add(std::string_view both) {
  const std::size_t space = both.find(' ');
  if (space == std::string_view::npos || both.find(' ', space + 1) != std::string_view::npos)
    return false;
  add(both.substr(0, space), both.substr(space + 1));
  return true;
}

}  // namespace tend::nn
