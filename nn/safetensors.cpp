#include <tend/nn/safetensors.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <set>
#include <utility>

#include <tend/nn/half.h>
#include <tend/nn/write_file.h>

#include <nlohmann/json.hpp>

namespace tend::nn {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

using nlohmann::ordered_json;

// The longest header that is read, as in the reference implementation.
constexpr std::uint64_t kMostHeader = 100'000'000;
constexpr const char* kMetadata = "__metadata__";

template <class... Parts>
[[noreturn]] void fail_file(const char* operation, const std::filesystem::path& path,
                            const Parts&... parts) {
  fail<IoError>(operation, path.string(), ": ", parts...);
}

enum class Stored { f64, f32, f16, bf16, i64, boolean };

struct StoredType {
  const char* name;
  Stored type;
  std::int64_t bytes;
  DType dtype;
};

constexpr std::array kTypes{
    StoredType{"F64", Stored::f64, 8, float64}, StoredType{"F32", Stored::f32, 4, float32},
    StoredType{"F16", Stored::f16, 2, float32}, StoredType{"BF16", Stored::bf16, 2, float32},
    StoredType{"I64", Stored::i64, 8, int64},   StoredType{"BOOL", Stored::boolean, 1, boolean},
};

const char* stored_name(DType dtype) {
  const auto same = [&](const StoredType& each) {
    return each.dtype == dtype && each.bytes == item_size(dtype);
  };
  return std::find_if(kTypes.begin(), kTypes.end(), same)->name;
}

// --- writing

std::string header_text(const std::filesystem::path& path, const StateDict& tensors,
                        const std::map<std::string, std::string>& metadata) {
  ordered_json header = ordered_json::object();
  if (!metadata.empty()) header[kMetadata] = metadata;
  std::int64_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    if (name.empty() || header.contains(name) || name == kMetadata) {
      fail_file("save_safetensors", path, "the name '", name, "' is empty, reserved or used twice");
    }
    const std::int64_t end = offset + tensor.numel() * item_size(tensor.dtype());
    header[name] = {
        {"dtype", stored_name(tensor.dtype())},
        {"shape", std::vector<std::int64_t>(tensor.shape().begin(), tensor.shape().end())},
        {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::exception&) {
    fail_file("save_safetensors", path, "a name or a metadata text is not UTF-8");
  }
  // Spaces up to a multiple of 8 keep the elements aligned.
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

// --- reading

struct Entry {
  std::string name;
  const StoredType* type;
  Shape shape;
  std::int64_t begin;
  std::int64_t end;
};

class Reader {
 public:
  explicit Reader(const std::filesystem::path& path) : path_(path), file_(path, std::ios::binary) {
    std::error_code error;
    size_ = std::filesystem::file_size(path, error);
    if (!file_ || error) fail_file("load_safetensors", path_, "cannot be opened");
  }

  Safetensors read() {
    Safetensors out;
    const std::vector<Entry> entries = parse(read_header(), out.metadata);
    for (const Entry& entry : entries) out.tensors.emplace_back(entry.name, read_tensor(entry));
    return out;
  }

 private:
  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail_file("load_safetensors", path_, parts...);
  }

  void read_bytes(void* to, std::int64_t count) {
    if (count > 0 && !file_.read(static_cast<char*>(to), count)) refuse("ends too early");
  }

  std::string read_header() {
    std::uint64_t length = 0;
    if (size_ < sizeof length) refuse("is too short for a header");
    read_bytes(&length, sizeof length);
    if (length > kMostHeader || length > size_ - sizeof length) {
      refuse("a header of ", length, " bytes in a file of ", size_);
    }
    data_bytes_ = static_cast<std::int64_t>(size_ - sizeof length - length);
    std::string text(length, '\0');
    read_bytes(text.data(), static_cast<std::int64_t>(length));
    return text;
  }

  // The parser would keep the last of two equal names.
  ordered_json parse_unique(const std::string& text) const {
    std::set<std::string> names;
    std::string twice;
    const auto callback = [&](int depth, nlohmann::json::parse_event_t event,
                              ordered_json& parsed) {
      if (depth == 1 && event == nlohmann::json::parse_event_t::key) {
        const std::string name = parsed.get<std::string>();
        if (!names.insert(name).second) twice = name;
      }
      return true;
    };
    try {
      ordered_json header = ordered_json::parse(text, callback);
      if (!header.is_object()) refuse("the header is no JSON object");
      if (!twice.empty()) refuse("the name '", twice, "' is used twice");
      return header;
    } catch (const nlohmann::json::exception& error) {
      refuse("the header is no JSON: ", error.what());
    }
  }

  std::vector<Entry> parse(const std::string& text,
                           std::map<std::string, std::string>& metadata) const {
    std::vector<Entry> entries;
    // Named, because items() does not keep a temporary alive.
    const ordered_json header = parse_unique(text);
    for (const auto& [name, value] : header.items()) {
      if (name != kMetadata) {
        entries.push_back(parse_entry(name, value));
        continue;
      }
      if (!value.is_object()) refuse("__metadata__ is no object");
      for (const auto& [key, each] : value.items()) {
        if (!each.is_string()) refuse("__metadata__ '", key, "' is no text");
        metadata[key] = each.get<std::string>();
      }
    }
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    std::int64_t at = 0;
    for (const Entry& entry : entries) {
      if (entry.begin != at)
        refuse("tensor '", entry.name, "' begins at ", entry.begin, ", not at ", at);
      at = entry.end;
    }
    if (at != data_bytes_) refuse("the tensors take ", at, " bytes of ", data_bytes_);
    return entries;
  }

  Entry parse_entry(const std::string& name, const ordered_json& value) const {
    const auto bad = [&](const char* what) { refuse("tensor '", name, "': ", what); };
    if (!value.is_object() || value.size() != 3 || !value.contains("dtype") ||
        !value.contains("shape") || !value.contains("data_offsets")) {
      bad("needs dtype, shape and data_offsets, nothing else");
    }
    Entry entry{name, nullptr, {}, 0, 0};
    const ordered_json& dtype = value["dtype"];
    for (const StoredType& type : kTypes) {
      if (dtype == type.name) entry.type = &type;
    }
    if (entry.type == nullptr) bad("its dtype is none of F64, F32, F16, BF16, I64, BOOL");
    const ordered_json& shape = value["shape"];
    if (!shape.is_array() || shape.size() > 64) bad("its shape is no list of at most 64 sizes");
    for (const ordered_json& size : shape) entry.shape.push_back(whole_number(name, size));
    const ordered_json& offsets = value["data_offsets"];
    if (!offsets.is_array() || offsets.size() != 2) bad("data_offsets are not two numbers");
    entry.begin = whole_number(name, offsets[0]);
    entry.end = whole_number(name, offsets[1]);
    if (entry.end < entry.begin || entry.end > data_bytes_) bad("data_offsets leave the file");
    check_length(entry);
    return entry;
  }

  std::int64_t whole_number(const std::string& name, const ordered_json& value) const {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > std::uint64_t{1} << 62) {
      refuse("tensor '", name, "': ", value.dump(), " is no size");
    }
    return value.get<std::int64_t>();
  }

  void check_length(const Entry& entry) const {
    std::int64_t bytes = entry.type->bytes;
    const bool empty = std::find(entry.shape.begin(), entry.shape.end(), 0) != entry.shape.end();
    bool fits = true;
    for (const std::int64_t size : entry.shape)
      fits = fits && !__builtin_mul_overflow(bytes, size, &bytes);
    if (empty ? entry.end != entry.begin : !fits || entry.end - entry.begin != bytes) {
      refuse("tensor '", entry.name, "': ", entry.shape, ' ', entry.type->name, " does not take ",
             entry.end - entry.begin, " bytes");
    }
  }

  Tensor read_tensor(const Entry& entry) {
    Tensor out = empty(entry.shape, entry.type->dtype);
    const std::int64_t count = out.numel();
    if (entry.type->type == Stored::f16 || entry.type->type == Stored::bf16) {
      std::vector<std::uint16_t> halves(static_cast<std::size_t>(count));
      read_bytes(halves.data(), count * 2);
      float* to = out.data_ptr<float>();
      std::transform(halves.begin(), halves.end(), to,
                     entry.type->type == Stored::f16 ? half_to_float : bfloat_to_float);
    } else if (entry.type->type == Stored::boolean) {
      std::vector<unsigned char> bytes(static_cast<std::size_t>(count));
      read_bytes(bytes.data(), count);
      std::transform(bytes.begin(), bytes.end(), out.data_ptr<bool>(),
                     [](unsigned char byte) { return byte != 0; });
    } else {
      read_bytes(out.array().raw(), count * item_size(out.dtype()));
    }
    return out;
  }

  std::filesystem::path path_;
  std::ifstream file_;
  std::uintmax_t size_ = 0;
  std::int64_t data_bytes_ = 0;
};

}  // namespace

void save_safetensors(const std::filesystem::path& path, const StateDict& tensors,
                      const std::map<std::string, std::string>& metadata) {
  const std::string header = header_text(path, tensors, metadata);
  const std::uint64_t length = header.size();
  write_file(path, [&](const auto& put) {
    put(&length, sizeof length);
    put(header.data(), header.size());
    for (const auto& [name, tensor] : tensors) {
      const Array dense = tensor.array().contiguous();
      put(dense.raw(), static_cast<std::size_t>(dense.numel() * item_size(dense.dtype())));
    }
  });
}

Safetensors load_safetensors(const std::filesystem::path& path) {
  return Reader(path).read();
}

}  // namespace tend::nn
