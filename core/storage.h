// Bytes that arrays share, and the cache they come from.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

#include <tend/core/ref.h>

namespace tend {

/// A block of memory, 64-byte aligned unless it is borrowed, shared by all views into it.
class Storage : public RefCounted {
 public:
  /// A block of at least `bytes` from the cache; OutOfMemoryError where the system has none.
  static Ref<Storage> allocate(std::int64_t bytes);
  /// Memory that belongs to somebody else; `deleter` (may be empty) is called when the last view
  /// goes.
  static Ref<Storage> borrow(void* data, std::int64_t bytes, std::function<void(void*)> deleter);

  std::byte* data() const noexcept { return data_; }
  std::int64_t bytes() const noexcept { return bytes_; }

  /// Counts the in-place writes: a saved tensor whose storage has another version is stale.
  std::uint32_t version() const noexcept { return version_.load(std::memory_order_relaxed); }
  /// Notes a write by `operation`, whose text must live forever.
  void bump_version(const char* operation) noexcept {
    last_writer_.store(operation, std::memory_order_relaxed);
    version_.fetch_add(1, std::memory_order_relaxed);
  }
  /// The operation of the last in-place write, nullptr before the first.
  const char* last_writer() const noexcept { return last_writer_.load(std::memory_order_relaxed); }

  /// Made for inference only: autograd neither saves nor changes such elements.
  bool is_inference() const noexcept { return inference_; }
  void mark_inference() noexcept { inference_ = true; }

  static void destroy(Storage* storage) noexcept;

 private:
  Storage() noexcept = default;
  ~Storage() = default;

  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
  std::atomic<std::uint32_t> version_{0};
  std::atomic<const char*> last_writer_{nullptr};
  bool borrowed_ = false;
  bool inference_ = false;
  std::function<void(void*)> deleter_;
};

/// Gives all cached, unused blocks back to the system.
void empty_cache() noexcept;

/// Bytes that arrays hold now, and the most they ever held since `reset_peak_memory`.
std::int64_t live_memory() noexcept;
std::int64_t peak_memory() noexcept;
void reset_peak_memory() noexcept;

}  // namespace tend
