#include <tend/nn/files/json.h>

#include <algorithm>
#include <limits>
#include <utility>

#include <nlohmann/json.hpp>

namespace tend::nn::json {
namespace {

constexpr std::size_t kMaxDepth = 64;

// Takes the events of the JSON library's parser, in the order of the text.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Builder(const FileName& file) : file_(file) {}

  Value take() { return std::move(root_); }

  bool null() override { return add({}); }
  bool boolean(bool value) override { return add({value}); }
  bool number_integer(std::int64_t value) override { return add({value}); }
  bool number_unsigned(std::uint64_t value) override {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return add({static_cast<double>(value)});
    return add({static_cast<std::int64_t>(value)});
  }
  bool number_float(double value, const std::string&) override { return add({value}); }
  bool string(std::string& text) override { return add({std::move(text)}); }
  bool binary(binary_t&) override { file_.refuse("binary is no JSON"); }
  bool start_object(std::size_t) override { return open({Object()}); }
  bool start_array(std::size_t) override { return open({List()}); }
  bool end_object() override {
    check_names(*open_.back()->as<Object>());
    open_.pop_back();
    return true;
  }
  bool end_array() override {
    open_.pop_back();
    return true;
  }
  bool key(std::string& name) override {
    std::get<Object>(open_.back()->data).push_back({std::move(name), {}});
    return true;
  }
  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::json::exception& error) override {
    file_.refuse("is no JSON: ", shown(error.what()));
  }

 private:
  // Puts a value where the file has it. What holds open values does not grow before they end, so
  // pointers to them stay good.
  Value& put(Value value) {
    if (open_.empty()) return root_ = std::move(value);
    Value& parent = *open_.back();
    if (List* list = std::get_if<List>(&parent.data)) return list->emplace_back(std::move(value));
    return std::get<Object>(parent.data).back().value = std::move(value);
  }
  bool add(Value value) {
    put(std::move(value));
    return true;
  }
  bool open(Value value) {
    if (open_.size() == kMaxDepth) file_.refuse("lists and objects nest deeper than ", kMaxDepth);
    open_.push_back(&put(std::move(value)));
    return true;
  }
  void check_names(const Object& object) const {
    std::vector<std::string_view> names;
    for (const Member& member : object) names.push_back(member.name);
    check_unique(file_, std::move(names));
  }

  const FileName& file_;
  Value root_;
  std::vector<Value*> open_;  // the lists and objects around the place that is read
};

}  // namespace

const Value* Value::find(std::string_view name) const noexcept {
  const Object* object = as<Object>();
  if (object == nullptr) return nullptr;
  const auto same = [&](const Member& member) { return member.name == name; };
  const auto found = std::find_if(object->begin(), object->end(), same);
  return found == object->end() ? nullptr : &found->value;
}

Value parse(const FileName& file, std::string_view text) {
  Builder builder(file);
  nlohmann::json::sax_parse(text, &builder);
  return builder.take();
}

Value read(const FileName& file) {
  return parse(file, read_text(file));
}

std::string quoted(std::string_view text) {
  return nlohmann::json(text).dump();
}

std::string number_text(double number) {
  return nlohmann::json(number).dump();
}

}  // namespace tend::nn::json
