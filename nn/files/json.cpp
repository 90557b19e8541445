#include <tend/nn/files/json.h>

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace tend::nn::json {
namespace {

constexpr std::size_t kMaxDepth = 64;

// Builds a value from the events of the library's SAX parser. The library could build the value and
// call a callback, but then the time grows with the square of the number of an object's members.
class Builder : public nlohmann::json_sax<Value> {
 public:
  explicit Builder(const FileName& file, std::string_view what) : file_(file), what_(what) {}

  Value take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(std::int64_t value) override { return add(value); }
  bool number_unsigned(std::uint64_t value) override {
    const bool fits = value <= std::numeric_limits<std::int64_t>::max();
    return fits ? add(value) : add(static_cast<double>(value));
  }
  bool number_float(double value, const std::string&) override { return add(value); }
  bool string(std::string& text) override { return add(std::move(text)); }
  bool binary(binary_t&) override { return false; }  // never called: JSON text has no binary values
  bool start_object(std::size_t) override { return open(Value::object()); }
  bool start_array(std::size_t) override { return open(Value::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& name) override {
    const auto [member, is_new] = open_.back()->emplace(name, nullptr);
    if (!is_new) file_.refuse("the name '", shown(name), "' is used twice");
    member_ = &*member;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const Value::exception&) override {
    file_.refuse(what_, "is not JSON: it ends early or is wrong at byte ", position);
  }

 private:
  // Puts a value at its position in the tree. A list does not grow while one of its elements is
  // open, so pointers to open values stay valid.
  Value& put(Value value) {
    if (open_.empty()) return root_ = std::move(value);
    if (!open_.back()->is_array()) return *member_ = std::move(value);
    open_.back()->push_back(std::move(value));
    return open_.back()->back();
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
  bool close() {
    open_.pop_back();
    return true;
  }

  const FileName& file_;
  std::string_view what_;
  Value root_;
  std::vector<Value*> open_;  // the lists and objects that are open
  Value* member_ = nullptr;   // the member of the open object that gets the next value
};

}  // namespace

Value parse(const FileName& file, std::string_view text, std::string_view what) {
  Builder builder(file, what);
  Value::sax_parse(text, &builder);
  return builder.take();
}

Value read(const FileName& file) {
  return parse(file, read_text(file));
}

const Value* find(const Value& object, std::string_view name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

bool is_utf8(const std::string& text) {
  try {
    json::quoted(text);  // not std::quoted
    return true;
  } catch (const Value::type_error&) {
    return false;
  }
}

std::string quoted(std::string_view text) {
  return Value(text).dump();
}

std::string number_text(double number) {
  return Value(number).dump();
}

}  // namespace tend::nn::json
