#include <tend/nn/text/vocab_files.h>

#include <algorithm>
#include <string_view>

#include <tend/nn/files/file_name.h>
#include <tend/nn/files/json.h>
#include <tend/nn/files/write_file.h>

#include <nlohmann/json.hpp>

namespace tend::nn {
namespace {

constexpr std::string_view kLoad = "BytePairEncoding::load", kSave = "BytePairEncoding::save";
constexpr std::string_view kVersion = "#version";

std::vector<AddedToken> special_of(const FileName& file, const std::vector<std::string>& written,
                                   const std::vector<std::string>& special_tokens) {
  std::vector<AddedToken> special;
  const auto is_there = [&](std::string_view content) {
    return std::any_of(special.begin(), special.end(),
                       [&](const AddedToken& token) { return token.content == content; });
  };
  const auto add = [&](std::string_view content) {
    const auto found = std::find(written.begin(), written.end(), content);
    if (found == written.end() || content.empty()) return false;
    if (!is_there(content)) {
      special.push_back(
          {std::string(content), static_cast<TokenId>(found - written.begin()), true});
    }
    return true;
  };
  add(kEndOfText);
  for (const std::string& token : special_tokens) {
    if (!add(token)) file.refuse("has no special token '", shown(token), "'");
  }
  return special;
}

std::vector<Merge> read_merges(const FileName& file, const std::vector<std::string>& written) {
  const std::string text = read_text(file);
  MergeReader merges(file, written);
  std::size_t number = 1;
  for (std::size_t begin = 0; begin < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    if (line.empty() || (number == 1 && line.starts_with(kVersion))) continue;
    if (!merges.add(line))
      file.refuse("line ", number, ", '", shown(line), "', is not two tokens with a space between");
  }
  return merges.take();
}

}  // namespace

TokenizerParts read_vocab_files(const std::filesystem::path& vocab_json,
                                const std::filesystem::path& merges_txt,
                                const std::vector<std::string>& special_tokens) {
  const FileName vocabulary{kLoad, vocab_json}, merges{kLoad, merges_txt};
  const std::vector<std::string> written =
      in_order_of_ids(vocabulary, read_vocabulary(vocabulary, json::read(vocabulary)));
  TokenizerParts parts;
  parts.added = special_of(vocabulary, written, special_tokens);
  parts.tokens = bytes_of_tokens(vocabulary, written, parts.added);
  parts.merges = read_merges(merges, written);
  check_merges(vocabulary, parts);
  parts.patterns = {std::string(kGpt2Pattern)};
  return parts;
}

void write_vocab_files(const TokenizerParts& parts, const std::filesystem::path& vocab_json,
                       const std::filesystem::path& merges_txt) {
  const bool is_plain = std::all_of(parts.added.begin(), parts.added.end(),
                                    [](const AddedToken& token) { return token.is_special; }) &&
                        parts.patterns == std::vector<std::string>{std::string(kGpt2Pattern)} &&
                        !parts.add_prefix_space && !parts.ignore_merges;
  if (!is_plain) {
    fail(kSave,
         "vocab.json and merges.txt have no place for another pattern than GPT-2's, for "
         "add_prefix_space, ignore_merges and added tokens that are not special");
  }
  const std::vector<std::string> written = written_tokens(parts);
  std::string merges = "#version: 0.2\n";
  for (const Merge& merge : parts.merges)
    merges += written[merge.left] + ' ' + written[merge.right] + '\n';
  check_can_write(merges_txt);  // before the vocabulary that they belong to is there
  write_file(vocab_json, vocabulary_json(written), kSave);
  write_file(merges_txt, merges, kSave);
}

}  // namespace tend::nn
