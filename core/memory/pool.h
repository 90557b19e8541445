// Where all of tend's memory comes from: blocks that are kept when they are given back.
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

/// A block of at least `bytes` (over 0), 64-byte aligned. Small ones come from lists of the calling
/// thread, without a lock, large ones from a cache that all threads share, and only then from the
/// system. OutOfMemoryError where that has none. Under the address sanitizer every block comes from
/// the system, so that overruns show.
void* take_block(std::size_t bytes);

/// Gives a block back, on any thread; `bytes` is what was asked for.
void give_block(void* block, std::size_t bytes) noexcept;

/// Gives the cached, unused blocks back to the system: the shared ones and the calling thread's.
void empty_cache() noexcept;

/// How many blocks were taken from the system so far: a number that stands still in a training
/// loop which has met all its shapes. With several threads single small blocks may still come,
/// until each thread has met what it may be dealt.
std::int64_t system_blocks() noexcept;

/// Bytes that arrays hold now, and the most they ever held since `reset_peak_memory`. Both are
/// exact where one thread works; the peak may lack what others hold in their latest small arrays,
/// at most 64 KiB each.
std::int64_t live_memory() noexcept;
std::int64_t peak_memory() noexcept;
void reset_peak_memory() noexcept;

namespace detail {
/// False under the address sanitizer.
inline constexpr bool kKeepsBlocks = TEND_KEEPS_BLOCKS;
/// Notes that arrays hold so many bytes more, or fewer.
void count_live(std::int64_t bytes) noexcept;
}  // namespace detail

#undef TEND_KEEPS_BLOCKS

/// Base of the objects that come and go with operations: new and delete use blocks.
struct Pooled {
  static void* operator new(std::size_t bytes) { return take_block(bytes); }
  static void operator delete(void* block, std::size_t bytes) noexcept { give_block(block, bytes); }
};

/// The same for the elements of a container.
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
