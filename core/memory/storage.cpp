#include <tend/core/memory/storage.h>

#include <new>
#include <utility>

namespace tend {
namespace {

// Data of up to this many bytes follow the Storage, in one block with it. Larger data have a
// block of their own, so that its size is not rounded up because of the Storage. Under the address
// sanitizer all data have their own block, so that writes before their first byte are found.
constexpr std::int64_t kMaxBehind = detail::kKeepsBlocks ? 2048 : 0;

}  // namespace

// Bytes of the block that the Storage itself lies in.
std::size_t Storage::block_size() const noexcept {
  switch (kind_) {
    case Kind::behind: return sizeof(Storage) + static_cast<std::size_t>(bytes_);
    case Kind::borrowed: return sizeof(Storage) + sizeof(Borrowed);
    case Kind::block: break;
  }
  return sizeof(Storage);
}

Ref<Storage> Storage::allocate(std::int64_t bytes) {
  const auto size = static_cast<std::size_t>(bytes);
  Ref<Storage> storage;
  if (bytes <= kMaxBehind) {
    auto* block = static_cast<std::byte*>(take_block(sizeof(Storage) + size));
    std::byte* data = bytes == 0 ? nullptr : block + sizeof(Storage);
    storage = Ref<Storage>::first(new (block) Storage(data, bytes, Kind::behind));
  } else {
    auto* data = static_cast<std::byte*>(take_block(size));
    void* header = nullptr;
    try {
      header = take_block(sizeof(Storage));
    } catch (...) {
      give_block(data, size);
      throw;
    }
    storage = Ref<Storage>::first(new (header) Storage(data, bytes, Kind::block));
  }
  detail::count_live(bytes);
  return storage;
}

Ref<Storage> Storage::borrow(Borrowed memory, std::int64_t bytes) {
  void* block = take_block(sizeof(Storage) + sizeof(Borrowed));
  auto* data = static_cast<std::byte*>(memory.data());
  Ref<Storage> storage = Ref<Storage>::first(new (block) Storage(data, bytes, Kind::borrowed));
  new (storage->borrowed()) Borrowed(std::move(memory));
  return storage;
}

void Storage::destroy(Storage* storage) noexcept {
  if (storage->kind_ == Kind::borrowed) {
    storage->borrowed()->~Borrowed();
  } else {
    if (storage->kind_ == Kind::block)
      give_block(storage->data_, static_cast<std::size_t>(storage->bytes_));
    detail::count_live(-storage->bytes_);
  }
  const std::size_t size = storage->block_size();
  storage->~Storage();
  give_block(storage, size);
}

}  // namespace tend
