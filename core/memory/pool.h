// The block pool. All memory of arrays comes from it, and it keeps freed blocks for reuse.
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

/// A 64-byte aligned block of at least `bytes`, which must not be 0.
///
/// A small block comes from a list of the calling thread, without a lock. If this list is empty,
/// the block comes from a cache that all threads share. If this cache has no block of the size
/// either, the block comes from the system. Blocks above 64 KiB are cut from segments, in which
/// idle memory is used for blocks of every size. Under the address sanitizer every block comes from
/// the system, so that the sanitizer finds overruns.
///
/// Throws: OutOfMemoryError - the system has no memory
void* take_block(std::size_t bytes);

/// Gives a block back to the pool, on any thread. `bytes` must be the argument of the take_block
/// that returned the block.
void give_block(void* block, std::size_t bytes) noexcept;

/// Gives unused memory back to the system: the free blocks that threads share and the free blocks
/// of the calling thread. A segment is given back only if none of its blocks is in use.
void empty_cache() noexcept;

/// The number of times that the pool took memory from the system so far.
///
/// The number no longer grows after a training loop has used all its shapes. With several threads a
/// few small blocks may still be added, until each thread has run every kind of task.
std::int64_t system_blocks() noexcept;

/// The bytes that arrays own now (live_memory), and their maximum since reset_peak_memory
/// (peak_memory).
///
/// Both are exact with one thread. With several threads, up to 64 KiB of each other running thread
/// may be missing.
std::int64_t live_memory() noexcept;
std::int64_t peak_memory() noexcept;
void reset_peak_memory() noexcept;

namespace detail {
/// True if the pool keeps freed blocks. It is false under the address sanitizer.
inline constexpr bool kKeepsBlocks = TEND_KEEPS_BLOCKS;
/// Adds `bytes`, which may be negative, to the count of bytes that arrays own.
void count_live(std::int64_t bytes) noexcept;
}  // namespace detail

#undef TEND_KEEPS_BLOCKS

/// Base of objects that operations often make and destroy. Their new and delete use the pool.
struct Pooled {
  static void* operator new(std::size_t bytes) { return take_block(bytes); }
  static void operator delete(void* block, std::size_t bytes) noexcept { give_block(block, bytes); }
};

/// A standard allocator that uses the pool.
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
