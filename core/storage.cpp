#include <tend/core/storage.h>

#include <new>
#include <utility>

#include <tend/core/error.h>

namespace tend {
namespace {

// Larger data have a block of their own, whose size is not rounded up for the sake of a header; and
// so have all where the address sanitizer is to see what is written before them.
constexpr std::int64_t kMostBehind = detail::kKeepsBlocks ? 2048 : 0;

}  // namespace

// Of the Storage itself.
std::size_t Storage::block_size() const noexcept {
  return sizeof(Storage) + (place_ == Place::behind ? static_cast<std::size_t>(bytes_) : 0);
}

Ref<Storage> Storage::allocate(std::int64_t bytes) {
  const auto size = static_cast<std::size_t>(bytes);
  Ref<Storage> storage;
  if (bytes <= kMostBehind) {
    auto* block = static_cast<std::byte*>(take_block(sizeof(Storage) + size));
    std::byte* data = bytes == 0 ? nullptr : block + sizeof(Storage);
    storage = Ref<Storage>::first(new (block) Storage(data, bytes, Place::behind));
  } else {
    auto* data = static_cast<std::byte*>(take_block(size));
    void* header = nullptr;
    try {
      header = take_block(sizeof(Storage));
    } catch (...) {
      give_block(data, size);
      throw;
    }
    storage = Ref<Storage>::first(new (header) Storage(data, bytes, Place::block));
  }
  detail::count_live(bytes);
  return storage;
}

Ref<Storage> Storage::borrow(void* data, std::int64_t bytes, std::function<void(void*)> deleter) {
  auto kept = deleter ? std::make_unique<std::function<void(void*)>>(std::move(deleter)) : nullptr;
  Ref<Storage> storage = Ref<Storage>::first(new (take_block(sizeof(Storage))) Storage(
      static_cast<std::byte*>(data), bytes, Place::borrowed));
  storage->deleter_ = std::move(kept);
  return storage;
}

void Storage::destroy(Storage* storage) noexcept {
  if (storage->place_ == Place::borrowed) {
    if (storage->deleter_) (*storage->deleter_)(storage->data_);
  } else {
    if (storage->place_ == Place::block)
      give_block(storage->data_, static_cast<std::size_t>(storage->bytes_));
    detail::count_live(-storage->bytes_);
  }
  const std::size_t size = storage->block_size();
  storage->~Storage();
  give_block(storage, size);
}

}  // namespace tend
