#include <map>
#include <string>

#include <tend/nn/archives/pickle_objects.h>
#include <tend/nn/archives/pickle_reader.h>
#include <tend/nn/archives/pt_storages.h>
#include <tend/nn/archives/tar_reader.h>
#include <tend/nn/files/numbers.h>

namespace tend::nn::pickle {
namespace {

constexpr std::uint64_t kMaxTarDims = 64;

// What a tar of torch.save holds, by the numbers that its parts have for each other.
class TarContents {
 public:
  explicit TarContents(const TarReader& archive) : archive_(archive) {}

  void read_storages() {
    ByteReader reader = archive_.open("storages");
    for (std::int64_t left = count(reader); left > 0; --left) read_storage(reader);
    const PtValue views = read_table(reader);
    const auto* list = views.as<PtList>();
    if (list == nullptr) reader.refuse("has no list of views");
    for (const PtValue& view : *list) add_view(reader, view);
    check_end(reader);
  }
  void read_tensors() {
    ByteReader reader = archive_.open("tensors");
    for (std::int64_t left = count(reader); left > 0; --left) read_tensor(reader);
    check_end(reader);
  }
  PtValue read_value() {
    ByteReader reader = archive_.open("pickle");
    const auto tensor = [&](std::int64_t number) {
      const auto found = tensors_.find(number);
      if (found == tensors_.end()) reader.refuse("there is no tensor ", number);
      return found->second;
    };
    PtValue value = read(reader, {.tensor = tensor});
    check_end(reader);
    return value;
  }

 private:
  // A pickle of a table: what has numbers and classes, and no tensors.
  static PtValue read_table(ByteReader& reader) { return read(reader, {.has_classes = true}); }
  static void check_end(const ByteReader& reader) {
    if (reader.left() > 0) reader.refuse(reader.left(), " bytes follow its last part");
  }
  static std::int64_t count(ByteReader& reader) {
    const PtValue value = read(reader);
    const auto* number = value.as<std::int64_t>();
    if (number == nullptr || *number < 0) reader.refuse("does not say how many parts it has");
    return *number;
  }
  // The parts of a tuple of so many.
  static const PtList& parts_of(const ByteReader& reader, const PtValue& value, std::size_t parts) {
    const auto* tuple = value.as<PtTuple>();
    if (tuple == nullptr || tuple->items.size() != parts)
      reader.refuse("has something else where a tuple of ", parts, " must be");
    return tuple->items;
  }
  static std::int64_t number(const ByteReader& reader, const PtValue& value) {
    const auto* number = value.as<std::int64_t>();
    if (number == nullptr) reader.refuse("has something else where a number must be");
    return *number;
  }

  const Array& storage(const ByteReader& reader, const PtValue& key) const {
    const std::int64_t wanted = number(reader, key);
    const auto found = storages_.find(wanted);
    if (found == storages_.end()) reader.refuse("there is no storage ", wanted);
    return found->second;
  }
  void add_storage(const ByteReader& reader, std::int64_t key, const Array& elements) {
    if (!storages_.try_emplace(key, elements).second)
      reader.refuse("storage ", key, " is there twice");
  }

  // (number, location, class), the count of the elements, and these.
  void read_storage(ByteReader& reader) {
    const PtValue value = read_table(reader);
    const PtList& parts = parts_of(reader, value, 3);
    const std::int64_t key = number(reader, parts[0]);
    const auto* type = parts[2].as<std::string>();
    const NumberKind* kind = type == nullptr ? nullptr : storage_kind(*type);
    if (kind == nullptr) reader.refuse("storage ", key, " has no class of storages");
    const StorageName name{*kind, std::to_string(key), static_cast<std::int64_t>(reader.number(8))};
    stored_bytes(name, reader.left(), [&](const auto&... text) { reader.refuse(text...); });
    const Array elements = Array::empty({name.numel}, widened(*kind));
    const auto read_bytes = [&](void* to, std::uint64_t bytes) { reader.read(to, bytes); };
    read_numbers(*kind, /*swapped=*/false, read_bytes, elements);
    add_storage(reader, key, elements);
  }

  // (number, number of the whole, first element, elements)
  void add_view(const ByteReader& reader, const PtValue& view) {
    const PtList& parts = parts_of(reader, view, 4);
    const Array& whole = storage(reader, parts[1]);
    const Tensor part = tensor_in(reader, "a view", whole, number(reader, parts[2]),
                                  {size(reader, number(reader, parts[3]))}, {1});
    add_storage(reader, number(reader, parts[0]), part.array());
  }
  static std::int64_t size(const ByteReader& reader, std::int64_t value) {
    if (value < 0) reader.refuse("has a size or stride of ", value);
    return value;
  }

  // (number, number of the storage, class), the dimensions, sizes, strides, and the first element.
  void read_tensor(ByteReader& reader) {
    const PtValue value = read_table(reader);
    const PtList& parts = parts_of(reader, value, 3);
    const Array& elements = storage(reader, parts[1]);
    const std::uint64_t dims = reader.number(4);
    reader.number(4);  // which once were the upper half of the dimensions, and may be anything
    if (dims > kMaxTarDims) reader.refuse("has a tensor of more than 64 dimensions");
    const Shape shape = sizes(reader, dims), strides = sizes(reader, dims);
    const auto offset = static_cast<std::int64_t>(reader.number(8));
    const std::int64_t key = number(reader, parts[0]);
    const Tensor tensor =
        tensor_in(reader, "tensor " + std::to_string(key), elements, offset, shape, strides);
    if (!tensors_.try_emplace(key, tensor).second) reader.refuse("tensor ", key, " is there twice");
  }
  static Shape sizes(ByteReader& reader, std::uint64_t dims) {
    Shape out;
    for (; dims > 0; --dims)
      out.push_back(size(reader, static_cast<std::int64_t>(reader.number(8))));
    return out;
  }

  const TarReader& archive_;
  std::map<std::int64_t, Array> storages_;
  std::map<std::int64_t, Tensor> tensors_;
};

}  // namespace

PtValue read_tar(const std::filesystem::path& path) {
  const TarReader archive(path, "load_pt");
  TarContents contents(archive);
  contents.read_storages();
  contents.read_tensors();
  return contents.read_value();
}

}  // namespace tend::nn::pickle
