#include <tend/nn/files/safetensors_shards.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <list>
#include <system_error>
#include <utility>
#include <vector>

#include <tend/core/base/error.h>
#include <tend/nn/files/descriptor.h>
#include <tend/nn/files/file_name.h>
#include <tend/nn/files/safetensors_header.h>
#include <tend/nn/files/safetensors_index.h>
#include <tend/nn/files/uninterrupted.h>
#include <tend/nn/files/write_file.h>

namespace tend::nn {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSaveShards = "save_safetensors_shards";
constexpr const char* kWhole = "model.safetensors";
constexpr const char* kUnfinished = ".tmp";
constexpr const char* kIndex = "model.safetensors.index.json";

[[noreturn]] void refuse_errno(const fs::path& path) {
  FileName{kSaveShards, path}.refuse("cannot be written: ", std::generic_category().message(errno));
}

void remove_file(const fs::path& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) refuse_errno(path);
}

std::string shard_name(std::size_t number, std::size_t count) {
  const auto padded = [](std::size_t value) {
    const std::string digits = std::to_string(value);
    return std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits;
  };
  return "model-" + padded(number) + "-of-" + padded(count) + ".safetensors";
}

// The folder, which one thread of one process at a time writes shards to.
class LockedFolder {
 public:
  explicit LockedFolder(const fs::path& path)
      : folder_(uninterrupted(
            [&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); })) {
    if (!folder_.is_open()) refuse_errno(path);
    // A file system without locks has none to wait for.
    uninterrupted([&] { return ::flock(folder_.get(), LOCK_EX); });
  }
  void flush() const {
    uninterrupted([&] { return ::fsync(folder_.get()); });
  }

 private:
  Descriptor folder_;
};

// Whether the name is that of a file that save_shards makes, with any number of shards.
bool is_own_name(std::string_view name) {
  if (name == kWhole || name == kIndex) return true;
  std::size_t number = 0, count = 0;
  int end = 0;
  const std::string text(name);
  return std::sscanf(text.c_str(), "model-%zu-of-%zu%n", &number, &count, &end) == 2 &&
         text == shard_name(number, count);
}

// Removes what a killed process left, maybe of another number of shards. The folder's lock tells
// that no other is at work.
void remove_unfinished(const fs::path& folder) {
  std::vector<fs::path> found;
  for_each_name(folder, [&](const std::string& name) {
    const std::string_view text = name;
    if (text.ends_with(kUnfinished) &&
        is_own_name(text.substr(0, text.size() - std::string_view(kUnfinished).size())))
      found.push_back(folder / name);
  });
  for (const fs::path& each : found) ::unlink(each.c_str());
  remove_leftovers(folder, "model");  // of files that write_file had begun
}

// Files that are whole, but not under their names yet. What got none goes with this.
class Prepared {
 public:
  explicit Prepared(fs::path folder) : folder_(std::move(folder)) {}
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;
  ~Prepared() {
    for (const auto& [temporary, path] : files_) ::unlink(temporary.c_str());
  }

  // The path to write the file under; it need not come to be there.
  const fs::path& add(const std::string& name) {
    const fs::path& temporary =
        files_.emplace_back(folder_ / (name + kUnfinished), folder_ / name).first;
    ::unlink(temporary.c_str());  // a link would have its target written
    return temporary;
  }
  // Refuses names that are sure not to be had, such as those of folders.
  void check_names() const {
    for (const auto& [temporary, path] : files_) check_can_write(path);
  }
  void publish() {
    for (; !files_.empty(); files_.pop_front()) {
      const auto& [temporary, path] = files_.front();
      if (::rename(temporary.c_str(), path.c_str()) != 0) refuse_errno(path);
    }
  }

 private:
  fs::path folder_;
  std::list<std::pair<fs::path, fs::path>> files_;
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
  const LockedFolder locked(folder);
  const fs::path whole = folder / kWhole, index = folder / kIndex;
  const bool is_whole = shards.all.size() == 1;
  remove_unfinished(folder);
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
  locked.flush();
  prepared.publish();
  if (is_whole) remove_file(index);  // which says less than the whole file
  locked.flush();
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
