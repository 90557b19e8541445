// Memory that arrays share.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include <tend/core/base/ref.h>
#include <tend/core/memory/pool.h>

namespace tend {

/// Memory that belongs to the caller, and a deleter to call when the memory is no longer needed.
///
/// The deleter is called exactly once, even if the function that receives the memory throws. The
/// deleter must not throw.
class Borrowed {
 public:
  using Deleter = std::function<void(void*)>;

  Borrowed(void* data, Deleter deleter) noexcept : data_(data), deleter_(std::move(deleter)) {}
  Borrowed(Borrowed&& other) noexcept
      : data_(other.data_), deleter_(std::exchange(other.deleter_, nullptr)) {}
  Borrowed& operator=(Borrowed&&) = delete;
  ~Borrowed() {
    if (deleter_) deleter_(data_);
  }

  void* data() const noexcept { return data_; }

 private:
  void* data_;
  Deleter deleter_;  // may be empty
};

/// A block of memory, 64-byte aligned unless it is borrowed, shared by all views into it.
class alignas(64) Storage final : public RefCounted {
 public:
  /// A Storage with a block of at least `bytes` from the pool.
  ///
  /// Throws: OutOfMemoryError - the system has no memory
  static Ref<Storage> allocate(std::int64_t bytes);
  /// A Storage of borrowed memory. The deleter is called when the last view is destroyed.
  static Ref<Storage> borrow(Borrowed memory, std::int64_t bytes);

  std::byte* data() const noexcept { return data_; }
  std::int64_t bytes() const noexcept { return bytes_; }
  bool is_borrowed() const noexcept { return kind_ == Kind::borrowed; }

  /// The number of in-place writes so far. A saved tensor is stale if its storage's version has
  /// changed since it was saved.
  std::uint32_t version() const noexcept { return version_.load(std::memory_order_relaxed); }
  /// Counts a write by `operation`, a string of static storage duration.
  void bump_version(const char* operation) noexcept {
    last_writer_.store(operation, std::memory_order_relaxed);
    // Writes by two threads at once may be counted as one. An atomic addition would cost 5 ns.
    version_.store(version() + 1, std::memory_order_relaxed);
  }
  /// The operation of the last in-place write; nullptr before the first write.
  const char* last_writer() const noexcept { return last_writer_.load(std::memory_order_relaxed); }

  static void destroy(Storage* storage) noexcept;

 private:
  // Where the data are. same_block: after the Storage, in its block. own_block: in a separate
  // block. borrowed: in borrowed memory, and a Borrowed object follows the Storage.
  enum class Kind : std::uint8_t { same_block, own_block, borrowed };

  Storage(std::byte* data, std::int64_t bytes, Kind kind) noexcept
      : kind_(kind), data_(data), bytes_(bytes) {}
  ~Storage() = default;
  std::size_t block_size() const noexcept;
  Borrowed* borrowed() noexcept { return reinterpret_cast<Borrowed*>(this + 1); }

  std::atomic<std::uint32_t> version_{0};
  Kind kind_;
  std::byte* data_;
  std::int64_t bytes_;
  std::atomic<const char*> last_writer_{nullptr};
};

}  // namespace tend
