// The addresses of all modules and parameters. With them, a module finds members that were not
// registered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tend::nn {

enum class LiveKind : std::uint8_t { module, parameter };

/// A base class that registers the address of each object while the object lives.
class LiveObject {
 public:
  /// The live objects that begin in `bytes`, in the order of their addresses.
  static std::vector<const LiveObject*> live_within(std::span<const std::byte> bytes);

  LiveKind live_kind() const noexcept { return kind_; }

 protected:
  explicit LiveObject(LiveKind kind);
  LiveObject(const LiveObject& other) noexcept : LiveObject(other.kind_) {}
  // Assignment changes nothing: an object keeps its address.
  // NOLINTNEXTLINE(bugprone-unhandled-self-assignment)
  LiveObject& operator=(const LiveObject& /*other*/) noexcept { return *this; }
  ~LiveObject();

 private:
  LiveKind kind_;
};

}  // namespace tend::nn
