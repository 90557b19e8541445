#include <tend/core/memory/pool.h>

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
// Blocks of up to kSmall bytes have size classes. Larger blocks come from segments. Each thread
// keeps its own free small blocks, up to kMaxPerThread bytes in all.
constexpr std::size_t kSmall = std::size_t{1} << 16;
constexpr std::size_t kMaxPerThread = std::size_t{8} << 20;
// A thread counts this many live bytes by itself before it adds them to the shared counter.
constexpr std::int64_t kUnreported = 1 << 16;

// Size classes: every multiple of kAlignment up to 256 bytes, then four classes for each power of
// two. So at most a fifth of a larger block is unused.
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

// Free blocks that all threads share: lists of small blocks, one for each size, and segments for
// large blocks. Arrays may outlive every other static object, so the cache must be usable at any
// time. Constant initialisation and a trivial destructor ensure that.
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
    FreeBlock*& list = free_[size_class(bytes).index];
    list = new (block) FreeBlock{list};
  }

  void clear() noexcept {
    const std::lock_guard lock(mutex_);
    free_all();
  }

 private:
  void* take_once(std::size_t bytes) noexcept {
    if (bytes > kSmall) return segments_.take(bytes);
    const SizeClass wanted = size_class(bytes);
    FreeBlock* block = free_[wanted.index];
    if (block == nullptr) return take_from_system(wanted.bytes);
    free_[wanted.index] = block->next;
    return block;
  }

  void free_all() noexcept {
    for (FreeBlock*& blocks : free_) {
      while (blocks != nullptr) std::free(std::exchange(blocks, blocks->next));
    }
    segments_.release();
  }

  std::mutex mutex_;
  std::array<FreeBlock*, kClasses> free_{};
  detail::Segments segments_;
};

constinit SharedCache shared_cache;

// The live bytes that threads have reported so far, and the peak of live bytes.
constinit std::atomic<std::int64_t> reported_live = 0, peak_live = 0;

// A thread's own free blocks and count of live bytes. Constant initialisation and a trivial
// destructor make it usable at any time. It keeps no blocks before open_cache() is called, nor
// after the thread's own objects are destroyed.
struct ThreadCache {
  std::array<FreeBlock*, kClasses> free{};
  std::size_t kept = 0;
  std::size_t limit = 0;        // bytes that may be kept
  std::int64_t unreported = 0;  // live bytes not yet in reported_live
  enum { fresh, open, closed } state = fresh;

  // Gives the blocks to the shared cache.
  void flush() noexcept {
    for (std::size_t bytes = kAlignment; bytes <= kSmall; bytes = size_class(bytes + 1).bytes) {
      FreeBlock*& list = free[size_class(bytes).index];
      while (list != nullptr) shared_cache.give(std::exchange(list, list->next), bytes);
    }
    kept = 0;
  }

  void report() noexcept {
    reported_live.fetch_add(std::exchange(unreported, 0), std::memory_order_relaxed);
  }
};

constinit thread_local ThreadCache cache;

// Opens the thread's cache if it is fresh. False if the thread is ending.
bool open_cache() noexcept {
  if (cache.state != ThreadCache::fresh) return cache.state == ThreadCache::open;
  thread_local struct Closer {
    ~Closer() {
      cache.state = ThreadCache::closed;
      cache.limit = 0;
      cache.report();
      cache.flush();
    }
  } closer;
  static_cast<void>(closer);
  cache.state = ThreadCache::open;
  cache.limit = kMaxPerThread;
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
  cache.unreported += bytes;
  if (std::abs(cache.unreported) >= kUnreported || !open_cache()) cache.report();
  const std::int64_t now = live_memory();
  std::int64_t peak = peak_live.load(std::memory_order_relaxed);
  while (now > peak && !peak_live.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
}

std::int64_t live_memory() noexcept {
  return reported_live.load(std::memory_order_relaxed) + cache.unreported;
}

std::int64_t peak_memory() noexcept {
  return peak_live.load(std::memory_order_relaxed);
}

void reset_peak_memory() noexcept {
  peak_live.store(live_memory(), std::memory_order_relaxed);
}

}  // namespace tend
