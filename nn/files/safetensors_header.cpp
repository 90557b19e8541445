#include <tend/nn/files/safetensors_header.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include <tend/core/base/error.h>
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
std::string quoted(const FileName& file, const std::string& text) {
  if (!json::is_utf8(text)) file.refuse("a name or a metadata text is not UTF-8");
  return json::quoted(text);
}

std::string joined(std::span<const std::int64_t> numbers) {
  std::string text;
  for (const std::int64_t number : numbers) {
    if (!text.empty()) text += ',';
    text += std::to_string(number);
  }
  return text;
}

std::int64_t end_of(const FileName& file, const std::string& name, const Tensor& tensor,
                    std::int64_t item_bytes, std::int64_t begin) {
  std::int64_t end = 0;
  if (__builtin_mul_overflow(tensor.numel(), item_bytes, &end) ||
      __builtin_add_overflow(begin, end, &end)) {
    file.refuse("'", shown(name), "' ", tensor.shape(), ' ', tensor.dtype(),
                " would end beyond 2^63 bytes");
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
  const FileName file{"save_safetensors", path};
  std::string text = "{";
  for (const auto& [key, value] : options.metadata) {
    text += text.size() == 1 ? '"' + std::string(kMetadata) + "\":{" : ",";
    text += quoted(file, key) + ':' + quoted(file, value);
  }
  if (!options.metadata.empty()) text += '}';
  std::set<std::string_view> names{"", kMetadata};
  std::int64_t begin = 0;
  for (const auto& [name, tensor] : tensors) {
    if (!names.insert(name).second) {
      const char* problem = name.empty() ? "empty" : name == kMetadata ? "reserved" : "used twice";
      file.refuse("the name '", shown(name), "' is ", problem);
    }
    if (!tensor.defined()) file.refuse("'", shown(name), "' is undefined");
    if (tensor.shape().size() > kMaxDims)
      file.refuse("'", shown(name), "' has more than ", kMaxDims, " dimensions");
    const StoredType& type = stored_type(tensor.dtype(), options.dtype);
    const std::int64_t end = end_of(file, name, tensor, stored_size(type.kind), begin);
    if (text.size() > 1) text += ',';
    text += quoted(file, name) + R"(:{"dtype":")";
    text += type.name;
    text += R"(","shape":[)" + joined(tensor.shape()) + R"(],"data_offsets":[)" +
            std::to_string(begin) + ',' + std::to_string(end) + "]}";
    begin = end;
  }
  text += '}';
  // Spaces keep the elements aligned.
  text.resize((text.size() + 7) / 8 * 8, ' ');
  if (text.size() > kMaxHeader) {
    file.refuse("names and metadata take ", text.size(), " bytes, of which readers take ",
                kMaxHeader, " at most");
  }
  return text;
}

// --- reading

namespace {

// Reads what a header says of one tensor.
class EntryReader {
 public:
  EntryReader(const FileName& file, const std::string& name, const json::Value& fields)
      : file_(file), name_(name), fields_(fields) {}

  Entry read() const {
    if (!fields_.is_object() || fields_.size() != 3 || !fields_.contains("dtype") ||
        !fields_.contains("shape") || !fields_.contains("data_offsets")) {
      refuse("needs dtype, shape and data_offsets, nothing else");
    }
    Entry entry;
    entry.name = name_;
    entry.type = &type();
    const json::Value& shape = fields_["shape"];
    if (!shape.is_array() || shape.size() > kMaxDims)
      refuse("its shape is no list of at most 64 sizes");
    for (const json::Value& each : shape) entry.shape.push_back(size(each));
    const json::Value& offsets = fields_["data_offsets"];
    if (!offsets.is_array() || offsets.size() != 2) refuse("data_offsets are not two numbers");
    entry.begin = size(offsets[0]);
    entry.end = size(offsets[1]);
    return entry;
  }

 private:
  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    file_.refuse("tensor '", shown(name_), "': ", parts...);
  }

  const StoredType& type() const {
    for (const StoredType& each : kTypes)
      if (fields_["dtype"] == each.name) return each;
    std::string names;
    for (const StoredType& each : kTypes) names += as_text(names.empty() ? "" : ", ", each.name);
    refuse("its dtype is none of ", names);
  }

  std::int64_t size(const json::Value& value) const {
    if (!value.is_number_unsigned() || value.get<std::int64_t>() > kLargestSize)
      refuse(shown(value.dump()), " is no size");
    return value.get<std::int64_t>();
  }

  const FileName& file_;
  const std::string& name_;
  const json::Value& fields_;
};

void read_metadata(const FileName& file, const json::Value& texts,
                   std::map<std::string, std::string>& metadata) {
  if (!texts.is_object()) file.refuse("__metadata__ is no object");
  for (const auto& [key, value] : texts.items()) {
    const auto* text = value.get_ptr<const std::string*>();
    if (text == nullptr) file.refuse("__metadata__ '", shown(key), "' is no text");
    metadata.emplace(key, *text);
  }
}

void check_length(const FileName& file, const Entry& entry, std::int64_t data_bytes) {
  if (entry.end < entry.begin || entry.end > data_bytes)
    file.refuse("tensor '", shown(entry.name), "': data_offsets leave the file");
  std::int64_t bytes = stored_size(entry.type->kind);
  const bool empty = std::find(entry.shape.begin(), entry.shape.end(), 0) != entry.shape.end();
  bool fits = true;
  for (const std::int64_t size : entry.shape)
    fits = fits && !__builtin_mul_overflow(bytes, size, &bytes);
  if (empty ? entry.end != entry.begin : !fits || entry.end - entry.begin != bytes) {
    file.refuse("tensor '", shown(entry.name), "': ", entry.shape, ' ', entry.type->name,
                " does not take ", entry.end - entry.begin, " bytes");
  }
}

// Sorts the entries by their bytes, which must fill the data without gap and overlap.
void sort_by_bytes(const FileName& file, std::vector<Entry>& entries, std::int64_t data_bytes) {
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::int64_t at = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != at)
      file.refuse("tensor '", shown(entry.name), "' begins at ", entry.begin, ", not at ", at);
    at = entry.end;
  }
  if (at != data_bytes) file.refuse("the tensors take ", at, " bytes of ", data_bytes);
}

}  // namespace

Header parse_header(const std::filesystem::path& path, const std::string& text,
                    std::int64_t data_bytes) {
  const FileName file{"load_safetensors", path};
  const json::Value root = json::parse(file, text, "the header ");
  if (!root.is_object()) file.refuse("the header is no JSON object");
  Header header;
  for (const auto& [name, value] : root.items()) {
    if (name == kMetadata) {
      read_metadata(file, value, header.metadata);
    } else {
      header.entries.push_back(EntryReader(file, name, value).read());
      check_length(file, header.entries.back(), data_bytes);
    }
  }
  sort_by_bytes(file, header.entries, data_bytes);
  return header;
}

// --- the index of several files

WeightMap read_index(const FileName& file) {
  const json::Value root = json::read(file);
  const json::Value* map = json::find(root, "weight_map");
  if (map == nullptr || !map->is_object()) file.refuse("there is no weight_map");
  WeightMap files;
  for (const auto& [tensor, value] : map->items()) {
    const auto* name = value.get_ptr<const std::string*>();
    if (name == nullptr || name->empty() || *name == "." || *name == ".." ||
        name->find_first_of(std::string_view("/\0", 2)) != std::string::npos) {
      file.refuse("the weight_map names no file beside it for '", shown(tensor), '\'');
    }
    files.emplace(tensor, *name);
  }
  return files;
}

std::string index_text(const WeightMap& files, std::int64_t total_size) {
  const json::Value index{{"metadata", {{"total_size", total_size}}},
                          {"weight_map", json::Value(files)}};
  return index.dump(2) + '\n';
}

}  // namespace tend::nn::safetensors
