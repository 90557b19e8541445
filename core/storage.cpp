#include <tend/core/storage.h>

#include <bit>
#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

#include <tend/core/error.h>

#if defined(__SANITIZE_ADDRESS__)
#define TEND_CACHE_BLOCKS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TEND_CACHE_BLOCKS 0
#endif
#endif
#ifndef TEND_CACHE_BLOCKS
#define TEND_CACHE_BLOCKS 1
#endif

namespace tend {
namespace {

constexpr std::size_t kAlignment = 64;
// Size classes are four to a power of two, so that at most a fifth of a block is slack.
constexpr int kClasses = 4 * 48;
// Under the address sanitizer every block comes from the system, so that overruns show.
constexpr bool kCached = TEND_CACHE_BLOCKS != 0;

struct SizeClass {
  int index;
  std::size_t bytes;
};

SizeClass size_class(std::size_t bytes) noexcept {
  const std::size_t lines = (bytes + kAlignment - 1) / kAlignment;
  if (lines <= 4) return {static_cast<int>(lines), lines * kAlignment};
  const int log = static_cast<int>(std::bit_width(lines - 1)) - 1;  // 2^log < lines <= 2^(log + 1)
  const std::size_t step = std::size_t{1} << (log - 2);
  const std::size_t quarter = (lines - (std::size_t{1} << log) + step - 1) / step;  // 1 to 4
  const int index = 4 * (log - 2) + 4 + static_cast<int>(quarter);
  return {index, ((std::size_t{1} << log) + quarter * step) * kAlignment};
}

// The cache lives as long as the process: arrays may outlive every other static object.
class BlockCache {
 public:
  static BlockCache& instance() noexcept {
    static BlockCache* cache = new BlockCache;
    return *cache;
  }

  std::byte* take(std::size_t bytes) {
    const SizeClass wanted = size_class(bytes);
    if constexpr (kCached) {
      const std::lock_guard lock(mutex_);
      auto& blocks = free_[wanted.index];
      if (!blocks.empty()) {
        std::byte* block = blocks.back();
        blocks.pop_back();
        return block;
      }
    }
    void* block = std::aligned_alloc(kAlignment, wanted.bytes);
    if (block == nullptr) {
      clear();
      block = std::aligned_alloc(kAlignment, wanted.bytes);
    }
    if (block == nullptr) {
      fail<OutOfMemoryError>("allocate", "the system did not give ", bytes, " bytes");
    }
    return static_cast<std::byte*>(block);
  }

  void give(std::byte* block, std::size_t bytes) noexcept {
    if constexpr (kCached) {
      const std::lock_guard lock(mutex_);
      try {
        free_[size_class(bytes).index].push_back(block);
        return;
      } catch (...) {  // no memory to remember the block: let it go
      }
    }
    std::free(block);
  }

  void clear() noexcept {
    const std::lock_guard lock(mutex_);
    for (auto& blocks : free_) {
      for (std::byte* block : blocks) std::free(block);
      blocks.clear();
    }
  }

 private:
  std::mutex mutex_;
  std::vector<std::byte*> free_[kClasses];
};

std::atomic<std::int64_t> live_bytes{0};
std::atomic<std::int64_t> peak_bytes{0};

void count_live(std::int64_t bytes) noexcept {
  const std::int64_t live = live_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  std::int64_t peak = peak_bytes.load(std::memory_order_relaxed);
  while (live > peak && !peak_bytes.compare_exchange_weak(peak, live, std::memory_order_relaxed)) {
  }
}

}  // namespace

Ref<Storage> Storage::allocate(std::int64_t bytes) {
  // Beyond this no system has the memory, and the size classes have no slot.
  constexpr std::int64_t kMost = std::int64_t{1} << 46;
  if (bytes > kMost)
    fail<OutOfMemoryError>("allocate", "the system did not give ", bytes, " bytes");
  Ref<Storage> storage(new Storage);
  if (bytes > 0) storage->data_ = BlockCache::instance().take(static_cast<std::size_t>(bytes));
  storage->bytes_ = bytes;
  count_live(bytes);
  return storage;
}

Ref<Storage> Storage::borrow(void* data, std::int64_t bytes, std::function<void(void*)> deleter) {
  Ref<Storage> storage(new Storage);
  storage->data_ = static_cast<std::byte*>(data);
  storage->bytes_ = bytes;
  storage->borrowed_ = true;
  storage->deleter_ = std::move(deleter);
  return storage;
}

void Storage::destroy(Storage* storage) noexcept {
  if (storage->borrowed_) {
    if (storage->deleter_) storage->deleter_(storage->data_);
  } else {
    if (storage->data_ != nullptr) {
      BlockCache::instance().give(storage->data_, static_cast<std::size_t>(storage->bytes_));
    }
    live_bytes.fetch_sub(storage->bytes_, std::memory_order_relaxed);
  }
  delete storage;
}

void empty_cache() noexcept {
  BlockCache::instance().clear();
}
std::int64_t live_memory() noexcept {
  return live_bytes.load(std::memory_order_relaxed);
}
std::int64_t peak_memory() noexcept {
  return peak_bytes.load(std::memory_order_relaxed);
}
void reset_peak_memory() noexcept {
  peak_bytes.store(live_memory(), std::memory_order_relaxed);
}

}  // namespace tend
