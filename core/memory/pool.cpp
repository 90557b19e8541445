#include <tend/core/memory/pool.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

#include <tend/core/base/error.h>
#include <tend/core/memory/segments.h>

namespace tend {
namespace {

using detail::kKeepsBlocks;
using detail::take_from_system;
constexpr std::size_t kAlignment = 64;
constexpr std::size_t kMax = std::size_t{1} << 46;  // more than any machine has
// Blocks of up to kSmall bytes come in classes of sizes, larger ones from segments. Each thread
// keeps free small blocks for itself, kMaxPerThread bytes in all.
constexpr std::size_t kSmall = std::size_t{1} << 16;
constexpr std::size_t kMaxPerThread = std::size_t{8} << 20;
// Live bytes that a thread counts by itself before it adds them to the shared counter.
constexpr std::int64_t kUntold = 1 << 16;

// Size classes: every multiple of kAlignment up to 256 bytes, then four to a power of two, so that
// at most a fifth of a larger block is slack.
struct SizeClass {
  std::size_t index;
  std::size_t bytes;
};

constexpr SizeClass size_class(std::size_t bytes) noexcept {
  const std::size_t lines = (bytes + kAlignment - 1) / kAlignment;
  if (lines <= 4) return {lines, lines * kAlignment};
  const int shift = static_cast<int>(std::bit_width(lines - 1)) - 3;
  const std::size_t quarters = ((lines - 1) >> shift) + 1;  // 5 to 8
  return {4 * static_cast<std::size_t>(shift) + quarters, (quarters << shift) * kAlignment};
}

constexpr std::size_t kClasses = size_class(kSmall).index + 1;

// The link of a list of free blocks, stored in the block itself.
struct FreeBlock {
  FreeBlock* next;
};

// Free blocks that all threads share: small ones in lists by size, large ones in segments. Constant
// initialisation and a trivial destructor make it usable at any time, as Segments are.
class SharedCache {
 public:
  // nullptr when the system has no memory.
  void* take(std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    void* block = take_once(bytes);
    if (block != nullptr) return block;
    free_all();
    return take_once(bytes);
  }

  void give(void* block, std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    if (bytes > kSmall) return segments_.give(block);
    const SizeClass its = size_class(bytes);
    in_use_ -= its.bytes;
    // When more is kept than was ever in use at once, some sizes are no longer asked for.
    if (kept_ + its.bytes > peak_in_use_) free_small();
    free_[its.index] = new (block) FreeBlock{free_[its.index]};
    kept_ += its.bytes;
  }

  void clear() noexcept {
    const std::lock_guard lock(mutex_);
    free_all();
  }

 private:
  void* take_once(std::size_t bytes) noexcept {
    return bytes > kSmall ? segments_.take(bytes) : take_small(size_class(bytes));
  }

  void* take_small(SizeClass wanted) noexcept {
    void* block = free_[wanted.index];
    if (block != nullptr) {
      free_[wanted.index] = free_[wanted.index]->next;
      kept_ -= wanted.bytes;
    } else {
      block = take_from_system(wanted.bytes);
      if (block == nullptr) return nullptr;
    }
    in_use_ += wanted.bytes;
    peak_in_use_ = std::max(peak_in_use_, in_use_);
    return block;
  }

  void free_small() noexcept {
    for (FreeBlock*& blocks : free_) {
      while (blocks != nullptr) std::free(std::exchange(blocks, blocks->next));
    }
    kept_ = 0;
  }

  void free_all() noexcept {
    free_small();
    segments_.release();
  }

  std::mutex mutex_;
  std::array<FreeBlock*, kClasses> free_{};
  std::size_t kept_ = 0;
  std::size_t in_use_ = 0;
  std::size_t peak_in_use_ = 0;
  detail::Segments segments_;
};

constinit SharedCache shared_cache;

// A thread's own free blocks and count of live bytes. Constant initialisation and a trivial
// destructor make it usable at any time; before it is opened, and after the thread's own objects
// are destroyed, it keeps no blocks.
struct ThreadCache {
  std::array<FreeBlock*, kClasses> free{};
  std::size_t kept = 0;
  std::size_t limit = 0;                 // bytes that may be kept
  std::atomic<std::int64_t> untold = 0;  // live bytes not yet in Live::told; only its thread writes
  enum { fresh, open, closed } state = fresh;
  // The list of open caches, guarded by Live::mutex: the next one, and the pointer to this one.
  ThreadCache* next = nullptr;
  ThreadCache** link = nullptr;

  // Gives the blocks to the shared cache.
  void flush() noexcept {
    for (std::size_t bytes = kAlignment; bytes <= kSmall; bytes = size_class(bytes + 1).bytes) {
      const SizeClass each = size_class(bytes);
      while (FreeBlock* block = free[each.index]) {
        free[each.index] = block->next;
        shared_cache.give(block, each.bytes);
      }
    }
    kept = 0;
  }
};

constinit thread_local ThreadCache cache;

// Live bytes: the sum that threads have added so far, and the list of threads, which may each have
// a few more to add.
struct Live {
  std::mutex mutex;
  ThreadCache* threads = nullptr;
  std::atomic<std::int64_t> told = 0;
  std::atomic<std::int64_t> peak = 0;

  // All live bytes; with the mutex held.
  std::int64_t bytes() const noexcept {
    std::int64_t sum = told.load(std::memory_order_relaxed);
    for (const ThreadCache* each = threads; each != nullptr; each = each->next)
      sum += each->untold.load(std::memory_order_relaxed);
    return sum;
  }
};
constinit Live live;

void close_cache() noexcept {
  {
    const std::lock_guard lock(live.mutex);
    live.told.fetch_add(cache.untold.exchange(0, std::memory_order_relaxed),
                        std::memory_order_relaxed);
    *cache.link = cache.next;
    if (cache.next != nullptr) cache.next->link = cache.link;
  }
  cache.state = ThreadCache::closed;
  cache.limit = 0;
  cache.flush();
}

// False when the thread is ending.
bool open_cache() noexcept {
  if (cache.state != ThreadCache::fresh) return cache.state == ThreadCache::open;
  thread_local struct Closer {
    ~Closer() { close_cache(); }
  } closer;
  static_cast<void>(closer);
  const std::lock_guard lock(live.mutex);
  cache.next = std::exchange(live.threads, &cache);
  cache.link = &live.threads;
  if (cache.next != nullptr) cache.next->link = &cache.next;
  cache.limit = kMaxPerThread;
  cache.state = ThreadCache::open;
  return true;
}

void* take_shared(std::size_t bytes) {
  void* block = kKeepsBlocks ? shared_cache.take(bytes) : take_from_system(bytes);
  if (block == nullptr)
    fail<OutOfMemoryError>("allocate", "the system did not give ", bytes, " bytes");
  return block;
}

}  // namespace

void* take_block(std::size_t bytes) {
  if (bytes > kMax) fail<OutOfMemoryError>("allocate", "the system did not give ", bytes, " bytes");
  if (kKeepsBlocks && bytes <= kSmall) {
    const SizeClass wanted = size_class(bytes);
    if (FreeBlock* block = cache.free[wanted.index]) {
      cache.free[wanted.index] = block->next;
      cache.kept -= wanted.bytes;
      return block;
    }
  }
  return take_shared(bytes);
}

void give_block(void* block, std::size_t bytes) noexcept {
  if constexpr (!kKeepsBlocks) {
    std::free(block);
    return;
  }
  if (bytes <= kSmall) {
    const SizeClass its = size_class(bytes);
    const std::size_t kept = cache.kept + its.bytes;
    if (kept <= cache.limit || (open_cache() && kept <= cache.limit)) {
      cache.free[its.index] = new (block) FreeBlock{cache.free[its.index]};
      cache.kept = kept;
      return;
    }
  }
  shared_cache.give(block, bytes);
}

void empty_cache() noexcept {
  cache.flush();
  shared_cache.clear();
}

std::int64_t system_blocks() noexcept {
  return detail::taken_from_system();
}

void detail::count_live(std::int64_t bytes) noexcept {
  std::int64_t untold = cache.untold.load(std::memory_order_relaxed) + bytes;
  if (untold >= kUntold || untold <= -kUntold || !open_cache()) {
    live.told.fetch_add(untold, std::memory_order_relaxed);
    untold = 0;
  }
  cache.untold.store(untold, std::memory_order_relaxed);
  const std::int64_t now = live.told.load(std::memory_order_relaxed) + untold;
  std::int64_t peak = live.peak.load(std::memory_order_relaxed);
  while (now > peak && !live.peak.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
}

std::int64_t live_memory() noexcept {
  const std::lock_guard lock(live.mutex);
  return live.bytes();
}

std::int64_t peak_memory() noexcept {
  return live.peak.load(std::memory_order_relaxed);
}

void reset_peak_memory() noexcept {
  live.peak.store(live_memory(), std::memory_order_relaxed);
}

}  // namespace tend
