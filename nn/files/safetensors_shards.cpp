#include <tend/nn/files/safetensors_shards.h>

#include <unistd.h>

#include <system_error>
#include <utility>
#include <vector>

#include <tend/core/base/error.h>
#include <tend/nn/files/file_name.h>
#include <tend/nn/files/safetensors_header.h>
#include <tend/nn/files/write_file.h>

namespace tend::nn {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSaveShards = "save_safetensors_shards";
constexpr const char* kWhole = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";

void check(const fs::path& path, const std::error_code& error) {
  if (error) FileName{kSaveShards, path}.refuse("cannot be written: ", error.message());
}

void remove_file(const fs::path& path) {
  std::error_code error;
  fs::remove(path, error);
  check(path, error);
}

std::string shard_name(std::size_t number, std::size_t count) {
  const auto padded = [](std::size_t value) {
    const std::string digits = std::to_string(value);
    return std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits;
  };
  return "model-" + padded(number) + "-of-" + padded(count) + ".safetensors";
}

// Files that are whole, but do not have their names yet. Those that get no name are removed.
class Prepared {
 public:
  explicit Prepared(fs::path folder) : folder_(std::move(folder)) {}
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;
  ~Prepared() {
    for (const std::string& name : names_) ::unlink(temporary(name).c_str());
  }

  // The path to write the file of this name to.
  fs::path add(const std::string& name) {
    names_.push_back(name);
    ::unlink(temporary(name).c_str());  // a link would have its target written
    return temporary(name);
  }
  // Refuses names that are sure not to be had, such as those of folders.
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
                 const safetensors::FileBeside* beside) {
  const fs::path whole = folder / kWhole, index = folder / kIndex;
  const bool is_whole = shards.all.size() == 1;
  Prepared prepared(folder);
  if (is_whole) {
    save_safetensors(prepared.add(kWhole), shards.all[0], options);
  } else {
    safetensors::WeightMap files;
    for (std::size_t i = 0; i < shards.all.size(); ++i) {
      const std::string name = shard_name(i + 1, shards.all.size());
      save_safetensors(prepared.add(name), shards.all[i], options);
      for (const auto& [tensor_name, tensor] : shards.all[i]) files.emplace(tensor_name, name);
    }
    write_file(prepared.add(kIndex), safetensors::index_text(files, shards.bytes), kSaveShards);
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
  if (is_whole) remove_file(index);  // which says less than the whole file
}

void save(const fs::path& folder, const StateDict& tensors, const ShardOptions& options,
          const safetensors::FileBeside* beside) {
  if (options.max_shard_size < 1)
    fail(kSaveShards, "a max_shard_size of ", options.max_shard_size, " bytes");
  std::error_code error;
  fs::directory_iterator(folder, error);
  check(folder, error);
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
