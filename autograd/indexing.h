// What goes between the brackets of x[...].
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>

namespace tend {

/// Python's start:stop:step with a positive step; what is left out reaches to the end.
struct Slice {
  std::optional<std::int64_t> start;
  std::optional<std::int64_t> stop;
  std::int64_t step = 1;
};

struct NewAxis {};
struct Ellipsis {};
/// A new dimension of size 1 (Python's None).
inline constexpr NewAxis newaxis{};
/// All dimensions that the other indices leave (Python's ...).
inline constexpr Ellipsis ellipsis{};

/// One index: an integer, a Slice, newaxis or ellipsis.
class Index {
 public:
  enum class Kind { integer, range, new_axis, rest };

  template <std::integral T>
  Index(T position) : kind_(Kind::integer), position_(static_cast<std::int64_t>(position)) {}
  Index(Slice slice) : kind_(Kind::range), slice_(slice) {}
  Index(NewAxis) : kind_(Kind::new_axis) {}
  Index(Ellipsis) : kind_(Kind::rest) {}

  Kind kind() const noexcept { return kind_; }
  std::int64_t position() const noexcept { return position_; }
  const Slice& slice() const noexcept { return slice_; }

 private:
  Kind kind_;
  std::int64_t position_ = 0;
  Slice slice_;
};

using Indices = std::initializer_list<Index>;

}  // namespace tend
