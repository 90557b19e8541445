#include <tend/nn/archives/pt.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <tend/core/base/error.h>
#include <tend/nn/archives/byte_reader.h>
#include <tend/nn/archives/pickle_objects.h>
#include <tend/nn/archives/pickle_reader.h>
#include <tend/nn/archives/zip_reader.h>
#include <tend/nn/archives/zip_writer.h>
#include <tend/nn/files/file_name.h>
#include <tend/nn/files/input_file.h>
#include <tend/nn/files/json.h>
#include <tend/nn/files/stored_numbers.h>
#include <tend/nn/files/write_file.h>

namespace tend::nn {
// These are not defined in the class, because PtItem is incomplete there.
PtValue::PtValue() = default;
PtValue::PtValue(const PtValue& other) = default;
PtValue::PtValue(PtValue&& other) noexcept = default;
PtValue& PtValue::operator=(const PtValue& other) = default;
PtValue& PtValue::operator=(PtValue&& other) noexcept = default;
PtValue::~PtValue() = default;
PtValue::PtValue(bool value) : data(value) {}
PtValue::PtValue(std::int64_t value) : data(value) {}
PtValue::PtValue(double value) : data(value) {}
PtValue::PtValue(const char* text) : data(std::string(text)) {}
PtValue::PtValue(std::string text) : data(std::move(text)) {}
PtValue::PtValue(Tensor tensor) : data(std::move(tensor)) {}
PtValue::PtValue(PtList list) : data(std::move(list)) {}
PtValue::PtValue(PtTuple tuple) : data(std::move(tuple)) {}
PtValue::PtValue(PtDict dict) : data(std::move(dict)) {}
PtValue::PtValue(const StateDict& tensors) {
  PtDict dict;
  for (const auto& [name, tensor] : tensors) dict.push_back({name, tensor});
  data = std::move(dict);
}

const PtValue& PtValue::at(std::string_view key) const {
  const PtDict* dict = as<PtDict>();
  if (dict == nullptr)
    fail<IndexError>("PtValue::at", "'", shown(key), "': the value is not a dict");
  const auto same = [&](const PtItem& item) {
    const auto* text = std::get_if<std::string>(&item.key);
    return text != nullptr && *text == key;
  };
  const auto found = std::find_if(dict->begin(), dict->end(), same);
  if (found == dict->end()) fail<IndexError>("PtValue::at", "no key '", shown(key), "'");
  return found->value;
}

StateDict PtValue::state_dict() const {
  const PtDict* dict = as<PtDict>();
  if (dict == nullptr) fail("PtValue::state_dict", "the value is not a dict");
  StateDict out;
  for (const PtItem& item : *dict) {
    const auto* name = std::get_if<std::string>(&item.key);
    if (name == nullptr) {
      fail("PtValue::state_dict", "the key ", std::get<std::int64_t>(item.key), " is not a text");
    }
    const Tensor* tensor = item.value.as<Tensor>();
    if (tensor == nullptr) fail("PtValue::state_dict", "'", shown(*name), "' is not a tensor");
    out.emplace_back(*name, *tensor);
  }
  return out;
}

namespace {

using pickle::StorageName;

// PyTorch's magic number 0x1950a86a20f9469cfc6c, as a pickle.
constexpr std::string_view kLegacyMagic("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.",
                                        15);
constexpr std::int64_t kLegacyVersion = 1001;

// A storage of the file that load_pt reads.
struct LoadedStorage {
  NumberKind kind;
  Array elements;
  bool is_read;
};
using LoadedStorages = std::map<std::string, LoadedStorage>;

// Returns the elements of a storage. `make` creates them at the first call for the storage.
template <class Make>
Array find_storage(LoadedStorages& known, const StorageName& name, const FileName& file,
                   const Make& make) {
  auto found = known.find(name.key);
  if (found == known.end())
    found = known.emplace(name.key, LoadedStorage{name.kind, make(), false}).first;
  const LoadedStorage& storage = found->second;
  if (storage.kind != name.kind || storage.elements.numel() != name.numel)
    file.refuse("storage '", shown(name.key), "' has two sizes or dtypes");
  return storage.elements;
}

[[noreturn]] void refuse_size(const FileName& file, const StorageName& name, std::uint64_t bytes) {
  file.refuse("storage '", shown(name.key), "' of ", name.numel, " elements does not fit ", bytes,
              " bytes");
}

// A zip archive: NAME/data.pkl, NAME/data/KEY for each storage, and NAME/byteorder.
class ZippedFile {
 public:
  explicit ZippedFile(const FileName& file)
      : file_(file),
        archive_(file.path, file.operation),
        folder_(folder_of_pickle()),
        memory_left_((std::uint64_t{64} << 20) + 64 * archive_.file().size()) {
    const std::string name = folder_ + "byteorder";
    if (!archive_.contains(name)) return;
    const std::string order = archive_.read_all(name, 6);
    if (order != "little" && order != "big")
      file_.refuse("the byte order '", shown(order), "' is unknown");
    swapped_ = order == "big";
  }

  PtFile read() {
    const std::string text = archive_.read_all(folder_ + "data.pkl", pickle::kMaxPickle);
    use_memory(static_cast<std::int64_t>(text.size()), 8);  // for the objects of the pickle
    ByteReader reader(file_, text);
    PtFile value = pickle::read(reader, [&](const StorageName& name) {
      return find_storage(storages_, name, file_, [&] { return elements_of(name); });
    });
    if (reader.left() > 0) file_.refuse("something follows the pickle");
    return value;
  }

 private:
  std::string folder_of_pickle() const {
    for (const std::string& name : archive_.names()) {
      const std::size_t slash = name.find('/');
      if (slash != std::string::npos && name.substr(slash + 1) == "data.pkl")
        return name.substr(0, slash + 1);
    }
    file_.refuse("is not a file of torch.save: it has no data.pkl in a folder");
  }

  // Subtracts count * bytes from the memory limit, or refuses the file. The limit is for compressed
  // files, which torch.save does not write. A few kilobytes of such a file can unpack to gigabytes.
  void use_memory(std::int64_t count, std::int64_t bytes) {
    std::uint64_t cost = 0;
    if (__builtin_mul_overflow(count, bytes, &cost) || cost > memory_left_)
      file_.refuse("needs more memory than 64 MiB plus 64 times its size");
    memory_left_ -= cost;
  }

  Array elements_of(const StorageName& name) {
    ZipReader::Entry entry = archive_.open(folder_ + "data/" + name.key);
    const auto bytes = stored_bytes(name.kind, {name.numel});
    if (!bytes || static_cast<std::uint64_t>(*bytes) != entry.size())
      refuse_size(file_, name, entry.size());
    use_memory(name.numel, item_size(widened(name.kind)));
    Array out = Array::empty({name.numel}, widened(name.kind));
    const auto read = [&](void* to, std::uint64_t count) { entry.read(to, count); };
    read_numbers(name.kind, swapped_, read, out);
    entry.finish();
    return out;
  }

  const FileName& file_;
  ZipReader archive_;
  std::string folder_;
  bool swapped_ = false;
  LoadedStorages storages_;
  std::uint64_t memory_left_;  // the bytes of memory that may still be used
};

// A file from before PyTorch 1.6. It has five pickles: a magic number, a version, facts about the
// system, the value, and the keys of the storages. The storages follow: for each, the number of
// elements and then the elements, little-endian.
class LegacyFile {
 public:
  explicit LegacyFile(const FileName& file)
      : file_(file), bytes_(read_text(file)), reader_(file, bytes_) {}

  PtFile read() {
    if (!bytes_.starts_with(kLegacyMagic)) file_.refuse("is not a file of torch.save");
    reader_.take(kLegacyMagic.size());
    const PtValue version = pickle::read(reader_);
    const std::int64_t* number = version.as<std::int64_t>();
    if (number == nullptr || *number != kLegacyVersion)
      file_.refuse("its version is not ", kLegacyVersion);
    pickle::read(reader_);  // the sizes of C's types, which are not needed
    PtFile value = pickle::read(reader_, [&](const StorageName& name) {
      return find_storage(storages_, name, file_, [&] { return allocate(name); });
    });
    read_storages(pickle::read(reader_));
    return value;
  }

 private:
  // Allocates memory for elements that follow later in the file. The elements of all storages must
  // fit into the rest of the file.
  Array allocate(const StorageName& name) {
    const auto bytes = stored_bytes(name.kind, {name.numel});
    const std::uint64_t left = reader_.left() - std::min(allocated_, reader_.left());
    if (!bytes || static_cast<std::uint64_t>(*bytes) > left) refuse_size(file_, name, left);
    allocated_ += static_cast<std::uint64_t>(*bytes);
    return Array::empty({name.numel}, widened(name.kind));
  }

  void read_storages(const PtValue& keys) {
    const PtList* list = keys.as<PtList>();
    if (list == nullptr) file_.refuse("has no list of storages");
    for (const PtValue& each : *list) {
      const std::string* key = each.as<std::string>();
      const auto found = key == nullptr ? storages_.end() : storages_.find(*key);
      if (found == storages_.end() || std::exchange(found->second.is_read, true))
        file_.refuse("its list of storages names an unknown storage, or a storage twice");
      read_storage(found->first, found->second);
    }
    for (const auto& [key, storage] : storages_)
      if (!storage.is_read) file_.refuse("storage '", shown(key), "' is missing");
    if (reader_.left() > 0) file_.refuse(reader_.left(), " bytes follow the last storage");
  }
  void read_storage(const std::string& key, const LoadedStorage& storage) {
    const auto count = static_cast<std::int64_t>(reader_.number(8)),
               wanted = storage.elements.numel();
    if (count != wanted)
      file_.refuse("storage '", shown(key), "' has ", count, " elements, not ", wanted);
    const auto read = [&](void* to, std::uint64_t bytes) { reader_.read(to, bytes); };
    read_numbers(storage.kind, /*swapped=*/false, read, storage.elements);
  }

  const FileName& file_;
  std::string bytes_;
  ByteReader reader_;
  LoadedStorages storages_;
  std::uint64_t allocated_ = 0;
};

}  // namespace

PtFile load_pt(const std::filesystem::path& path) {
  const FileName name{"load_pt", path};
  InputFile file(path, name.operation);
  std::string start(std::min<std::uint64_t>(file.size(), 2), '\0');
  file.read(start.data(), start.size());
  return start == "PK" ? ZippedFile(name).read() : LegacyFile(name).read();
}

namespace {

std::string_view storage_class(DType dtype) {
  switch (dtype) {
    case DType::boolean: return "torch\nBoolStorage\n";
    case DType::int64: return "torch\nLongStorage\n";
    case DType::float32: return "torch\nFloatStorage\n";
    case DType::float64: break;
  }
  return "torch\nDoubleStorage\n";
}

// The part of a storage that is written: its elements [begin, end).
struct Extent {
  std::size_t number = 0;
  Array array;  // any array in the storage
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::string_view bytes() const {
    const std::int64_t size = item_size(array.dtype());
    const auto* first = static_cast<const char*>(array.raw()) + (begin - array.offset()) * size;
    return end == begin ? std::string_view()
                        : std::string_view(first, static_cast<std::size_t>((end - begin) * size));
  }
};

// The storages of a value's tensors, in the order in which the tensors first use them.
class Extents {
 public:
  void add(const Array& array) {
    const auto [at, is_new] = numbers_.try_emplace(key(array), extents_.size());
    if (is_new) extents_.push_back({at->second, array, 0, 0});
    if (array.numel() == 0) return;
    Extent& extent = extents_[at->second];
    std::int64_t end = array.offset() + 1;
    for (std::size_t i = 0; i < array.shape().size(); ++i)
      end += (array.shape()[i] - 1) * array.strides()[i];
    const bool is_first = extent.begin == extent.end;
    extent.begin = is_first ? array.offset() : std::min(extent.begin, array.offset());
    extent.end = is_first ? end : std::max(extent.end, end);
  }
  const Extent& of(const Array& array) const { return extents_[numbers_.at(key(array))]; }
  const std::vector<Extent>& all() const { return extents_; }

 private:
  using Key = std::pair<const void*, DType>;
  static Key key(const Array& array) { return {array.storage().get(), array.dtype()}; }

  std::map<Key, std::size_t> numbers_;
  std::vector<Extent> extents_;
};

// Refuses values that cannot be written, and collects the storages.
class Collector {
 public:
  Collector(const FileName& file, Extents& extents) : file_(file), extents_(extents) {}

  void add(const PtValue& value, int depth) {
    if (depth > pickle::kMaxDepth)
      file_.refuse("lists and dicts nest deeper than ", pickle::kMaxDepth);
    if (const auto* text = value.as<std::string>()) check_text(*text);
    if (const auto* tensor = value.as<Tensor>()) {
      if (!tensor->defined()) file_.refuse("a tensor is undefined");
      if (tensor->shape().size() > pickle::kMaxPtDims)
        file_.refuse("a tensor has more than ", pickle::kMaxPtDims, " dimensions");
      extents_.add(tensor->array());
    }
    if (const auto* list = value.as<PtList>()) add_all(*list, depth);
    if (const auto* tuple = value.as<PtTuple>()) add_all(tuple->items, depth);
    if (const auto* dict = value.as<PtDict>()) add_dict(*dict, depth);
  }

 private:
  void check_text(const std::string& text) const {
    if (text.size() > std::numeric_limits<std::uint32_t>::max() || !json::is_utf8(text))
      file_.refuse("the text '", shown(text), "' is not UTF-8, or too long");
  }
  void add_all(const PtList& list, int depth) {
    for (const PtValue& each : list) add(each, depth + 1);
  }
  void add_dict(const PtDict& dict, int depth) {
    std::unordered_set<std::string_view> texts;
    std::unordered_set<std::int64_t> integers;
    for (const PtItem& item : dict) {
      if (const auto* text = std::get_if<std::string>(&item.key)) {
        check_text(*text);
        if (!texts.insert(*text).second) file_.refuse("the key '", shown(*text), "' is used twice");
      } else if (!integers.insert(std::get<std::int64_t>(item.key)).second) {
        file_.refuse("the key ", std::get<std::int64_t>(item.key), " is used twice");
      }
      add(item.value, depth + 1);
    }
  }

  const FileName& file_;
  Extents& extents_;
};

// Writes opcodes of protocol 2, as torch.save does, but without a memo.
class PickleWriter {
 public:
  explicit PickleWriter(const Extents& extents) : extents_(extents) {}

  std::string take(const PtValue& value) {
    out_ = "\x80\x02";
    put(value);
    out_ += '.';
    return std::move(out_);
  }

 private:
  void put(const PtValue& value) {
    std::visit([&](const auto& data) { put_data(data); }, value.data);
  }
  void put_data(std::monostate) { out_ += 'N'; }
  void put_data(bool value) { out_ += value ? '\x88' : '\x89'; }
  void put_data(std::int64_t value) {
    const bool is_small = static_cast<std::int32_t>(value) == value;
    out_ += is_small ? "J" : "\x8a\x08";
    for (int i = 0; i < (is_small ? 4 : 8); ++i) out_ += static_cast<char>(value >> (8 * i) & 0xff);
  }
  void put_data(double value) {
    out_ += 'G';
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (int i = 7; i >= 0; --i) out_ += static_cast<char>(bits >> (8 * i) & 0xff);
  }
  void put_data(const std::string& text) {
    out_ += 'X';
    for (int i = 0; i < 4; ++i) out_ += static_cast<char>(text.size() >> (8 * i) & 0xff);
    out_ += text;
  }
  void put_data(const PtList& list) {
    out_ += "](";
    for (const PtValue& each : list) put(each);
    out_ += 'e';
  }
  void put_data(const PtTuple& tuple) {
    out_ += '(';
    for (const PtValue& each : tuple.items) put(each);
    out_ += 't';
  }
  void put_data(const PtDict& dict) {
    out_ += "}(";
    for (const PtItem& item : dict) {
      std::visit([&](const auto& key) { put_data(key); }, item.key);
      put(item.value);
    }
    out_ += 'u';
  }
  void put_shape(const Shape& shape) {
    out_ += '(';
    for (const std::int64_t size : shape) put_data(size);
    out_ += 't';
  }
  void put_data(const Tensor& tensor) {
    const Array& array = tensor.array();
    const Extent& extent = extents_.of(array);
    out_ += "ctorch._utils\n_rebuild_tensor_v2\n((";
    put_data(std::string("storage"));
    out_ += 'c';
    out_ += storage_class(array.dtype());
    put_data(std::to_string(extent.number));
    put_data(std::string("cpu"));
    put_data(extent.end - extent.begin);
    out_ += "tQ";
    put_data(array.numel() == 0 ? std::int64_t{0} : array.offset() - extent.begin);
    put_shape(array.shape());
    put_shape(array.strides());
    put_data(tensor.requires_grad());
    out_ += "ccollections\nOrderedDict\n)RtR";
  }

  const Extents& extents_;
  std::string out_;
};

std::vector<ZipEntry> entries_of(const std::string& pickle, const Extents& extents) {
  std::vector<ZipEntry> entries{{"archive/data.pkl", {pickle}}, {"archive/byteorder", {"little"}}};
  for (const Extent& extent : extents.all())
    entries.push_back({"archive/data/" + std::to_string(extent.number), {extent.bytes()}});
  entries.push_back({"archive/version", {"3\n"}});
  return entries;
}

}  // namespace

void save_pt(const std::filesystem::path& path, const PtValue& value) {
  Extents extents;
  const FileName file{"save_pt", path};
  Collector(file, extents).add(value, 0);
  const std::string pickle = PickleWriter(extents).take(value);
  if (pickle.size() > pickle::kMaxPickle)
    file.refuse("the data other than elements of tensors takes ", pickle.size(),
                " bytes, more than 64 MiB");
  const auto fill = [&](const PutBytesAt& put) {
    put_zip(file, entries_of(pickle, extents), /*compressed=*/false, put);
  };
  write_file_at(path, fill, "save_pt");
}

void save_pt(const std::filesystem::path& path, const StateDict& tensors) {
  save_pt(path, PtValue(tensors));
}

}  // namespace tend::nn
