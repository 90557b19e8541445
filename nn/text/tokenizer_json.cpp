#include <tend/nn/text/tokenizer_json.h>

#include <algorithm>
#include <bitset>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <tend/nn/files/file_name.h>
#include <tend/nn/files/json.h>
#include <tend/nn/files/write_file.h>
#include <tend/nn/text/split_pattern.h>

#include <nlohmann/json.hpp>

namespace tend::nn {
namespace {

// Encoding recurses once for each step, so their number has a limit.
constexpr std::size_t kMaxSteps = 64;

using json::Value;

// A part of the file, with its name for messages: "model.vocab".
class Part {
 public:
  Part(const FileName& file, const Value* value, std::string name)
      : file_(file), value_(value), name_(std::move(name)) {}

  bool is_absent() const { return value_ == nullptr || value_->is_null(); }
  Part operator[](std::string_view member) const {
    return {file_, is_absent() ? nullptr : json::find(*value_, member),
            name_.empty() ? std::string(member) : name_ + '.' + std::string(member)};
  }
  Part operator[](std::size_t index) const {
    return {file_, &list()[index], as_text(name_, '[', index, ']')};
  }

  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    file_.refuse(name_.empty() ? "the file" : name_, parts...);
  }

  template <class T>
  const T& as(std::string_view kind) const {
    const T* value = this->value().template get_ptr<const T*>();
    if (value == nullptr) refuse(" is not ", kind);
    return *value;
  }
  const std::string& text() const { return as<std::string>("a string"); }
  const Value::array_t& list() const { return as<Value::array_t>("an array"); }
  std::int64_t integer() const { return as<std::int64_t>("an integer"); }
  bool flag(std::optional<bool> otherwise = {}) const {
    return otherwise && is_absent() ? *otherwise : as<bool>("a boolean");
  }
  const Value& value() const {
    if (value_ == nullptr) refuse(" is missing");
    return *value_;
  }
  /// Refuses an object with any other member, since the member may have a meaning that is not known
  /// here.
  void check_members(std::initializer_list<std::string_view> known) const {
    for (const auto& [member, value] : as<Value::object_t>("an object")) {
      if (std::find(known.begin(), known.end(), member) == known.end())
        refuse(" has the member '", shown(member), "', which is not supported");
    }
  }
  /// Refuses a part unless it is absent or turned off.
  void check_off() const {
    if (is_absent()) return;
    const bool is_off = *value_ == false || *value_ == 0 || *value_ == "";
    if (!is_off) refuse(" is not supported");
  }

 private:
  const FileName& file_;
  const Value* value_;
  std::string name_;
};

void read_byte_level(const Part& part, TokenizerParts& parts) {
  part.check_members({"type", "add_prefix_space", "trim_offsets", "use_regex"});
  parts.add_prefix_space = part["add_prefix_space"].flag();
  if (parts.add_prefix_space && !parts.splits.empty())
    part["add_prefix_space"].refuse(" is not supported after a Split");
  if (part["use_regex"].flag(true)) parts.splits.push_back({std::string(kGpt2Pattern)});
}

// Returns a pattern that matches only this text.
std::string literal(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    const bool is_special =
        std::string_view(R"(\^$.|?*+()[]{}&-#)").find(c) != std::string_view::npos;
    if (is_special) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

std::string read_pattern(const Part& part) {
  part.check_members({"Regex", "String"});
  if (!part["String"].is_absent()) return literal(part["String"].text());
  const Part regex = part["Regex"];
  try {
    const SplitPattern compiled(regex.text());
  } catch (const Error& error) {
    regex.refuse(": ", error.what());
  }
  return regex.text();
}

void read_split(const Part& part, TokenizerParts& parts) {
  part.check_members({"type", "pattern", "behavior", "invert"});
  const std::string& behavior = part["behavior"].text();
  const bool is_inverted = part["invert"].flag(false);
  if (behavior != "Isolated" && behavior != "Removed")
    part["behavior"].refuse(" must be Isolated or Removed, but is ", shown(behavior));
  const bool is_isolated = behavior == "Isolated";
  parts.splits.push_back(
      {read_pattern(part["pattern"]), is_isolated || is_inverted, is_isolated || !is_inverted});
}

void read_digits(const Part& part, TokenizerParts& parts) {
  part.check_members({"type", "individual_digits"});
  parts.splits.push_back({part["individual_digits"].flag(false) ? "\\p{N}" : "\\p{N}+"});
}

// Adds a part to `steps`. For a Sequence, adds its parts instead, also those of nested Sequences.
void flatten(const Part& part, std::string_view members, std::vector<Part>& steps) {
  if (part["type"].text() != "Sequence") return steps.push_back(part);
  part.check_members({"type", members});
  const Part list = part[members];
  for (std::size_t i = 0; i < list.list().size(); ++i) flatten(list[i], members, steps);
}

// Reads Splits and Digits, and at the end ByteLevel.
void read_pre_tokenizer(const Part& part, TokenizerParts& parts) {
  std::vector<Part> steps;
  flatten(part, "pretokenizers", steps);
  if (steps.size() > kMaxSteps) part.refuse(" has ", steps.size(), " steps, above ", kMaxSteps);
  if (steps.empty() || steps.back()["type"].text() != "ByteLevel")
    part.refuse(" does not end with ByteLevel");
  const Part last = steps.back();
  steps.pop_back();
  for (const Part& step : steps) {
    const std::string& type = step["type"].text();
    if (type == "Split") {
      read_split(step, parts);
    } else if (type == "Digits") {
      read_digits(step, parts);
    } else {
      step["type"].refuse(" must be Split or Digits before ByteLevel, but is ", shown(type));
    }
  }
  read_byte_level(last, parts);
}

// Refuses a decoder other than ByteLevel, which may be in a Sequence.
void check_decoder(const Part& part) {
  if (part.is_absent()) return;
  std::vector<Part> steps;
  flatten(part, "decoders", steps);
  for (const Part& step : steps)
    if (step["type"].text() != "ByteLevel") step["type"].refuse(" is not ByteLevel");
}

// True for a normalizer that changes no text: it is absent, or an empty Sequence.
bool is_absent_normalizer(const Part& part) {
  if (part.is_absent()) return true;
  std::vector<Part> steps;
  flatten(part, "normalizers", steps);
  return steps.empty();
}

// Reads the added tokens. As in Hugging Face's tokenizers, a token that the vocabulary lacks gets
// the next id, whatever id the file states.
std::vector<AddedToken> read_added(const Part& part, std::vector<WrittenToken>& vocabulary) {
  std::vector<AddedToken> added;
  if (part.is_absent()) return added;
  std::unordered_set<std::string_view> contents;
  std::unordered_map<std::string, std::int64_t> ids;
  for (const WrittenToken& token : vocabulary) ids.emplace(token.text, token.id);
  for (std::size_t i = 0; i < part.list().size(); ++i) {
    const Part token = part[i];
    token.check_members(
        {"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"});
    for (const std::string_view name : {"single_word", "lstrip", "rstrip"}) token[name].check_off();
    const std::string& content = token["content"].text();
    const std::int64_t id = token["id"].integer();
    if (content.empty()) token["content"].refuse(" is empty");
    const auto [place, is_new] = ids.emplace(content, std::ssize(vocabulary));
    if (is_new) vocabulary.push_back({content, place->second});
    if (!is_new && place->second != id)
      token["id"].refuse(" is ", id, ", but '", shown(content), "' has the id ", place->second);
    if (!contents.insert(content).second)
      token["content"].refuse(", '", shown(content), "', is there twice");
    const bool is_special = token["special"].flag(false);
    added.push_back({content, static_cast<TokenId>(place->second), is_special,
                     token["normalized"].flag(!is_special)});
  }
  return added;
}

// Reads a merge: "a b", or ["a", "b"].
void read_merge(const Part& part, MergeReader& merges) {
  const Value& value = part.value();
  if (value.is_array()) {
    if (part.list().size() != 2) part.refuse(" must have 2 parts, but has ", part.list().size());
    merges.add(part[0].text(), part[1].text());
    return;
  }
  const std::string& text = part.text();
  if (!merges.add(text))
    part.refuse(", '", shown(text), "', is not two tokens with a space between");
}

// Refuses an unknown token if a byte has no token. If every byte has one, it is never used.
void check_bytes(const Part& unk_token, const std::vector<std::string>& tokens) {
  std::bitset<256> has_token;
  for (const std::string& token : tokens)
    if (token.size() == 1) has_token.set(static_cast<unsigned char>(token[0]));
  if (!has_token.all()) unk_token.refuse(" is not supported, because a byte has no token");
}

void read_model(const FileName& file, const Part& model, const Part& added, TokenizerParts& parts) {
  model.check_members({"type", "dropout", "unk_token", "continuing_subword_prefix",
                       "end_of_word_suffix", "fuse_unk", "byte_fallback", "ignore_merges", "vocab",
                       "merges"});
  // Files from before 2020 have no type.
  if (!model["type"].is_absent() && model["type"].text() != "BPE")
    model["type"].refuse(" is not BPE");
  for (const std::string_view name :
       {"dropout", "continuing_subword_prefix", "end_of_word_suffix", "byte_fallback"}) {
    model[name].check_off();
  }
  parts.ignore_merges = model["ignore_merges"].flag(false);
  std::vector<WrittenToken> vocabulary = read_vocabulary(file, model["vocab"].value());
  parts.added = read_added(added, vocabulary);
  const std::vector<std::string> written = in_order_of_ids(file, std::move(vocabulary));
  parts.tokens = bytes_of_tokens(file, written, parts.added);
  if (!model["unk_token"].is_absent()) check_bytes(model["unk_token"], parts.tokens);
  MergeReader merges(file, written, parts);
  const Part list = model["merges"];
  for (std::size_t i = 0; i < list.list().size(); ++i) read_merge(list[i], merges);
}

using Json = nlohmann::ordered_json;

Json json_of_splits(const TokenizerParts& parts) {
  const bool use_regex = !parts.splits.empty() && parts.splits.back().pattern == kGpt2Pattern;
  const Json byte_level{{"type", "ByteLevel"},
                        {"add_prefix_space", parts.add_prefix_space},
                        {"trim_offsets", true},
                        {"use_regex", use_regex}};
  const std::size_t splits = parts.splits.size() - (use_regex ? 1 : 0);
  if (splits == 0) return byte_level;
  Json steps = Json::array();
  for (std::size_t i = 0; i < splits; ++i) {
    const Split& split = parts.splits[i];
    steps.push_back({{"type", "Split"},
                     {"pattern", Json{{"Regex", split.pattern}}},
                     {"behavior", split.keeps_matches && split.keeps_rest ? "Isolated" : "Removed"},
                     {"invert", !split.keeps_rest}});
  }
  steps.push_back(byte_level);
  return {{"type", "Sequence"}, {"pretokenizers", steps}};
}

Json json_of_added(const TokenizerParts& parts) {
  Json added = Json::array();
  for (const AddedToken& token : parts.added) {
    added.push_back({{"id", token.id},
                     {"content", token.content},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", token.is_normalized},
                     {"special", token.is_special}});
  }
  return added;
}

Json json_of_model(const TokenizerParts& parts) {
  const std::vector<std::string> written = written_tokens(parts);
  Json merges = Json::array();
  for (const Merge& merge : parts.merges)
    merges.push_back(written[merge.left] + ' ' + written[merge.right]);
  return {{"type", "BPE"},
          {"dropout", nullptr},
          {"unk_token", nullptr},
          {"continuing_subword_prefix", nullptr},
          {"end_of_word_suffix", nullptr},
          {"fuse_unk", false},
          {"byte_fallback", false},
          {"ignore_merges", parts.ignore_merges},
          {"vocab", vocabulary_json(written)},
          {"merges", std::move(merges)}};
}

}  // namespace

TokenizerParts read_tokenizer_json(const std::filesystem::path& path, bool ignore_normalizer) {
  const FileName file{"BytePairEncoding::load_tokenizer_json", path};
  const Value root = json::read(file);
  const Part whole(file, &root, "");
  whole.check_members({"version", "truncation", "padding", "added_tokens", "normalizer",
                       "pre_tokenizer", "post_processor", "decoder", "model"});
  if (!is_absent_normalizer(whole["normalizer"]) && !ignore_normalizer) {
    whole["normalizer"].refuse(
        " is not supported; set ignore_normalizer to read the file as if it "
        "had no normalizer");
  }
  TokenizerParts parts;
  read_pre_tokenizer(whole["pre_tokenizer"], parts);
  check_decoder(whole["decoder"]);
  read_model(file, whole["model"], whole["added_tokens"], parts);
  return parts;
}

void write_tokenizer_json(const TokenizerParts& parts, const std::filesystem::path& path) {
  const Json whole{{"version", "1.0"},
                   {"truncation", nullptr},
                   {"padding", nullptr},
                   {"added_tokens", json_of_added(parts)},
                   {"normalizer", nullptr},
                   {"pre_tokenizer", json_of_splits(parts)},
                   {"post_processor", nullptr},
                   {"decoder", Json{{"type", "ByteLevel"},
                                    {"add_prefix_space", true},
                                    {"trim_offsets", true},
                                    {"use_regex", true}}},
                   {"model", json_of_model(parts)}};
  write_file(path, whole.dump() + '\n', "BytePairEncoding::save_tokenizer_json");
}

}  // namespace tend::nn
