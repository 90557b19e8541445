#include <tend/nn/archives/pt_storages.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <tend/nn/archives/byte_reader.h>
#include <tend/nn/archives/pickle_reader.h>
#include <tend/nn/archives/zip_reader.h>
#include <tend/nn/files/file_name.h>
#include <tend/nn/files/input_file.h>

namespace tend::nn::pickle {
namespace {

constexpr std::string_view kLoadPt = "load_pt";
// PyTorch's magic number 0x1950a86a20f9469cfc6c, as a pickle.
constexpr std::string_view kLegacyMagic("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.",
                                        15);
constexpr std::int64_t kLegacyVersion = 1001;

// Bytes that the storage takes in a file; refuse(...) if that is more than `most`.
template <class Refuse>
std::uint64_t stored_bytes(const StorageName& name, std::uint64_t most, const Refuse& refuse) {
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(name.numel, stored_size(name.kind), &bytes) || bytes < 0 ||
      static_cast<std::uint64_t>(bytes) > most) {
    refuse("storage '", shown(name.key), "' of ", name.numel, " elements does not fit ", most,
           " bytes");
  }
  return static_cast<std::uint64_t>(bytes);
}

// --- zip

// The memory that an archive may take. Files of torch.save are not packed, and need no limit; a few
// kilobytes of deflated zeros would take gigabytes.
class Budget {
 public:
  explicit Budget(const ZipReader& archive)
      : archive_(archive), left_((std::uint64_t{64} << 20) + 64 * archive.file().size()) {}

  /// For `count` things of `bytes` bytes each.
  void pay(std::int64_t count, std::int64_t bytes) {
    std::uint64_t cost = 0;
    if (__builtin_mul_overflow(count, bytes, &cost) || cost > left_)
      archive_.refuse("takes more than 64 times its own size when it is unpacked");
    left_ -= cost;
  }

 private:
  const ZipReader& archive_;
  std::uint64_t left_;
};

class ZipStorages {
 public:
  ZipStorages(const ZipReader& archive, std::string folder, Budget& budget)
      : archive_(archive), folder_(std::move(folder)), budget_(budget) {
    const std::string name = folder_ + "byteorder";
    if (!archive_.contains(name)) return;
    const std::string order = archive_.read_all(name, 6);
    if (order != "little" && order != "big")
      archive_.refuse("the byte order '", shown(order), "' is unknown");
    swapped_ = order == "big";
  }

  Array get(const StorageName& name) {
    const auto found = arrays_.find(name.key);
    if (found != arrays_.end()) {
      if (found->second.first != name.kind || found->second.second.numel() != name.numel)
        archive_.refuse("storage '", shown(name.key), "' has two sizes or dtypes");
      return found->second.second;
    }
    ZipReader::Entry entry = archive_.open(folder_ + "data/" + name.key);
    const auto refuse = [&](const auto&... parts) { archive_.refuse(parts...); };
    if (stored_bytes(name, entry.size(), refuse) != entry.size()) {
      archive_.refuse("storage '", shown(name.key), "' of ", name.numel, " elements has ",
                      entry.size(), " bytes");
    }
    budget_.pay(name.numel, item_size(widened(name.kind)));
    Array out = Array::empty({name.numel}, widened(name.kind));
    read_numbers(
        name.kind, swapped_, [&](void* to, std::uint64_t bytes) { entry.read(to, bytes); }, out);
    entry.finish();
    arrays_.emplace(name.key, std::pair(name.kind, out));
    return out;
  }

 private:
  const ZipReader& archive_;
  std::string folder_;
  Budget& budget_;
  bool swapped_ = false;
  std::map<std::string, std::pair<NumberKind, Array>> arrays_;
};

std::string folder_of_pickle(const ZipReader& archive) {
  constexpr std::string_view kPickle = "data.pkl";
  for (const std::string& name : archive.names()) {
    const std::size_t slash = name.find('/');
    if (slash != std::string::npos && std::string_view(name).substr(slash + 1) == kPickle)
      return name.substr(0, slash + 1);
  }
  archive.refuse("is no file of torch.save: it has no data.pkl in a folder");
}

// --- before PyTorch 1.6

// Storages whose elements follow later.
class LaterStorages {
 public:
  explicit LaterStorages(ByteReader& reader) : reader_(reader) {}

  Array get(const StorageName& name) {
    const auto found = storages_.find(name.key);
    if (found != storages_.end()) {
      if (found->second.kind != name.kind || found->second.elements.numel() != name.numel)
        reader_.refuse("storage '", shown(name.key), "' has two sizes or dtypes");
      return found->second.elements;
    }
    // What is promised in sum may not be more than the file still has.
    const auto refuse = [&](const auto&... parts) { reader_.refuse(parts...); };
    promised_ += stored_bytes(name, reader_.left() - std::min(promised_, reader_.left()), refuse);
    Array elements = Array::empty({name.numel}, widened(name.kind));
    storages_.emplace(name.key, Later{name.kind, elements, false});
    return elements;
  }

  void read(const PtValue& keys) {
    const PtList* list = keys.as<PtList>();
    if (list == nullptr) reader_.refuse("has no list of storages");
    for (const PtValue& each : *list) {
      const std::string* key = each.as<std::string>();
      const auto found = key == nullptr ? storages_.end() : storages_.find(*key);
      if (found == storages_.end() || std::exchange(found->second.is_read, true))
        reader_.refuse("its list of storages has one that is unknown or there twice");
      read_one(found->first, found->second);
    }
    for (const auto& [key, storage] : storages_)
      if (!storage.is_read) reader_.refuse("storage '", shown(key), "' is missing");
    if (reader_.left() > 0) reader_.refuse(reader_.left(), " bytes follow the last storage");
  }

 private:
  struct Later {
    NumberKind kind;
    Array elements;
    bool is_read;
  };
  void read_one(const std::string& key, const Later& storage) {
    const std::uint64_t count = reader_.number(8);
    if (count != static_cast<std::uint64_t>(storage.elements.numel())) {
      reader_.refuse("storage '", shown(key), "' has ", count, " elements, not ",
                     storage.elements.numel());
    }
    const auto read = [&](void* to, std::uint64_t bytes) { reader_.read(to, bytes); };
    read_numbers(storage.kind, /*swapped=*/false, read, storage.elements);
  }

  ByteReader& reader_;
  std::map<std::string, Later> storages_;
  std::uint64_t promised_ = 0;
};

}  // namespace

PtValue read_zip(const std::filesystem::path& path) {
  const ZipReader archive(path, kLoadPt);
  const std::string folder = folder_of_pickle(archive);
  Budget budget(archive);
  ZipStorages storages(archive, folder, budget);
  const std::string text = archive.read_all(folder + "data.pkl", kMaxPickle);
  budget.pay(static_cast<std::int64_t>(text.size()), 8);  // of its objects
  std::size_t at = 0;
  ByteReader reader(kLoadPt, path.string(), text.size(), [&](void* to, std::uint64_t bytes) {
    text.copy(static_cast<char*>(to), bytes, at);
    at += bytes;
  });
  PtValue value = read(reader, [&](const StorageName& name) { return storages.get(name); });
  if (reader.left() > 0) reader.refuse("something follows the pickle");
  return value;
}

PtValue read_legacy(const std::filesystem::path& path) {
  InputFile file(path, kLoadPt);
  ByteReader reader(kLoadPt, path.string(), file.size(),
                    [&](void* to, std::uint64_t bytes) { file.read(to, bytes); });
  if (reader.left() < kLegacyMagic.size() || reader.text(kLegacyMagic.size()) != kLegacyMagic)
    reader.refuse("is no file of torch.save");
  const PtValue version = read(reader);
  const std::int64_t* number = version.as<std::int64_t>();
  if (number == nullptr || *number != kLegacyVersion)
    reader.refuse("its version is not ", kLegacyVersion);
  read(reader);  // sizes of C's types, which change nothing
  LaterStorages storages(reader);
  PtValue value = read(reader, [&](const StorageName& name) { return storages.get(name); });
  storages.read(read(reader));
  return value;
}

}  // namespace tend::nn::pickle
