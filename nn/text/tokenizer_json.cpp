#include <tend/nn/text/tokenizer_json.h>

#include <algorithm>
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

// A text goes through the steps by recursion.
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
    const T* value = value_ == nullptr ? nullptr : value_->get_ptr<const T*>();
    if (value == nullptr) refuse(" is no ", kind);
    return *value;
  }
  const std::string& text() const { return as<std::string>("string"); }
  const Value::array_t& list() const { return as<Value::array_t>("array"); }
  std::int64_t integer() const { return as<std::int64_t>("integer"); }
  bool flag(std::optional<bool> otherwise = {}) const {
    return otherwise && is_absent() ? *otherwise : as<bool>("boolean");
  }
  const Value& value() const {
    if (value_ == nullptr) refuse(" is missing");
    return *value_;
  }
  /// An object with no members but these, for another would have a meaning that is not known here.
  void check_members(std::initializer_list<std::string_view> known) const {
    for (const auto& [member, value] : as<Value::object_t>("object")) {
      if (std::find(known.begin(), known.end(), member) == known.end())
        refuse(" has the member '", shown(member), "', which is not supported");
    }
  }
  /// Absent, or turned off.
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
  if (parts.add_prefix_space && !parts.patterns.empty())
    part["add_prefix_space"].refuse(" is not supported behind a Split");
  if (part["use_regex"].flag(true)) parts.patterns.emplace_back(kGpt2Pattern);
}

void read_split(const Part& part, TokenizerParts& parts) {
  part.check_members({"type", "pattern", "behavior", "invert"});
  if (part["behavior"].text() != "Isolated") part["behavior"].refuse(" is not Isolated");
  part["invert"].check_off();
  part["pattern"].check_members({"Regex"});
  const Part pattern = part["pattern"]["Regex"];
  const std::string& text = pattern.text();
  try {
    const SplitPattern compiled(text);
  } catch (const Error& error) {
    pattern.refuse(": ", error.what());
  }
  parts.patterns.push_back(text);
}

// ByteLevel, or a Sequence of Splits that ends with it.
void read_pre_tokenizer(const Part& part, TokenizerParts& parts) {
  if (part["type"].text() == "ByteLevel") return read_byte_level(part, parts);
  if (part["type"].text() != "Sequence") {
    part.refuse(" is ", shown(part["type"].text()),
                ", where ByteLevel and a Sequence of Splits and ByteLevel are supported");
  }
  part.check_members({"type", "pretokenizers"});
  const Part steps = part["pretokenizers"];
  const std::size_t count = steps.list().size();
  if (count == 0 || count > kMaxSteps) steps.refuse(" has ", count, " steps, not 1 to ", kMaxSteps);
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_last = i + 1 == count;
    const std::string_view wanted = is_last ? "ByteLevel" : "Split";
    if (steps[i]["type"].text() != wanted) steps[i]["type"].refuse(" is not ", wanted);
    is_last ? read_byte_level(steps[i], parts) : read_split(steps[i], parts);
  }
}

// The added tokens; those that the vocabulary does not have are put behind it.
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
    const auto [place, is_new] = ids.emplace(content, id);
    if (place->second != id)
      token["id"].refuse(" is ", id, ", but '", shown(content), "' has the id ", place->second);
    if (is_new) vocabulary.push_back({content, id});
    if (!contents.insert(content).second)
      token["content"].refuse(", '", shown(content), "', is there twice");
    const bool is_special = token["special"].flag(false);
    added.push_back(
        {content, static_cast<TokenId>(id), is_special, token["normalized"].flag(!is_special)});
  }
  return added;
}

// "a b", or ["a", "b"].
void read_merge(const Part& part, MergeReader& merges) {
  const Value& value = part.value();
  if (value.is_array()) {
    if (part.list().size() != 2) part.refuse(" has ", part.list().size(), " parts");
    merges.add(part[0].text(), part[1].text());
    return;
  }
  const std::string& text = part.text();
  if (!merges.add(text))
    part.refuse(", '", shown(text), "', is not two tokens with a space between");
}

void read_model(const FileName& file, const Part& model, const Part& added, TokenizerParts& parts) {
  model.check_members({"type", "dropout", "unk_token", "continuing_subword_prefix",
                       "end_of_word_suffix", "fuse_unk", "byte_fallback", "ignore_merges", "vocab",
                       "merges"});
  if (model["type"].text() != "BPE") model["type"].refuse(" is not BPE");
  for (const std::string_view name :
       {"dropout", "continuing_subword_prefix", "end_of_word_suffix", "byte_fallback"}) {
    model[name].check_off();
  }
  parts.ignore_merges = model["ignore_merges"].flag(false);
  std::vector<WrittenToken> vocabulary = read_vocabulary(file, model["vocab"].value());
  parts.added = read_added(added, vocabulary);
  const std::vector<std::string> written = in_order_of_ids(file, std::move(vocabulary));
  parts.tokens = bytes_of_tokens(file, written, parts.added);
  MergeReader merges(file, written, parts);
  const Part list = model["merges"];
  for (std::size_t i = 0; i < list.list().size(); ++i) read_merge(list[i], merges);
}

using Json = nlohmann::ordered_json;

Json json_of_patterns(const TokenizerParts& parts) {
  const bool use_regex = !parts.patterns.empty() && parts.patterns.back() == kGpt2Pattern;
  const Json byte_level{{"type", "ByteLevel"},
                        {"add_prefix_space", parts.add_prefix_space},
                        {"trim_offsets", true},
                        {"use_regex", use_regex}};
  const std::size_t splits = parts.patterns.size() - (use_regex ? 1 : 0);
  if (splits == 0) return byte_level;
  Json steps = Json::array();
  for (std::size_t i = 0; i < splits; ++i) {
    steps.push_back({{"type", "Split"},
                     {"pattern", Json{{"Regex", parts.patterns[i]}}},
                     {"behavior", "Isolated"},
                     {"invert", false}});
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
  if (!whole["normalizer"].is_absent() && !ignore_normalizer) {
    whole["normalizer"].refuse(
        " is not supported; with ignore_normalizer the file is read as if "
        "it had none");
  }
  TokenizerParts parts;
  read_pre_tokenizer(whole["pre_tokenizer"], parts);
  if (!whole["decoder"].is_absent() && whole["decoder"]["type"].text() != "ByteLevel")
    whole["decoder"]["type"].refuse(" is not ByteLevel");
  read_model(file, whole["model"], whole["added_tokens"], parts);
  return parts;
}

void write_tokenizer_json(const TokenizerParts& parts, const std::filesystem::path& path) {
  const Json whole{{"version", "1.0"},
                   {"truncation", nullptr},
                   {"padding", nullptr},
                   {"added_tokens", json_of_added(parts)},
                   {"normalizer", nullptr},
                   {"pre_tokenizer", json_of_patterns(parts)},
                   {"post_processor", nullptr},
                   {"decoder", Json{{"type", "ByteLevel"},
                                    {"add_prefix_space", true},
                                    {"trim_offsets", true},
                                    {"use_regex", true}}},
                   {"model", json_of_model(parts)}};
  write_file(path, whole.dump() + '\n', "BytePairEncoding::save_tokenizer_json");
}

}  // namespace tend::nn
