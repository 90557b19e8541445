// Large blocks, cut from segments of the system's memory. A block that is given back is merged with
// its idle neighbours. So idle memory can be used for tensors of every size.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tend::detail {

/// 64-byte aligned memory from the system; nullptr if the system has no memory.
///
/// Memory of kHugePage bytes or more is aligned to kHugePage, and the system is asked for pages of
/// that size.
void* take_from_system(std::size_t bytes) noexcept;
inline constexpr std::size_t kHugePage = std::size_t{1} << 21;

/// The number of successful calls of take_from_system.
std::int64_t taken_from_system() noexcept;

/// Blocks of any size. Not thread-safe.
///
/// Arrays may outlive every other static object. Constant initialisation and a trivial destructor
/// make this class usable at any time.
class Segments {
 public:
  /// A 64-byte aligned block, cut from one of the smallest idle pieces that are large enough;
  /// nullptr if the system has no memory.
  void* take(std::size_t bytes) noexcept;
  void give(void* block) noexcept;

  /// Gives the segments that are completely idle back to the system.
  void release() noexcept;

 private:
  struct Piece;
  static constexpr std::size_t kLists = std::size_t{4} * 48;

  static std::size_t list_of(std::size_t bytes) noexcept;
  Piece* find(std::size_t bytes) const noexcept;
  Piece* new_segment(std::size_t bytes) noexcept;
  void insert(Piece* piece) noexcept;
  static void remove(Piece* piece) noexcept;

  std::array<Piece*, kLists> idle_{};  // by size, four lists for each power of two
};

}  // namespace tend::detail
