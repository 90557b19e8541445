#include <tend/nn/files/safetensors_shards.h>

#include <system_error>
#include <utility>
#include <vector>

#include <tend/core/base/error.h>
#include <tend/nn/files/file_name.h>
#include <tend/nn/files/safetensors_header.h>
#include <tend/nn/files/safetensors_index.h>
#include <tend/nn/files/write_file.h>

namespace tend::nn {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSaveShards = "save_safetensors_shards";
constexpr const char* kWhole = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";

std::string shard_name(std::size_t number, std::size_t count) {
  const auto padded = [](std::size_t value) {
    const std::string digits = std::to_string(value);
    return std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits;
  };
  return "model-" + padded(number) + "-of-" + padded(count) + ".safetensors";
}

// Files that are whole, but have temporary names until publish().
class Unpublished {
 public:
  explicit Unpublished(fs::path folder) : folder_(std::move(folder)) {}
  Unpublished(const Unpublished&) = delete;
  Unpublished& operator=(const Unpublished&) = delete;
  ~Unpublished() {
    std::error_code error;
    for (const std::string& name : names_) fs::remove(temporary(name), error);
  }

  // The path to write the file `name` to.
  fs::path add(const std::string& name) {
    check_can_write(folder_ / name);
    names_.push_back(name);
    return temporary(name);
  }
  void publish() {
    for (const std::string& name : names_) fs::rename(temporary(name), folder_ / name);
    names_.clear();
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
    const NumberKind kind = safetensors::stored_type(tensor.dtype(), options.dtype).kind;
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
                 const safetensors::FileBeside* beside) try {
  Unpublished files(folder);
  const bool is_whole = shards.all.size() == 1;
  if (is_whole) {
    save_safetensors(files.add(kWhole), shards.all[0], options);
  } else {
    safetensors::WeightMap names;
    for (std::size_t i = 0; i < shards.all.size(); ++i) {
      const std::string name = shard_name(i + 1, shards.all.size());
      save_safetensors(files.add(name), shards.all[i], options);
      for (const auto& [tensor_name, tensor] : shards.all[i]) names.emplace(tensor_name, name);
    }
    write_file(files.add(kIndex), safetensors::index_text(names, shards.bytes), kSaveShards);
  }
  if (beside) write_file(files.add(beside->name), beside->text, kSaveShards);
  // Without its index and config.json the folder is refused until all files have their names.
  if (beside) fs::remove(folder / beside->name);
  fs::remove(folder / kIndex);
  if (!is_whole) fs::remove(folder / kWhole);
  files.publish();
} catch (const fs::filesystem_error& error) {
  FileName{kSaveShards, folder}.refuse("cannot be written: ", error.code().message());
}

void save(const fs::path& folder, const StateDict& tensors, const ShardOptions& options,
          const safetensors::FileBeside* beside) {
  if (options.max_shard_size < 1)
    fail(kSaveShards, "a max_shard_size of ", options.max_shard_size, " bytes");
  const SafetensorsOptions of_each{options.dtype, options.metadata};
  safetensors::header_text(folder / kWhole, tensors, of_each);  // refuses names and sizes
  save_shards(folder, split(tensors, options), of_each, beside);
}

}  // namespace

void save_safetensors_shards(const fs::path& folder, const StateDict& tensors,
                             const ShardOptions& options) {
  save(folder, tensors, options, nullptr);
}

void safetensors::save_shards_with(const fs::path& folder, const StateDict& tensors,
                                   const ShardOptions& options, const FileBeside& beside) {
  save(folder, tensors, options, &beside);
}

}  // namespace tend::nn
