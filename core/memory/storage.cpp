#include <tend/core/memory/storage.h>

#include <new>
#include <utility>

namespace tend {
namespace {

// Data of up to this many bytes follow the Storage in the same block. Larger data have a separate
// block: with the Storage in it, the pool might have to choose the next larger size of blocks.
// Under the address sanitizer all data have a separate block, so that the sanitizer finds writes
// before the first byte.
constexpr std::int64_t kMaxInSameBlock = detail::kKeepsBlocks ? 2048 : 0;

}  // namespace

// The size of the block that contains the Storage itself.
std::size_t Storage::block_size() const noexcept {
  switch (kind_) {
    case Kind::same_block: return sizeof(Storage) + static_cast<std::size_t>(bytes_);
    case Kind::borrowed: return sizeof(Storage) + sizeof(Borrowed);
    case Kind::own_block: break;
  }
  return sizeof(Storage);
}

Ref<Storage> Storage::allocate(std::int64_t bytes) {
  const auto size = static_cast<std::size_t>(bytes);
  Ref<Storage> storage;
  if (bytes <= kMaxInSameBlock) {
    auto* block = static_cast<std::byte*>(take_block(sizeof(Storage) + size));
    std::byte* data = bytes == 0 ? nullptr : block + sizeof(Storage);
    storage = Ref<Storage>::first(new (block) Storage(data, bytes, Kind::same_block));
  } else {
    auto* data = static_cast<std::byte*>(take_block(size));
    void* header = nullptr;
    try {
      header = take_block(sizeof(Storage));
    } catch (...) {
      give_block(data, size);
      throw;
    }
    storage = Ref<Storage>::first(new (header) Storage(data, bytes, Kind::own_block));
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
    if (storage->kind_ == Kind::own_block)
      give_block(storage->data_, static_cast<std::size_t>(storage->bytes_));
    detail::count_live(-storage->bytes_);
  }
  const std::size_t size = storage->block_size();
  storage->~Storage();
  give_block(storage, size);
}

}  // namespace tend
