#include <tend/nn/archives/pickle_reader.h>

#include <bit>
#include <string>
#include <unordered_map>
#include <utility>

#include <tend/nn/archives/pickle_objects.h>
#include <tend/nn/files/file_name.h>

namespace tend::nn::pickle {
namespace {

// Runs the opcodes: https://github.com/python/cpython/blob/3.11/Lib/pickletools.py
class Machine {
 public:
  Machine(ByteReader& reader, const FindStorage& find_storage)
      : reader_(reader), find_storage_(find_storage), begin_(reader.left()) {}

  PtFile run() {
    for (;;) {
      if (read_bytes() > kMaxPickle) reader_.refuse("a pickle is longer than 64 MiB");
      const std::uint8_t opcode = reader_.byte();
      if (opcode == '.') break;
      if (!run_value(opcode) && !run_container(opcode) && !run_memo(opcode) && !run_object(opcode))
        reader_.refuse("the pickle's opcode ", int{opcode}, " is not read");
    }
    const Number result = pop();
    if (!stack_.empty() || !marks_.empty()) reader_.refuse("the pickle ends too early");
    return value_of(reader_, objects_, result, read_bytes());
  }

 private:
  std::uint64_t read_bytes() const { return begin_ - reader_.left(); }

  // --- the stack

  bool push(Object object) {
    objects_.push_back(std::move(object));
    stack_.push_back(static_cast<Number>(objects_.size() - 1));
    return true;
  }
  std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  void check_height(std::size_t count) const {
    if (stack_.size() - floor() < count)
      reader_.refuse("an opcode of the pickle needs more objects than the stack has");
  }
  Number top() const {
    check_height(1);
    return stack_.back();
  }
  Number pop() {
    const Number number = top();
    stack_.pop_back();
    return number;
  }
  Numbers pop(std::size_t count) {
    check_height(count);
    Numbers numbers(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    return numbers;
  }
  Numbers pop_to_mark() {
    if (marks_.empty())
      reader_.refuse("an opcode of the pickle needs more objects than the stack has");
    Numbers numbers = pop(stack_.size() - marks_.back());
    marks_.pop_back();
    return numbers;
  }
  template <class T>
  T& as(Number number, const char* what) {
    T* object = std::get_if<T>(&objects_[number]);
    if (object == nullptr) reader_.refuse("the pickle has something else where ", what, " must be");
    return *object;
  }

  // True for an object that is not read. Items that the pickle adds to such an object are ignored.
  bool is_unread(Number number) const { return std::holds_alternative<Unread>(objects_[number]); }

  // --- opcodes, by family; each function returns false for an opcode of another family

  bool run_value(std::uint8_t opcode) {
    switch (opcode) {
      case 'N': return push(std::monostate());
      case 0x88: return push(true);
      case 0x89: return push(false);
      case 'J': return push(std::int64_t{static_cast<std::int32_t>(reader_.number(4))});
      case 'K': return push(static_cast<std::int64_t>(reader_.number(1)));
      case 'M': return push(static_cast<std::int64_t>(reader_.number(2)));
      case 0x8a: return push_long();
      case 'G': return push(real());
      case 'X': return push(reader_.text(reader_.number(4)));
      case 0x8c: return push(reader_.text(reader_.number(1)));
      case 0x8d: return push(reader_.text(reader_.number(8)));
      case 'T': return push(reader_.text(reader_.number(4)));  // a string of Python 2
      case 'U': return push(reader_.text(reader_.number(1)));
      case 'B': return push_bytes(reader_.number(4));
      case 'C': return push_bytes(reader_.number(1));
      case 0x8e:
      case 0x96: return push_bytes(reader_.number(8));
      default: return false;
    }
  }
  bool push_bytes(std::uint64_t count) {
    reader_.take(count);
    return push(Unread{"bytes"});
  }
  bool push_long() {
    const auto bytes = static_cast<int>(reader_.number(1));
    if (bytes > 8) {
      reader_.take(static_cast<std::uint64_t>(bytes));
      return push(Unread{"an integer beyond int64"});
    }
    std::uint64_t value = reader_.number(bytes);
    if (bytes > 0 && bytes < 8 && (value >> (8 * bytes - 1) & 1) != 0)
      value |= ~std::uint64_t{0} << (8 * bytes);
    return push(static_cast<std::int64_t>(value));
  }
  double real() {  // big-endian
    std::uint64_t bits = 0;
    for (int i = 0; i < 8; ++i) bits = bits << 8 | reader_.byte();
    return std::bit_cast<double>(bits);
  }

  bool run_container(std::uint8_t opcode) {
    switch (opcode) {
      case '(': marks_.push_back(stack_.size()); return true;
      case ')': return push(Sequence{{}, true});
      case 't': return push(Sequence{pop_to_mark(), true});
      case 0x85:
      case 0x86:
      case 0x87: return push(Sequence{pop(opcode - 0x84u), true});
      case ']': return push(Sequence{});
      case 'l': return push(Sequence{pop_to_mark(), false});
      case 'a': return append(pop(1));
      case 'e': return append(pop_to_mark());
      case '}': return push(Mapping{});
      case 'd': return make_dict();
      case 's': return set_items(pop(2));
      case 'u': return set_items(pop_to_mark());
      case 0x8f: return push(Unread{"a set"});
      case 0x90: pop_to_mark(); return true;  // ignores elements that are added to a set
      case 0x91: pop_to_mark(); return push(Unread{"a set"});
      default: return false;
    }
  }
  bool append(const Numbers& items) {
    if (is_unread(top())) return true;
    Sequence& list = as<Sequence>(top(), "a list");
    if (list.is_tuple) reader_.refuse("the pickle adds to a tuple");
    list.items.insert(list.items.end(), items.begin(), items.end());
    return true;
  }
  bool make_dict() {
    const Numbers items = pop_to_mark();
    push(Mapping{});
    return set_items(items);
  }
  bool set_items(const Numbers& items) {
    if (items.size() % 2 != 0) reader_.refuse("the pickle has a key without a value");
    if (is_unread(top())) return true;
    Mapping& dict = as<Mapping>(top(), "a dict");
    for (std::size_t i = 0; i < items.size(); i += 2)
      dict.items.emplace_back(items[i], items[i + 1]);
    return true;
  }

  bool run_memo(std::uint8_t opcode) {
    switch (opcode) {
      case 'q': return memoize(reader_.number(1));
      case 'r': return memoize(reader_.number(4));
      case 0x94: return memoize(memo_.size());
      case 'h': return recall(reader_.number(1));
      case 'j': return recall(reader_.number(4));
      case '0':
        if (stack_.size() > floor()) {
          stack_.pop_back();
        } else {
          pop_to_mark();
        }
        return true;
      case '1': pop_to_mark(); return true;
      case '2': stack_.push_back(top()); return true;
      default: return false;
    }
  }
  bool memoize(std::uint64_t at) {
    memo_[at] = top();
    return true;
  }
  bool recall(std::uint64_t at) {
    const auto found = memo_.find(at);
    if (found == memo_.end())
      reader_.refuse("the pickle refers to memo entry ", at, ", which does not exist");
    stack_.push_back(found->second);
    return true;
  }

  bool run_object(std::uint8_t opcode) {
    switch (opcode) {
      case 0x80: return check_protocol();
      case 0x95: reader_.number(8); return true;  // the length of a frame, which is not needed
      case 'c': {
        const std::string module = reader_.line();
        return push_global(module, reader_.line());
      }
      case 0x93: {
        const Numbers names = pop(2);
        return push_global(as<std::string>(names[0], "a module's name"),
                           as<std::string>(names[1], "a class's name"));
      }
      case 'R': {
        const Numbers parts = pop(2);
        const Numbers& arguments = as<Sequence>(parts[1], "a tuple of arguments").items;
        if (is_unread(parts[0])) return push_copy(objects_[parts[0]]);
        return push_result(as<Global>(parts[0], "a function").name, arguments);
      }
      case 0x81: return push_new(pop(2)[0]);  // a class and its arguments
      case 0x92: return push_new(pop(3)[0]);
      case 'b':  // attributes of an OrderedDict, such as the _metadata of a state_dict
        pop();
        if (!is_unread(top())) as<Mapping>(top(), "a dict with attributes");
        return true;
      case 'Q': return push_storage(pop());
      default: return false;
    }
  }
  bool check_protocol() {
    const std::uint8_t protocol = reader_.byte();
    if (protocol > 5) reader_.refuse("a pickle of protocol ", int{protocol}, " is not read");
    return true;
  }
  bool push_global(const std::string& module, const std::string& name) {
    const std::string whole = module + '.' + name;
    if (is_dtype(whole)) return push(whole);
    return push_copy(Global{whole});
  }
  bool push_new(Number type) {
    const std::string& name = as<Global>(type, "a class").name;
    return push_copy(Unread{as_text("an object of '", shown(name), '\'')});
  }
  bool push_result(const std::string& function, const Numbers& arguments) {
    return push_copy(call(reader_, objects_, function, arguments));
  }
  // A few bytes of a pickle can copy a long argument or name. So the sum of all copies has a limit.
  bool push_copy(Object object) {
    if (const auto* list = std::get_if<Sequence>(&object)) copies_ += list->items.size();
    if (const auto* dict = std::get_if<Mapping>(&object)) copies_ += 2 * dict->items.size();
    if (const auto* text = std::get_if<std::string>(&object)) copies_ += text->size();
    if (const auto* global = std::get_if<Global>(&object)) copies_ += global->name.size();
    if (const auto* unread = std::get_if<Unread>(&object)) copies_ += unread->what.size();
    // About the memory of the tensor's handle. The limit grows by 8 for each byte of the pickle. So
    // a tensor that the pickle describes in full raises the limit by more than this.
    if (const auto* tensor = std::get_if<Tensor>(&object))
      copies_ += 100 + 2 * tensor->shape().size();
    if (copies_ > most_copies(read_bytes())) reader_.refuse("repeats its parts too often");
    return push(std::move(object));
  }
  bool push_storage(Number reference) {
    if (!find_storage_) reader_.refuse("the pickle has a storage where storages are not allowed");
    const Numbers& parts = as<Sequence>(reference, "a storage").items;
    // ('storage', class, key, location, elements), and a sixth part, None, before PyTorch 1.6
    if (parts.size() != 5 && parts.size() != 6)
      reader_.refuse("a storage must have five or six parts");
    if (as<std::string>(parts[0], "'storage'") != "storage")
      reader_.refuse("the pickle refers to something that is not a storage");
    if (parts.size() == 6 && !std::holds_alternative<std::monostate>(objects_[parts[5]]))
      reader_.refuse("views of storages, as PyTorch had before 0.4, are not read");
    const std::string& type = as<Global>(parts[1], "a storage's class").name;
    const NumberKind* kind = storage_kind(type);
    if (kind == nullptr) return push_copy(Unread{as_text("a tensor in a '", shown(type), '\'')});
    const std::string& key = as<std::string>(parts[2], "a storage's key");
    const std::int64_t numel = as<std::int64_t>(parts[4], "a storage's size");
    if (numel < 0)
      reader_.refuse("the size of storage '", shown(key), "' must not be negative, got ", numel);
    return push(Storage{Tensor(find_storage_({*kind, key, numel}))});
  }

  ByteReader& reader_;
  const FindStorage& find_storage_;
  const std::uint64_t begin_;
  std::uint64_t copies_ = 0;
  Objects objects_;
  Numbers stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint64_t, Number> memo_;
};

}  // namespace

PtFile read(ByteReader& reader, const FindStorage& find_storage) {
  return Machine(reader, find_storage).run();
}

}  // namespace tend::nn::pickle
