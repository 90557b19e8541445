#include <tend/core/memory/segments.h>

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <new>
#include <utility>

#include <tend/core/memory/pool.h>

namespace tend::detail {
namespace {

constexpr std::size_t kPieceAlignment = 64;
// The usual size of a segment. Pages that nobody has written to cost nothing.
constexpr std::size_t kSegment = std::size_t{128} << 20;
// A remainder of fewer bytes is not split off as a separate piece.
constexpr std::size_t kLeast = 4096;

constexpr std::size_t rounded_up(std::size_t bytes, std::size_t step) noexcept {
  return (bytes + step - 1) / step * step;
}

std::atomic<std::int64_t> system_requests{0};

}  // namespace

void* take_from_system(std::size_t bytes) noexcept {
  const bool huge = kKeepsBlocks && bytes >= kHugePage;
  void* block = nullptr;
  if (posix_memalign(&block, huge ? kHugePage : kPieceAlignment, bytes) != 0) return nullptr;
  if (huge) madvise(block, bytes, MADV_HUGEPAGE);  // advice: nothing depends on its success
  system_requests.fetch_add(1, std::memory_order_relaxed);
  return block;
}

std::int64_t taken_from_system() noexcept {
  return system_requests.load(std::memory_order_relaxed);
}

// A part of a segment, in use or idle. It begins with this header, and the block follows.
struct alignas(kPieceAlignment) Segments::Piece {
  std::size_t bytes;  // including the header
  // The neighbours in the segment. Two idle pieces are never neighbours.
  Piece* before = nullptr;
  Piece* after = nullptr;
  // Links of the list of idle pieces: the next piece, and the address of the pointer to this piece.
  // `link` is nullptr while the piece is in use.
  Piece* next = nullptr;
  Piece** link = nullptr;

  bool is_idle() const noexcept { return link != nullptr; }
  std::byte* start() noexcept { return reinterpret_cast<std::byte*>(this); }

  // Splits off all but the first `count` bytes as a new piece, which is not in a list yet.
  Piece* split(std::size_t count) noexcept {
    auto* rest = new (start() + count) Piece{bytes - count, this, after};
    if (after != nullptr) after->before = rest;
    after = rest;
    bytes = count;
    return rest;
  }

  // Merges the piece after this one into this one. That piece must not be in a list.
  void join_after() noexcept {
    bytes += after->bytes;
    after = after->after;
    if (after != nullptr) after->before = this;
  }
};

std::size_t Segments::list_of(std::size_t bytes) noexcept {
  const auto power = static_cast<std::size_t>(std::bit_width(bytes)) - 1;
  // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): pieces have 64 bytes or more
  return 4 * power + ((bytes >> (power - 2)) & 3);
}

void Segments::insert(Piece* piece) noexcept {
  Piece*& first = idle_[list_of(piece->bytes)];
  piece->next = first;
  piece->link = &first;
  if (first != nullptr) first->link = &piece->next;
  first = piece;
}

void Segments::remove(Piece* piece) noexcept {
  *piece->link = piece->next;
  if (piece->next != nullptr) piece->next->link = piece->link;
  piece->link = nullptr;
}

// The smallest piece that is large enough, from the first list with such a piece. In each list,
// only the kLooked pieces that were inserted last are examined, so that a program with thousands of
// idle pieces stays fast.
Segments::Piece* Segments::find(std::size_t bytes) const noexcept {
  constexpr int kLooked = 64;
  Piece* best = nullptr;
  for (std::size_t list = list_of(bytes); list < kLists && best == nullptr; ++list) {
    int looked = 0;
    for (Piece* each = idle_[list]; each != nullptr && looked < kLooked; each = each->next) {
      ++looked;
      if (each->bytes >= bytes && (best == nullptr || each->bytes < best->bytes)) best = each;
    }
  }
  return best;
}

void Segments::release() noexcept {
  for (Piece*& list : idle_) {
    for (Piece* piece = list; piece != nullptr;) {
      Piece* each = std::exchange(piece, piece->next);
      if (each->before != nullptr || each->after != nullptr) continue;
      remove(each);
      std::free(each);
    }
  }
}

// A new segment of one idle piece. Segments that are idle already are too small, so they are given
// back first.
Segments::Piece* Segments::new_segment(std::size_t bytes) noexcept {
  release();
  std::size_t size = std::max(kSegment, rounded_up(bytes, kHugePage));
  void* memory = take_from_system(size);
  if (memory == nullptr) {
    size = bytes;
    memory = take_from_system(size);
  }
  if (memory == nullptr) return nullptr;
  auto* piece = new (memory) Piece{size};
  insert(piece);
  return piece;
}

void* Segments::take(std::size_t bytes) noexcept {
  const std::size_t wanted = rounded_up(bytes, kPieceAlignment) + sizeof(Piece);
  Piece* piece = find(wanted);
  if (piece == nullptr) piece = new_segment(wanted);
  if (piece == nullptr) return nullptr;
  remove(piece);
  if (piece->bytes - wanted >= kLeast) insert(piece->split(wanted));
  return piece + 1;
}

void Segments::give(void* block) noexcept {
  Piece* piece = static_cast<Piece*>(block) - 1;
  if (piece->after != nullptr && piece->after->is_idle()) {
    remove(piece->after);
    piece->join_after();
  }
  if (piece->before != nullptr && piece->before->is_idle()) {
    piece = piece->before;
    remove(piece);
    piece->join_after();
  }
  insert(piece);
}

}  // namespace tend::detail
