#include <tend/nn/files/safetensors_header.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include <tend/core/base/error.h>
#include <tend/nn/files/file_name.h>
#include <tend/nn/files/json.h>

#include <nlohmann/json.hpp>

namespace tend::nn::safetensors {
namespace {

constexpr std::string_view kMetadata = "__metadata__";
constexpr std::int64_t kLargestSize = std::int64_t{1} << 62;
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

// `text` in JSON, with its quotes.
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

using json::Value;

// Reads the value of one tensor's name.
class EntryReader {
 public:
  EntryReader(const FileName& file, const json::Member& member) : file_(file), member_(member) {}

  Entry read() const {
    const auto* fields = member_.value.as<json::Object>();
    const Value *dtype = member_.value.find("dtype"), *shape = member_.value.find("shape"),
                *offsets = member_.value.find("data_offsets");
    if (fields == nullptr || fields->size() != 3 || !dtype || !shape || !offsets)
      refuse("needs dtype, shape and data_offsets, nothing else");
    Entry entry;
    entry.name = member_.name;
    entry.type = type_of(*dtype);
    const auto* sizes = shape->as<json::List>();
    if (sizes == nullptr || sizes->size() > kMaxDims)
      refuse("its shape is no list of at most 64 sizes");
    for (const Value& size : *sizes) entry.shape.push_back(size_of(size));
    const auto* ends = offsets->as<json::List>();
    if (ends == nullptr || ends->size() != 2) refuse("data_offsets are not two numbers");
    entry.begin = size_of((*ends)[0]);
    entry.end = size_of((*ends)[1]);
    return entry;
  }

 private:
  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    file_.refuse("tensor '", shown(member_.name), "': ", parts...);
  }

  const StoredType* type_of(const Value& value) const {
    const auto* name = value.as<std::string>();
    std::string names;
    for (const StoredType& type : kTypes) {
      if (name != nullptr && type.name == *name) return &type;
      names += as_text(names.empty() ? "" : ", ", type.name);
    }
    refuse("its dtype is none of ", names);
  }

  std::int64_t size_of(const Value& value) const {
    const auto* size = value.as<std::int64_t>();
    if (size == nullptr || *size < 0 || *size > kLargestSize)
      refuse("its shape or data_offsets have what is no size");
    return *size;
  }

  const FileName& file_;
  const json::Member& member_;
};

std::map<std::string, std::string> read_metadata(const FileName& file, const Value& value) {
  const auto* members = value.as<json::Object>();
  if (members == nullptr) file.refuse("__metadata__ is no object");
  std::map<std::string, std::string> metadata;
  for (const json::Member& member : *members) {
    const auto* text = member.value.as<std::string>();
    if (text == nullptr) file.refuse("__metadata__ '", shown(member.name), "' is no text");
    metadata.emplace(member.name, *text);
  }
  return metadata;
}

class Checker {
 public:
  Checker(const FileName& file, std::vector<Entry>& entries) : file_(file), entries_(entries) {}

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
  const Value root = json::parse(file, text);
  const auto* members = root.as<json::Object>();
  if (members == nullptr) file.refuse("the header is no JSON object");
  Header header;
  for (const json::Member& member : *members) {
    if (member.name == kMetadata) {
      header.metadata = read_metadata(file, member.value);
    } else {
      header.entries.push_back(EntryReader(file, member).read());
    }
  }
  Checker checker(file, header.entries);
  checker.check_lengths(data_bytes);
  checker.check_ranges(data_bytes);
  return header;
}

}  // namespace tend::nn::safetensors
