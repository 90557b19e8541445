// Intrusive reference counting: one pointer per handle, no control block.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace tend {

/// Base of counted objects. `Derived::destroy(Derived*)` is called when the last Ref is destroyed.
class RefCounted {
 public:
  /// The number of references. A thread that reads 1 also sees all that other threads wrote before
  /// they released the object.
  std::uint32_t use_count() const noexcept { return count_.load(std::memory_order_acquire); }

 protected:
  RefCounted() noexcept = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;
  ~RefCounted() = default;

 private:
  template <class T>
  friend class Ref;
  mutable std::atomic<std::uint32_t> count_{0};
};

/// A counted pointer to T, which derives from RefCounted and has a static `destroy(T*) noexcept`.
template <class T>
class Ref {
 public:
  Ref() noexcept = default;
  Ref(std::nullptr_t) noexcept {}
  explicit Ref(T* object) noexcept : object_(object) { retain(); }
  /// The first reference to an object. No other thread can see the object yet, so this needs no
  /// atomic increment.
  static Ref first(T* object) noexcept {
    object->count_.store(1, std::memory_order_relaxed);
    Ref ref;
    ref.object_ = object;
    return ref;
  }
  Ref(const Ref& other) noexcept : object_(other.object_) { retain(); }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(const Ref& other) noexcept {
    if (this != &other) Ref(other).swap(*this);
    return *this;
  }
  Ref& operator=(Ref&& other) noexcept {
    Ref(std::move(other)).swap(*this);
    return *this;
  }
  ~Ref() { release(); }

  T* get() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  T* operator->() const noexcept { return object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  void reset() noexcept { *this = Ref(); }
  void swap(Ref& other) noexcept { std::swap(object_, other.object_); }
  friend bool operator==(const Ref& a, const Ref& b) noexcept { return a.object_ == b.object_; }

 private:
  void retain() const noexcept {
    if (object_) object_->count_.fetch_add(1, std::memory_order_relaxed);
  }
  void release() noexcept {
    if (object_ == nullptr) return;
    // The last reference cannot race with another one, so it needs no atomic decrement. An atomic
    // decrement takes as long as a small tensor operation.
    if (object_->count_.load(std::memory_order_acquire) == 1 ||
        object_->count_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      T::destroy(object_);
    }
  }

  T* object_ = nullptr;
};

}  // namespace tend
