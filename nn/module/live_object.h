// Where modules and parameters live, so that a module can find those among its members that nobody
// registered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tend::nn {

enum class LiveKind : std::uint8_t { module, parameter };

/// Base of what is known by its address while it lives. Costs a lock when it is made or destroyed,
/// and no memory but its own.
class LiveObject {
 public:
  /// The live objects that begin in `bytes`.
  static std::vector<const LiveObject*> live_within(std::span<const std::byte> bytes);

  LiveKind live_kind() const noexcept { return kind_; }

 protected:
  explicit LiveObject(LiveKind kind) noexcept;
  LiveObject(const LiveObject& other) noexcept : LiveObject(other.kind_) {}
  // Assignment changes nothing: an object keeps its place.
  // NOLINTNEXTLINE(bugprone-unhandled-self-assignment)
  LiveObject& operator=(const LiveObject& /*other*/) noexcept { return *this; }
  ~LiveObject();

 private:
  LiveObject* next_ = nullptr;   // in a list of objects whose addresses lie together
  LiveObject** link_ = nullptr;  // what points to this one
  LiveKind kind_;
};

}  // namespace tend::nn
