// Bytes that arrays share.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include <tend/core/pool.h>
#include <tend/core/ref.h>

namespace tend {

/// A block of memory, 64-byte aligned unless it is borrowed, shared by all views into it.
class alignas(64) Storage final : public RefCounted {
 public:
  /// A block of at least `bytes` from the pool; OutOfMemoryError where the system has none.
  static Ref<Storage> allocate(std::int64_t bytes);
  /// Memory that belongs to somebody else; `deleter` (may be empty) is called when the last view
  /// goes.
  static Ref<Storage> borrow(void* data, std::int64_t bytes, std::function<void(void*)> deleter);

  std::byte* data() const noexcept { return data_; }
  std::int64_t bytes() const noexcept { return bytes_; }
  bool is_borrowed() const noexcept { return place_ == Place::borrowed; }

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
  // Few bytes stand behind the Storage, in one block with it.
  enum class Place : std::uint8_t { behind, block, borrowed };

  Storage(std::byte* data, std::int64_t bytes, Place place) noexcept
      : place_(place), data_(data), bytes_(bytes) {}
  ~Storage() = default;
  std::size_t block_size() const noexcept;

  std::atomic<std::uint32_t> version_{0};
  Place place_;
  bool inference_ = false;
  std::byte* data_;
  std::int64_t bytes_;
  std::atomic<const char*> last_writer_{nullptr};
  std::unique_ptr<std::function<void(void*)>> deleter_;  // of borrowed memory
};

}  // namespace tend
