// Bytes that arrays share.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include <tend/core/base/ref.h>
#include <tend/core/memory/pool.h>

namespace tend {

/// Memory that belongs to the caller, and the deleter to call when it is no longer needed. The
/// deleter is called exactly once, whatever fails in between. An exception from it could not be
/// caught: its message is written to stderr.
class Borrowed {
 public:
  using Deleter = std::function<void(void*)>;

  Borrowed(void* data, Deleter deleter) noexcept : data_(data), deleter_(std::move(deleter)) {}
  Borrowed(Borrowed&& other) noexcept
      : data_(other.data_), deleter_(std::exchange(other.deleter_, nullptr)) {}
  Borrowed& operator=(Borrowed&&) = delete;
  ~Borrowed();

  void* data() const noexcept { return data_; }

 private:
  void* data_;
  Deleter deleter_;  // may be empty
};

/// A block of memory, 64-byte aligned unless it is borrowed, shared by all views into it.
class alignas(64) Storage final : public RefCounted {
 public:
  /// A block of at least `bytes` from the pool; OutOfMemoryError where the system has none.
  static Ref<Storage> allocate(std::int64_t bytes);
  /// A Storage of borrowed memory, whose deleter is called when the last view is destroyed.
  static Ref<Storage> borrow(Borrowed memory, std::int64_t bytes);

  std::byte* data() const noexcept { return data_; }
  std::int64_t bytes() const noexcept { return bytes_; }
  bool is_borrowed() const noexcept { return kind_ == Kind::borrowed; }

  /// Counts the in-place writes: a saved tensor whose storage has another version is stale.
  std::uint32_t version() const noexcept { return version_.load(std::memory_order_relaxed); }
  /// Counts a write by `operation`, a string of static storage duration.
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
  // Of a Storage of borrowed memory; lies behind the Storage, in one block with it.
  struct Loan {
    Borrowed memory;
    Storage* next = nullptr;  // in the list of give_back
  };

  // Where the data are: behind the Storage in one block with it, in a block of their own, or in
  // borrowed memory.
  enum class Kind : std::uint8_t { behind, block, borrowed };

  Storage(std::byte* data, std::int64_t bytes, Kind kind) noexcept
      : kind_(kind), data_(data), bytes_(bytes) {}
  ~Storage() = default;
  std::size_t block_size() const noexcept;
  Loan& loan() noexcept { return *reinterpret_cast<Loan*>(this + 1); }
  static void give_back(Storage* storage) noexcept;

  std::atomic<std::uint32_t> version_{0};
  Kind kind_;
  bool inference_ = false;
  std::byte* data_;
  std::int64_t bytes_;
  std::atomic<const char*> last_writer_{nullptr};
};

}  // namespace tend
