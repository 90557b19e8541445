// Large blocks, cut from segments of the system's memory. Blocks that are given back join their
// idle neighbours, so that memory that one size of tensor left idle serves every other size.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tend::detail {

/// 64-byte aligned memory; nullptr when the system has none. From kHugePage on it is aligned to
/// that, and asks for pages of that size.
void* take_from_system(std::size_t bytes) noexcept;
inline constexpr std::size_t kHugePage = std::size_t{1} << 21;

/// How often take_from_system has given memory.
std::int64_t taken_from_system() noexcept;

/// Not thread-safe. Constant initialisation and a trivial destructor make it usable at any time:
/// arrays may outlive every other static object.
class Segments {
 public:
  /// A 64-byte aligned block, from the smallest idle piece that is large enough; nullptr when the
  /// system has no memory.
  void* take(std::size_t bytes) noexcept;
  void give(void* block) noexcept;

  /// Gives the segments that are idle as a whole back to the system.
  void release() noexcept;

 private:
  struct Piece;
  static constexpr std::size_t kLists = std::size_t{4} * 48;

  static std::size_t list_of(std::size_t bytes) noexcept;
  Piece* find(std::size_t bytes) const noexcept;
  Piece* new_segment(std::size_t bytes) noexcept;
  void insert(Piece* piece) noexcept;
  static void remove(Piece* piece) noexcept;

  std::array<Piece*, kLists> idle_{};  // by size, four lists to a power of two
};

}  // namespace tend::detail
