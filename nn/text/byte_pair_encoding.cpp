#include <tend/nn/text/byte_pair_encoding.h>

#include <algorithm>
#include <sstream>
#include <unordered_map>
#include <unordered_set>

#include <tend/core/base/error.h>
#include <tend/nn/files/file_name.h>
#include <tend/nn/files/json.h>
#include <tend/nn/files/write_file.h>
#include <tend/nn/text/added_tokens.h>
#include <tend/nn/text/byte_alphabet.h>
#include <tend/nn/text/byte_pair_training.h>
#include <tend/nn/text/merge_table.h>
#include <tend/nn/text/split_pattern.h>
#include <tend/nn/text/tokenizer_json.h>
#include <tend/nn/text/utf8.h>

#include <nlohmann/json.hpp>

namespace tend::nn {
namespace {

// --- GPT-2's vocab.json and merges.txt

constexpr std::string_view kLoad = "BytePairEncoding::load", kSave = "BytePairEncoding::save";

// The special tokens: <|endoftext|>, if the vocabulary has it, and the ones that the user names.
std::vector<AddedToken> special_of(const FileName& file, const std::vector<std::string>& written,
                                   const std::vector<std::string>& special_tokens) {
  std::vector<std::string> contents = special_tokens;
  if (std::find(written.begin(), written.end(), kEndOfText) != written.end())
    contents.insert(contents.begin(), std::string(kEndOfText));
  std::vector<AddedToken> special;
  for (const std::string& content : contents) {
    const auto found = std::find(written.begin(), written.end(), content);
    if (found == written.end() || content.empty())
      file.refuse("has no special token '", shown(content), "'");
    const auto is_same = [&](const AddedToken& token) { return token.content == content; };
    if (std::none_of(special.begin(), special.end(), is_same))
      special.push_back({content, static_cast<TokenId>(found - written.begin()), true});
  }
  return special;
}

void read_merges(const FileName& file, const std::vector<std::string>& written,
                 TokenizerParts& parts) {
  std::istringstream text(read_text(file));
  MergeReader merges(file, written, parts);
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    if (line.empty() || (number == 1 && line.starts_with("#version"))) continue;
    if (!merges.add(line))
      file.refuse("line ", number, ", '", shown(line), "', is not two tokens with a space between");
  }
}

TokenizerParts read_vocab_files(const std::filesystem::path& vocab_json,
                                const std::filesystem::path& merges_txt,
                                const std::vector<std::string>& special_tokens) {
  const FileName vocabulary{kLoad, vocab_json};
  const std::vector<std::string> written =
      in_order_of_ids(vocabulary, read_vocabulary(vocabulary, json::read(vocabulary)));
  TokenizerParts parts;
  parts.added = special_of(vocabulary, written, special_tokens);
  parts.tokens = bytes_of_tokens(vocabulary, written, parts.added);
  read_merges({kLoad, merges_txt}, written, parts);
  parts.splits = {{std::string(kGpt2Pattern)}};
  return parts;
}

void write_vocab_files(const TokenizerParts& parts, const std::filesystem::path& vocab_json,
                       const std::filesystem::path& merges_txt) {
  const bool is_plain = std::all_of(parts.added.begin(), parts.added.end(),
                                    [](const AddedToken& token) { return token.is_special; }) &&
                        parts.splits == std::vector<Split>{{std::string(kGpt2Pattern)}} &&
                        !parts.add_prefix_space && !parts.ignore_merges;
  if (!is_plain) {
    fail(kSave,
         "vocab.json and merges.txt can only express GPT-2's pattern, without add_prefix_space, "
         "ignore_merges and added tokens that are not special");
  }
  const std::vector<std::string> written = written_tokens(parts);
  std::string merges = "#version: 0.2\n";
  for (const Merge& merge : parts.merges)
    merges += written[merge.left] + ' ' + written[merge.right] + '\n';
  check_can_write(merges_txt);  // first, since a vocabulary without merges would be useless
  write_file(vocab_json, vocabulary_json(written).dump(), kSave);
  write_file(merges_txt, merges, kSave);
}

// --- training

constexpr std::string_view kTrain = "BytePairEncoding::train";

void check_training(const BytePairTraining& options) {
  const auto special = std::ssize(options.special_tokens);
  if (options.vocab_size < 256 + special || options.vocab_size > 0x7FFFFFFF) {
    fail(kTrain, "vocab_size must be from ", 256 + special, " (256 bytes and ", special,
         " special tokens) to 2^31 - 1, got ", options.vocab_size);
  }
  if (options.min_frequency < 1)
    fail(kTrain, "min_frequency must be at least 1, got ", options.min_frequency);
  for (auto token = options.special_tokens.begin(); token != options.special_tokens.end();
       ++token) {
    if (token->empty()) fail(kTrain, "a special token is empty");
    if (utf8::valid_prefix(*token) != token->size()) fail(kTrain, "a special token is not UTF-8");
    if (std::find(options.special_tokens.begin(), token, *token) != token)
      fail(kTrain, "the special token '", shown(*token), "' is there twice");
  }
}

std::vector<CountedPiece> count_pieces(std::string_view text, const AddedTokens& special) {
  std::vector<CountedPiece> pieces;
  std::unordered_map<std::string_view, std::size_t> places;
  const SplitPattern pattern(kGpt2Pattern);
  const auto count = [&](std::string_view piece) {
    const auto [place, is_new] = places.emplace(piece, pieces.size());
    if (is_new) pieces.push_back({piece, 0});
    ++pieces[place->second].count;
  };
  special.cut(
      text,
      [&](std::string_view section) {
        pattern.split(section, [&](std::string_view piece, bool) { count(piece); });
      },
      [](TokenId) {});
  return pieces;
}

TokenizerParts learn(std::string_view text, const BytePairTraining& options) {
  check_training(options);
  TokenizerParts parts;
  parts.splits = {{std::string(kGpt2Pattern)}};
  for (const unsigned char byte : bytes_in_order())
    parts.tokens.emplace_back(1, static_cast<char>(byte));
  for (const std::string& token : options.special_tokens) parts.added.push_back({token, 0, true});
  const std::vector<CountedPiece> pieces = count_pieces(text, AddedTokens(parts.added, true));
  learn_merges(parts, pieces, options.vocab_size - std::ssize(parts.added), options.min_frequency);
  std::unordered_set<std::string> written;
  for (const std::string& token : parts.tokens) written.insert(printable(token));
  for (AddedToken& token : parts.added) {
    if (written.contains(token.content))
      fail(kTrain, "the special token '", shown(token.content), "' is also an ordinary token");
    token.id = static_cast<TokenId>(parts.tokens.size());
    parts.tokens.push_back(token.content);
  }
  return parts;
}

}  // namespace

// The parts of a tokenizer, and tables made from them for fast encoding.
class BytePairEncoding::Impl {
 public:
  explicit Impl(TokenizerParts parts)
      : parts_(std::move(parts)),
        added_(parts_.added, false),
        added_and_special_(parts_.added, true),
        merges_(parts_) {
    for (const Split& split : parts_.splits) patterns_.emplace_back(split.pattern);
    for (const AddedToken& token : parts_.added) ids_.emplace(token.content, token.id);
    for (std::size_t id = 0; id < parts_.tokens.size(); ++id)
      ids_.emplace(parts_.tokens[id], static_cast<TokenId>(id));
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() = default;

  const TokenizerParts& parts() const noexcept { return parts_; }

  std::vector<std::int64_t> encode(std::string_view text, bool allow_special) const {
    std::vector<std::int64_t> ids;
    ids.reserve(text.size() / 3);
    (allow_special ? added_and_special_ : added_)
        .cut(
            text, [&](std::string_view section) { encode_section(section, ids); },
            [&](TokenId id) { ids.push_back(id); });
    return ids;
  }

  std::optional<std::int64_t> id_of(std::string_view bytes) const {
    const auto found = ids_.find(bytes);
    if (found == ids_.end()) return {};
    return found->second;
  }

  // The bytes of an id. Throws an IndexError, which names the position `at`, if the id does not
  // exist.
  const std::string& token(std::string_view operation, std::int64_t id, std::size_t at) const {
    if (id < 0 || id >= std::ssize(parts_.tokens)) {
      fail<IndexError>(operation, "id ", id, " at position ", at,
                       " of the ids is not in the vocabulary of ", parts_.tokens.size(), " tokens");
    }
    return parts_.tokens[static_cast<std::size_t>(id)];
  }

 private:
  void encode_section(std::string_view section, std::vector<std::int64_t>& ids) const {
    if (parts_.add_prefix_space && !section.starts_with(' ')) {
      const std::string prefixed = ' ' + std::string(section);
      encode_pieces(prefixed, 0, ids);
    } else {
      encode_pieces(section, 0, ids);
    }
  }

  // Splits the text by pattern `step` and all later patterns.
  void encode_pieces(std::string_view text, std::size_t step,
                     std::vector<std::int64_t>& ids) const {
    if (step == patterns_.size()) return merges_.encode(text, ids);
    const Split& split = parts_.splits[step];
    patterns_[step].split(text, [&](std::string_view piece, bool is_match) {
      if (is_match ? split.keeps_matches : split.keeps_rest) encode_pieces(piece, step + 1, ids);
    });
  }

  const TokenizerParts parts_;
  const AddedTokens added_, added_and_special_;
  std::vector<SplitPattern> patterns_;
  const MergeTable merges_;
  std::unordered_map<std::string_view, TokenId> ids_;  // by the tokens' bytes
};

BytePairEncoding BytePairEncoding::load(const std::filesystem::path& vocab_json,
                                        const std::filesystem::path& merges_txt,
                                        const std::vector<std::string>& special_tokens) {
  return BytePairEncoding(
      std::make_shared<Impl>(read_vocab_files(vocab_json, merges_txt, special_tokens)));
}

BytePairEncoding BytePairEncoding::load_tokenizer_json(const std::filesystem::path& path,
                                                       const TokenizerJsonOptions& options) {
  return BytePairEncoding(
      std::make_shared<Impl>(read_tokenizer_json(path, options.ignore_normalizer)));
}

BytePairEncoding BytePairEncoding::train(std::string_view text, const BytePairTraining& options) {
  return BytePairEncoding(std::make_shared<Impl>(learn(text, options)));
}

std::vector<std::int64_t> BytePairEncoding::encode(std::string_view text,
                                                   const EncodeOptions& options) const {
  return impl_->encode(text, options.allow_special);
}

std::string BytePairEncoding::decode(const std::vector<std::int64_t>& ids) const {
  std::string text;
  for (std::size_t at = 0; at < ids.size(); ++at)
    text += impl_->token("BytePairEncoding::decode", ids[at], at);
  return text;
}

std::int64_t BytePairEncoding::vocab_size() const noexcept {
  return std::ssize(impl_->parts().tokens);
}

std::optional<std::int64_t> BytePairEncoding::token_id(std::string_view bytes) const {
  return impl_->id_of(bytes);
}

const std::string& BytePairEncoding::token_bytes(std::int64_t id) const {
  return impl_->token("BytePairEncoding::token_bytes", id, 0);
}

void BytePairEncoding::save(const std::filesystem::path& vocab_json,
                            const std::filesystem::path& merges_txt) const {
  write_vocab_files(impl_->parts(), vocab_json, merges_txt);
}

void BytePairEncoding::save_tokenizer_json(const std::filesystem::path& path) const {
  write_tokenizer_json(impl_->parts(), path);
}

}  // namespace tend::nn
