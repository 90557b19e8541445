#include <tend/nn/files/safetensors.h>

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <iomanip>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include <tend/core/base/error.h>
#include <tend/nn/files/file_name.h>
#include <tend/nn/files/json.h>
#include <tend/nn/files/safetensors_format.h>
#include <tend/nn/files/write_file.h>

#include <nlohmann/json.hpp>

namespace tend::nn {
namespace {

namespace fs = std::filesystem;
using safetensors::kMaxDims, safetensors::kMaxHeader, safetensors::kMetadata,
    safetensors::kStoredTypes;
using safetensors::StoredType, safetensors::WeightMap;

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr const char* kSaveShards = "save_safetensors_shards";
constexpr const char* kWhole = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";

// --- one file

// The type in which elements of `dtype` are written.
StoredType stored_type(DType dtype, std::optional<HalfType> half) {
  NumberKind kind = kind_of(dtype);
  if (half && is_floating(dtype))
    kind = *half == HalfType::float16 ? NumberKind::f16 : NumberKind::bf16;
  return *std::ranges::find(kStoredTypes, kind, &StoredType::kind);
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

// The header for these tensors, padded to a multiple of 8 bytes. The tensors' elements follow one
// another. Throws an IoError if the format cannot store a tensor or a name.
std::string header_text(const FileName& file, const StateDict& tensors,
                        const SafetensorsOptions& options) {
  using Json = nlohmann::ordered_json;
  Json::object_t header;  // emplace_back, unlike its operator[], does not search for the name
  if (!options.metadata.empty()) header.emplace_back(kMetadata, options.metadata);
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
    const StoredType type = stored_type(tensor.dtype(), options.dtype);
    const std::int64_t end = end_of(file, name, tensor, stored_size(type.kind), begin);
    const std::vector<std::int64_t> shape(tensor.shape().begin(), tensor.shape().end());
    header.emplace_back(
        name, Json{{"dtype", type.name}, {"shape", shape}, {"data_offsets", {begin, end}}});
    begin = end;
  }
  std::string text;
  try {
    text = Json(std::move(header)).dump();
  } catch (const Json::type_error&) {
    file.refuse("a name or a metadata text is not UTF-8");
  }
  // Spaces keep the elements aligned.
  text.resize((text.size() + 7) / 8 * 8, ' ');
  if (text.size() > kMaxHeader) {
    file.refuse("names and metadata have ", text.size(), " bytes, but readers accept at most ",
                kMaxHeader);
  }
  return text;
}

// --- a folder of shards

void check(const fs::path& path, const std::error_code& error) {
  if (error) FileName{kSaveShards, path}.refuse("cannot be written: ", error.message());
}

void remove_file(const fs::path& path) {
  std::error_code error;
  fs::remove(path, error);
  check(path, error);
}

std::string shard_name(std::size_t number, std::size_t count) {
  std::ostringstream out;
  out << std::setfill('0') << "model-" << std::setw(5) << number << "-of-" << std::setw(5) << count
      << ".safetensors";
  return out.str();
}

// Files that are complete but do not have their final names yet. The destructor removes files that
// did not get their names.
class Prepared {
 public:
  explicit Prepared(fs::path folder) : folder_(std::move(folder)) {}
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;
  ~Prepared() {
    for (const std::string& name : names_) ::unlink(temporary(name).c_str());
  }

  // The path at which to write the file that will have this name.
  fs::path add(const std::string& name) {
    names_.push_back(name);
    return temporary(name);
  }
  // Throws an Error if a file cannot get its name, for example because a folder has that name.
  void check_names() const {
    for (const std::string& name : names_) check_can_write(folder_ / name);
  }
  void publish() const {
    for (const std::string& name : names_) {
      std::error_code error;
      fs::rename(temporary(name), folder_ / name, error);
      check(folder_ / name, error);
    }
  }

 private:
  fs::path temporary(const std::string& name) const { return folder_ / (name + ".tmp"); }

  fs::path folder_;
  std::vector<std::string> names_;
};

struct Shards {
  std::vector<StateDict> all;
  std::int64_t bytes = 0;
};

Shards split(const StateDict& tensors, const ShardOptions& options) {
  Shards shards;
  shards.all.emplace_back();
  std::int64_t room = options.max_shard_size;
  for (const auto& [name, tensor] : tensors) {
    const NumberKind kind = stored_type(tensor.dtype(), options.dtype).kind;
    const std::int64_t size = tensor.numel() * stored_size(kind);
    if (size > room && !shards.all.back().empty()) {
      shards.all.emplace_back();
      room = options.max_shard_size;
    }
    shards.all.back().emplace_back(name, tensor);
    room -= size;
    shards.bytes += size;
  }
  return shards;
}

void save_shards(const fs::path& folder, const Shards& shards, const SafetensorsOptions& options,
                 const safetensors::FileBeside* beside) {
  const fs::path whole = folder / kWhole, index = folder / kIndex;
  const bool is_whole = shards.all.size() == 1;
  Prepared prepared(folder);
  if (is_whole) {
    save_safetensors(prepared.add(kWhole), shards.all[0], options);
  } else {
    WeightMap files;
    for (std::size_t i = 0; i < shards.all.size(); ++i) {
      const std::string name = shard_name(i + 1, shards.all.size());
      save_safetensors(prepared.add(name), shards.all[i], options);
      for (const auto& [tensor_name, tensor] : shards.all[i]) files.emplace(tensor_name, name);
    }
    const json::Value weights{{"metadata", {{"total_size", shards.bytes}}}, {"weight_map", files}};
    write_file(prepared.add(kIndex), weights.dump(2) + '\n', kSaveShards);
  }
  if (beside) write_file(prepared.add(beside->name), beside->text, kSaveShards);
  prepared.check_names();
  check_can_write(whole);
  if (beside) remove_file(folder / beside->name);
  if (!is_whole) {
    remove_file(index);
    remove_file(whole);
  }
  prepared.publish();
  if (is_whole) remove_file(index);  // the old index, which would name older files
}

void save(const fs::path& folder, const StateDict& tensors, const ShardOptions& options,
          const safetensors::FileBeside* beside) {
  if (options.max_shard_size < 1)
    fail(kSaveShards, "max_shard_size must be at least 1, got ", options.max_shard_size);
  std::error_code error;
  fs::directory_iterator(folder, error);
  check(folder, error);
  const SafetensorsOptions of_each{options.dtype, options.metadata};
  header_text({kSaveShards, folder}, tensors, of_each);  // checks names and sizes
  save_shards(folder, split(tensors, options), of_each, beside);
}

}  // namespace

void save_safetensors(const fs::path& path, const StateDict& tensors,
                      const SafetensorsOptions& options) {
  const std::string header = header_text({"save_safetensors", path}, tensors, options);
  const std::uint64_t length = header.size();
  const auto fill = [&](const PutBytes& put) {
    put(&length, sizeof length);
    put(header.data(), header.size());
    for (const auto& [name, tensor] : tensors) {
      write_numbers(stored_type(tensor.dtype(), options.dtype).kind, tensor.array().contiguous(),
                    put);
    }
  };
  write_file(path, fill, "save_safetensors");
}

void save_safetensors_shards(const fs::path& folder, const StateDict& tensors,
                             const ShardOptions& options) {
  save(folder, tensors, options, nullptr);
}

void safetensors::save_shards_with(const fs::path& folder, const StateDict& tensors,
                                   const ShardOptions& options,
                                   const safetensors::FileBeside& beside) {
  save(folder, tensors, options, &beside);
}

}  // namespace tend::nn
