#include <tend/nn/archives/pickle_objects.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>

#include <tend/core/base/error.h>
#include <tend/nn/files/file_name.h>

namespace tend::nn::pickle {
namespace {

struct StorageClass {
  std::string_view name;
  NumberKind kind;
};
constexpr std::array kStorageClasses{
    StorageClass{"torch.FloatStorage", NumberKind::f32},
    StorageClass{"torch.DoubleStorage", NumberKind::f64},
    StorageClass{"torch.HalfStorage", NumberKind::f16},
    StorageClass{"torch.BFloat16Storage", NumberKind::bf16},
    StorageClass{"torch.CharStorage", NumberKind::i8},
    StorageClass{"torch.ShortStorage", NumberKind::i16},
    StorageClass{"torch.IntStorage", NumberKind::i32},
    StorageClass{"torch.LongStorage", NumberKind::i64},
    StorageClass{"torch.ByteStorage", NumberKind::u8},
    StorageClass{"torch.BoolStorage", NumberKind::boolean},
};

constexpr std::array<std::string_view, 14> kDtypes{
    "torch.float32", "torch.float64", "torch.float16", "torch.bfloat16",  "torch.int8",
    "torch.int16",   "torch.int32",   "torch.int64",   "torch.uint8",     "torch.bool",
    "torch.uint16",  "torch.uint32",  "torch.uint64",  "torch.complex64",
};

constexpr std::string_view kOrderedDict = "collections.OrderedDict",
                           kCounter = "collections.Counter", kSize = "torch.Size",
                           kDevice = "torch.device", kTensorV2 = "torch._utils._rebuild_tensor_v2",
                           kTensor = "torch._utils._rebuild_tensor",
                           kParameter = "torch._utils._rebuild_parameter";
constexpr std::array kFunctions{kOrderedDict, kCounter, kSize,     kDevice,
                                kTensorV2,    kTensor,  kParameter};

// --- calls

class Caller {
 public:
  Caller(const ByteReader& reader, const Objects& objects, const std::string& function,
         const Numbers& arguments)
      : reader_(reader), objects_(objects), function_(function), arguments_(arguments) {}

  Object call() const {
    if (std::find(kFunctions.begin(), kFunctions.end(), function_) == kFunctions.end())
      return Unread{as_text("an object of '", shown(function_), '\'')};
    if (!arguments_.empty()) {  // if the first argument is unread, so is the result
      if (const auto* unread = std::get_if<Unread>(&objects_[arguments_[0]])) return *unread;
    }
    if (function_ == kOrderedDict) return ordered_dict();
    if (function_ == kSize) return size();
    if (function_ == kDevice) return device();
    if (function_ == kTensorV2 || function_ == kTensor) return tensor();
    if (function_ == kCounter) return counter();
    Tensor parameter = argument<Tensor>(0);
    return with_grad(Tensor(parameter.array()), argument<bool>(1));
  }

 private:
  [[noreturn]] void refuse_arguments(std::string_view what) const {
    reader_.refuse(function_, ": ", what);
  }
  template <class T>
  const T& argument(std::size_t at) const {
    const T* value = at < arguments_.size() ? std::get_if<T>(&objects_[arguments_[at]]) : nullptr;
    if (value == nullptr)
      refuse_arguments(as_text("argument ", at, " is missing or has the wrong type"));
    return *value;
  }

  Object ordered_dict() const {
    Mapping out;
    if (arguments_.empty()) return out;
    for (const Number item : argument<Sequence>(0).items) {
      const Sequence* pair = std::get_if<Sequence>(&objects_[item]);
      if (pair == nullptr || pair->items.size() != 2) refuse_arguments("an item is not a pair");
      out.items.emplace_back(pair->items[0], pair->items[1]);
    }
    return out;
  }
  Object counter() const { return arguments_.empty() ? Mapping() : argument<Mapping>(0); }
  Object device() const {
    const std::string& name = argument<std::string>(0);
    return arguments_.size() < 2 ? name : as_text(name, ':', argument<std::int64_t>(1));
  }
  Object size() const {
    Sequence out = argument<Sequence>(0);
    out.is_tuple = true;
    return out;
  }

  Shape sizes(std::size_t at) const {
    Shape out;
    const Sequence& sequence = argument<Sequence>(at);
    if (sequence.items.size() > kMaxPtDims)
      refuse_arguments("the tensor has more than 64 dimensions");
    for (const Number item : sequence.items) {
      const std::int64_t* size = std::get_if<std::int64_t>(&objects_[item]);
      if (size == nullptr || *size < 0)
        refuse_arguments(
            as_text("size or stride ", out.size(), " is not an integer of at least 0"));
      out.push_back(*size);
    }
    return out;
  }
  Object tensor() const {
    const Storage& storage = argument<Storage>(0);
    const std::int64_t offset = argument<std::int64_t>(1);
    const Shape shape = sizes(2), strides = sizes(3);
    if (!stored_bytes(NumberKind::f64, shape))
      refuse_arguments(as_text("sizes ", shape, " are too large"));
    if (is_negated()) return Unread{"a tensor whose elements are to be negated"};
    const Array& elements = storage.elements.array();
    return with_grad(Tensor(elements.as_strided(shape, strides, offset)),
                     function_ == kTensorV2 && argument<bool>(4));
  }
  // PyTorch may mark a view of a complex tensor's imaginary part as negated: the elements in the
  // storage have the opposite sign.
  bool is_negated() const {
    if (function_ != kTensorV2 || arguments_.size() < 7) return false;
    const Mapping* metadata = std::get_if<Mapping>(&objects_[arguments_[6]]);
    if (metadata == nullptr) return false;
    for (const auto& [key, value] : metadata->items) {
      const auto* name = std::get_if<std::string>(&objects_[key]);
      const auto* flag = std::get_if<bool>(&objects_[value]);
      if (name != nullptr && *name == "neg" && flag != nullptr && *flag) return true;
    }
    return false;
  }
  static Tensor with_grad(Tensor tensor, bool requires_grad) {
    if (requires_grad) tensor.requires_grad_();
    return tensor;
  }

  const ByteReader& reader_;
  const Objects& objects_;
  const std::string& function_;
  const Numbers& arguments_;
};

// --- values

// Converts objects to values. An object that several others refer to is converted several times,
// so the number of values has a limit.
class Converter {
 public:
  Converter(const ByteReader& reader, const Objects& objects, std::uint64_t bytes)
      : reader_(reader), objects_(objects), copies_left_(most_copies(bytes)) {}

  PtFile file(Number number) {
    PtFile out;
    std::optional<PtValue> root = value(number, 0);
    const PtDict* dict = root ? root->as<PtDict>() : nullptr;
    if (!root || (dict != nullptr && dict->empty() && !left_out_.empty()))
      reader_.refuse("holds ", left_out_.front().why, ", which is not read");
    static_cast<PtValue&>(out) = std::move(*root);
    out.left_out = std::move(left_out_);
    return out;
  }

 private:
  using Value = std::optional<PtValue>;  // empty if the object is left out

  Value value(Number number, int depth) {
    if (depth > kMaxDepth) reader_.refuse("lists and dicts nest deeper than ", kMaxDepth);
    count_copies(1);
    return std::visit([&](const auto& object) { return value_of(object, depth); },
                      objects_[number]);
  }
  // Converts a part of an object. During the conversion, path_ ends with `name`.
  Value part(const std::string& name, Number number, int depth) {
    const std::size_t size = path_.size();
    path_ += name;
    Value out = value(number, depth + 1);
    path_.resize(size);
    return out;
  }
  Value leave_out(std::string what) {
    count_copies(path_.size() + what.size());
    left_out_.push_back({path_, std::move(what)});
    return {};
  }
  void count_copies(std::uint64_t cost) {
    if (cost > copies_left_) reader_.refuse("repeats its parts too often");
    copies_left_ -= cost;
  }

  Value value_of(std::monostate, int) { return PtValue(); }
  Value value_of(bool object, int) { return object; }
  Value value_of(std::int64_t object, int) { return object; }
  Value value_of(double object, int) { return object; }
  Value value_of(const std::string& object, int) {
    count_copies(object.size());
    return object;
  }
  Value value_of(const Tensor& object, int) { return object; }
  Value value_of(const Sequence& object, int depth) {
    PtList items;
    for (const Number item : object.items) {
      const std::string name = as_text('[', items.size(), ']');
      items.push_back(part(name, item, depth).value_or(PtValue()));
    }
    if (object.is_tuple) return PtTuple{std::move(items)};
    return items;
  }
  Value value_of(const Mapping& object, int depth) {
    PtDict dict;
    std::set<std::variant<std::int64_t, std::string>> keys;
    for (const auto& [number, item] : object.items) {
      PtItem added;
      if (const auto* text = std::get_if<std::string>(&objects_[number])) {
        count_copies(2 * text->size());
        added.key = *text;
      } else if (const auto* integer = std::get_if<std::int64_t>(&objects_[number])) {
        added.key = *integer;
      } else {
        leave_out("a key that is neither a text nor an integer");
        continue;
      }
      count_copies(1);
      const std::string name = text_of(added.key);
      if (!keys.insert(added.key).second) reader_.refuse("the key '", name, "' is used twice");
      Value found = part(path_.empty() ? name : '.' + name, item, depth);
      if (!found) continue;
      added.value = std::move(*found);
      dict.push_back(std::move(added));
    }
    return dict;
  }
  Value value_of(const Global& object, int) {
    return leave_out(as_text("the class '", shown(object.name), '\''));
  }
  Value value_of(const Unread& object, int) { return leave_out(object.what); }
  Value value_of(const Storage&, int) { return leave_out("a storage"); }

  static std::string text_of(const std::variant<std::int64_t, std::string>& key) {
    const auto* text = std::get_if<std::string>(&key);
    return text ? shown(*text) : as_text(std::get<std::int64_t>(key));
  }

  const ByteReader& reader_;
  const Objects& objects_;
  std::uint64_t copies_left_;
  std::string path_;
  std::vector<LeftOut> left_out_;
};

}  // namespace

PtFile value_of(const ByteReader& reader, const Objects& objects, Number number,
                std::uint64_t bytes) {
  return Converter(reader, objects, bytes).file(number);
}

Object call(const ByteReader& reader, const Objects& objects, const std::string& function,
            const Numbers& arguments) {
  try {
    return Caller(reader, objects, function, arguments).call();
  } catch (const ShapeError& error) {  // a tensor is outside its storage
    reader.refuse(error.what());
  } catch (const DTypeError& error) {  // an integer tensor requires a gradient
    reader.refuse(error.what());
  }
}

const NumberKind* storage_kind(const std::string& name) {
  const auto same = [&](const StorageClass& each) { return each.name == name; };
  const auto* const found = std::find_if(kStorageClasses.begin(), kStorageClasses.end(), same);
  return found == kStorageClasses.end() ? nullptr : &found->kind;
}

bool is_dtype(const std::string& name) {
  return std::find(kDtypes.begin(), kDtypes.end(), name) != kDtypes.end();
}

}  // namespace tend::nn::pickle
