#include <tend/nn/files/safetensors_header.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include <tend/core/base/error.h>
#include <tend/nn/files/file_name.h>

#include <nlohmann/json.hpp>

namespace tend::nn::safetensors {
namespace {

constexpr std::string_view kMetadata = "__metadata__";
constexpr std::uint64_t kLargestSize = std::uint64_t{1} << 62;
constexpr std::size_t kMaxDims = 64;

constexpr std::array kTypes{
    StoredType{"F64", NumberKind::f64},
    StoredType{"F32", NumberKind::f32},
    StoredType{"F16", NumberKind::f16},
    StoredType{"BF16", NumberKind::bf16},
    StoredType{"I64", NumberKind::i64},
    StoredType{"BOOL", NumberKind::boolean},
    // stored_type() takes the first that fits, so what is only read comes last.
    StoredType{"I8", NumberKind::i8},
    StoredType{"I16", NumberKind::i16},
    StoredType{"I32", NumberKind::i32},
    StoredType{"U8", NumberKind::u8},
    StoredType{"U16", NumberKind::u16},
    StoredType{"U32", NumberKind::u32},
    StoredType{"U64", NumberKind::u64},
};

// --- writing

// `text` in JSON, with its quotes. The header is not made as one value of the JSON library: the
// destructor of a list or an object allocates, and ends the process where memory is refused.
std::string quoted(const std::filesystem::path& path, const std::string& text) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception&) {
    fail<IoError>("save_safetensors", path.string(), ": a name or a metadata text is not UTF-8");
  }
}

std::string joined(std::span<const std::int64_t> numbers) {
  std::string text;
  for (const std::int64_t number : numbers) {
    if (!text.empty()) text += ',';
    text += std::to_string(number);
  }
  return text;
}

std::int64_t end_of(const std::filesystem::path& path, const std::string& name,
                    const Tensor& tensor, std::int64_t item_bytes, std::int64_t begin) {
  std::int64_t end = 0;
  if (__builtin_mul_overflow(tensor.numel(), item_bytes, &end) ||
      __builtin_add_overflow(begin, end, &end)) {
    fail<IoError>("save_safetensors", path.string(), ": '", shown(name), "' ", tensor.shape(), ' ',
                  tensor.dtype(), " would end beyond 2^63 bytes");
  }
  return end;
}

}  // namespace

const StoredType& stored_type(DType dtype, std::optional<HalfType> half) {
  const auto same = [&](const StoredType& each) {
    if (half && is_floating(dtype)) {
      return each.kind == (*half == HalfType::float16 ? NumberKind::f16 : NumberKind::bf16);
    }
    return widened(each.kind) == dtype && stored_size(each.kind) == item_size(dtype);
  };
  return *std::find_if(kTypes.begin(), kTypes.end(), same);
}

std::string header_text(const std::filesystem::path& path, const StateDict& tensors,
                        const SafetensorsOptions& options) {
  std::string text = "{";
  for (const auto& [key, value] : options.metadata) {
    text += text.size() == 1 ? '"' + std::string(kMetadata) + "\":{" : ",";
    text += quoted(path, key) + ':' + quoted(path, value);
  }
  if (!options.metadata.empty()) text += '}';
  std::set<std::string_view> names{"", kMetadata};
  std::int64_t begin = 0;
  for (const auto& [name, tensor] : tensors) {
    if (!names.insert(name).second) {
      const char* problem = name.empty() ? "empty" : name == kMetadata ? "reserved" : "used twice";
      fail<IoError>("save_safetensors", path.string(), ": the name '", shown(name), "' is ",
                    problem);
    }
    if (!tensor.defined()) {
      fail<IoError>("save_safetensors", path.string(), ": '", shown(name), "' is undefined");
    }
    if (tensor.shape().size() > kMaxDims) {
      fail<IoError>("save_safetensors", path.string(), ": '", shown(name), "' has more than ",
                    kMaxDims, " dimensions");
    }
    const StoredType& type = stored_type(tensor.dtype(), options.dtype);
    const std::int64_t end = end_of(path, name, tensor, stored_size(type.kind), begin);
    if (text.size() > 1) text += ',';
    text += quoted(path, name) + R"(:{"dtype":")";
    text += type.name;
    text += R"(","shape":[)" + joined(tensor.shape()) + R"(],"data_offsets":[)" +
            std::to_string(begin) + ',' + std::to_string(end) + "]}";
    begin = end;
  }
  text += '}';
  // Spaces keep the elements aligned.
  text.resize((text.size() + 7) / 8 * 8, ' ');
  if (text.size() > kMaxHeader) {
    fail<IoError>("save_safetensors", path.string(), ": names and metadata take ", text.size(),
                  " bytes, of which readers take ", kMaxHeader, " at most");
  }
  return text;
}

// --- reading

namespace {

// Takes the events of the JSON library's parser, in the order of the text. Nothing nests deeper
// than the format does, so neither the stack nor a destructor can grow with the text.
class HeaderHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit HeaderHandler(const FileName& file) : file_(file) {}

  Header take() { return std::move(header_); }

  bool start_object(std::size_t) override {
    switch (place_) {
      case Place::before: place_ = Place::header; break;
      case Place::header_value:
        if (entry_.name == kMetadata) {
          if (std::exchange(has_metadata_, true)) refuse_twice(entry_.name);
          place_ = Place::metadata;
        } else {
          place_ = Place::tensor;
        }
        break;
      default: refuse_value("an object");
    }
    return true;
  }
  bool end_object() override {
    if (place_ == Place::tensor) {
      if (entry_.type == nullptr || !has_shape_ || !offsets_) refuse_fields();
      entry_.begin = (*offsets_)[0];
      entry_.end = (*offsets_)[1];
      header_.entries.push_back(std::move(entry_));
    }
    place_ = Place::header;  // or after it, where the parser accepts nothing more
    return true;
  }
  bool key(std::string& text) override {
    if (place_ == Place::header) {
      entry_ = {};
      entry_.name = std::move(text);
      has_shape_ = false;
      offsets_.reset();
      place_ = Place::header_value;
    } else if (place_ == Place::metadata) {
      field_ = std::move(text);
      place_ = Place::metadata_value;
    } else {
      start_field(text);
    }
    return true;
  }
  bool start_array(std::size_t) override {
    if (place_ != Place::shape && place_ != Place::offsets) refuse_value("a list");
    if (std::exchange(in_list_, true)) refuse_value("a list");
    return true;
  }
  bool end_array() override {
    in_list_ = false;
    if (place_ == Place::shape) {
      has_shape_ = true;
    } else {
      if (numbers_.size() != 2) refuse_tensor("data_offsets are not two numbers");
      offsets_ = {numbers_[0], numbers_[1]};
    }
    place_ = Place::tensor;
    return true;
  }
  bool string(std::string& text) override {
    if (place_ == Place::metadata_value) {
      if (!header_.metadata.try_emplace(field_, std::move(text)).second) refuse_twice(field_);
      place_ = Place::metadata;
    } else if (place_ == Place::dtype) {
      const auto same = [&](const StoredType& type) { return type.name == text; };
      const auto* const type = std::find_if(kTypes.begin(), kTypes.end(), same);
      if (type == kTypes.end()) refuse_dtype();
      entry_.type = type;
      place_ = Place::tensor;
    } else {
      refuse_value(as_text('\'', shown(text), '\''));
    }
    return true;
  }
  bool number_unsigned(std::uint64_t number) override {
    if (!in_list_ || number > kLargestSize) refuse_value(std::to_string(number));
    const auto size = static_cast<std::int64_t>(number);
    if (place_ == Place::offsets) {
      if (numbers_.size() == 2) refuse_tensor("data_offsets are not two numbers");
      numbers_.push_back(size);
    } else {
      if (entry_.shape.size() == kMaxDims)
        refuse_tensor("its shape is no list of at most 64 sizes");
      entry_.shape.push_back(size);
    }
    return true;
  }
  bool number_integer(std::int64_t number) override {
    refuse_value(number == 0 ? "-0" : std::to_string(number));
  }
  bool number_float(double, const std::string& text) override { refuse_value(shown(text)); }
  bool null() override { refuse_value("null"); }
  bool boolean(bool value) override { refuse_value(value ? "true" : "false"); }
  bool binary(binary_t&) override { refuse_value("binary"); }
  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::json::exception& error) override {
    refuse("the header is no JSON: ", shown(error.what()));
  }

 private:
  enum class Place : unsigned char {
    before,
    header,
    header_value,
    metadata,
    metadata_value,
    tensor,
    dtype,
    shape,
    offsets
  };

  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    file_.refuse(parts...);
  }
  [[noreturn]] void refuse_twice(const std::string& name) const {
    refuse("the name '", shown(name), "' is used twice");
  }
  [[noreturn]] void refuse_tensor(const std::string& what) const {
    refuse("tensor '", shown(entry_.name), "': ", what);
  }
  [[noreturn]] void refuse_fields() const {
    refuse_tensor("needs dtype, shape and data_offsets, nothing else");
  }
  [[noreturn]] void refuse_dtype() const {
    std::string names;
    for (const StoredType& type : kTypes) names += as_text(names.empty() ? "" : ", ", type.name);
    refuse_tensor("its dtype is none of " + names);
  }

  // Throws for a value that does not belong where it stands.
  [[noreturn]] void refuse_value(const std::string& value) const {
    switch (place_) {
      case Place::before: refuse("the header is no JSON object");
      case Place::metadata_value: refuse("__metadata__ '", shown(field_), "' is no text");
      case Place::dtype: refuse_dtype();
      case Place::shape:
        refuse_tensor(in_list_ ? value + " is no size"
                               : "its shape is no list of at most 64 sizes");
      case Place::offsets:
        refuse_tensor(in_list_ ? value + " is no size" : "data_offsets are not two numbers");
      default: break;
    }
    if (entry_.name == kMetadata) refuse("__metadata__ is no object");
    refuse_fields();
  }

  void start_field(const std::string& name) {
    const auto begin = [&](Place place, bool is_there) {
      if (is_there) refuse_tensor(name + " is given twice");
      place_ = place;
    };
    if (name == "dtype") {
      begin(Place::dtype, entry_.type != nullptr);
    } else if (name == "shape") {
      begin(Place::shape, has_shape_);
    } else if (name == "data_offsets") {
      begin(Place::offsets, offsets_.has_value());
      numbers_.clear();
    } else {
      refuse_fields();
    }
  }

  const FileName& file_;
  Header header_;
  Place place_ = Place::before;
  bool has_metadata_ = false;
  Entry entry_;  // the one being read
  bool has_shape_ = false;
  std::optional<std::array<std::int64_t, 2>> offsets_;
  bool in_list_ = false;
  std::vector<std::int64_t> numbers_;
  std::string field_;
};

class Checker {
 public:
  Checker(const FileName& file, std::vector<Entry>& entries) : file_(file), entries_(entries) {}

  void check_names() const {
    std::vector<std::string_view> names;
    for (const Entry& entry : entries_) names.push_back(entry.name);
    check_unique(file_, std::move(names));
  }

  void check_lengths(std::int64_t data_bytes) const {
    for (const Entry& entry : entries_) {
      if (entry.end < entry.begin || entry.end > data_bytes) {
        refuse("tensor '", shown(entry.name), "': data_offsets leave the file");
      }
      check_length(entry);
    }
  }

  // Sorts the entries by their bytes, which must fill the data without gap and overlap.
  void check_ranges(std::int64_t data_bytes) {
    std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    std::int64_t at = 0;
    for (const Entry& entry : entries_) {
      if (entry.begin != at) {
        refuse("tensor '", shown(entry.name), "' begins at ", entry.begin, ", not at ", at);
      }
      at = entry.end;
    }
    if (at != data_bytes) refuse("the tensors take ", at, " bytes of ", data_bytes);
  }

 private:
  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    file_.refuse(parts...);
  }

  void check_length(const Entry& entry) const {
    std::int64_t bytes = stored_size(entry.type->kind);
    const bool empty = std::find(entry.shape.begin(), entry.shape.end(), 0) != entry.shape.end();
    bool fits = true;
    for (const std::int64_t size : entry.shape)
      fits = fits && !__builtin_mul_overflow(bytes, size, &bytes);
    if (empty ? entry.end != entry.begin : !fits || entry.end - entry.begin != bytes) {
      refuse("tensor '", shown(entry.name), "': ", entry.shape, ' ', entry.type->name,
             " does not take ", entry.end - entry.begin, " bytes");
    }
  }

  const FileName& file_;
  std::vector<Entry>& entries_;
};

}  // namespace

Header parse_header(const std::filesystem::path& path, const std::string& text,
                    std::int64_t data_bytes) {
  const FileName file{"load_safetensors", path};
  HeaderHandler handler(file);
  nlohmann::json::sax_parse(text, &handler);
  Header header = handler.take();
  Checker checker(file, header.entries);
  checker.check_names();
  checker.check_lengths(data_bytes);
  checker.check_ranges(data_bytes);
  return header;
}

}  // namespace tend::nn::safetensors
