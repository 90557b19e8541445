// The block pool, from which all of tend's memory comes. Blocks that are given back are kept for
// reuse.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__SANITIZE_ADDRESS__)
#define TEND_KEEPS_BLOCKS false
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TEND_KEEPS_BLOCKS false
#endif
#endif
#ifndef TEND_KEEPS_BLOCKS
#define TEND_KEEPS_BLOCKS true
#endif

namespace tend {

/// A block of at least `bytes` (over 0), 64-byte aligned. Small blocks come from lists of the
/// calling thread, without a lock, others from a cache that all threads share, and only then from
/// the system (OutOfMemoryError). Blocks above 64 KiB are cut from segments, in which memory that
/// one size left idle serves every other. Under the address sanitizer every block comes from the
/// system, so that overruns are found.
void* take_block(std::size_t bytes);

/// Gives a block back, on any thread; `bytes` is what was asked for.
void give_block(void* block, std::size_t bytes) noexcept;

/// Gives the cached, unused memory back to the system: the shared blocks and those of the calling
/// thread. A segment goes back as a whole, once no block of it is in use.
void empty_cache() noexcept;

/// How often memory was taken from the system so far. It no longer grows once a training loop has
/// seen all its shapes. With several threads a few small blocks may still be added, until each
/// thread has run every kind of task that it may get.
std::int64_t system_blocks() noexcept;

/// Bytes that arrays hold now, and their maximum since `reset_peak_memory`. Both are exact with one
/// thread; with several, they may miss up to 64 KiB of each other thread that runs.
std::int64_t live_memory() noexcept;
std::int64_t peak_memory() noexcept;
void reset_peak_memory() noexcept;

namespace detail {
/// False under the address sanitizer.
inline constexpr bool kKeepsBlocks = TEND_KEEPS_BLOCKS;
/// Adds `bytes`, which may be negative, to the count of bytes that arrays hold.
void count_live(std::int64_t bytes) noexcept;
}  // namespace detail

#undef TEND_KEEPS_BLOCKS

/// Base of objects that operations make and destroy all the time: new and delete use the pool.
struct Pooled {
  static void* operator new(std::size_t bytes) { return take_block(bytes); }
  static void operator delete(void* block, std::size_t bytes) noexcept { give_block(block, bytes); }
};

/// Allocator of containers whose elements come from the pool.
template <class T>
struct PoolAllocator {
  using value_type = T;

  PoolAllocator() noexcept = default;
  template <class U>
  PoolAllocator(const PoolAllocator<U>&) noexcept {}

  T* allocate(std::size_t count) { return static_cast<T*>(take_block(count * sizeof(T))); }
  void deallocate(T* block, std::size_t count) noexcept { give_block(block, count * sizeof(T)); }

  template <class U>
  friend bool operator==(const PoolAllocator&, const PoolAllocator<U>&) noexcept {
    return true;
  }
};

}  // namespace tend
