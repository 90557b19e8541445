// Large blocks of the pool. These tests also run under both sanitizers.
#include <tend/core/memory/segments.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "tests/catch.h"

using namespace tend;
using detail::Segments;
using detail::taken_from_system;

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

// A Segments object and the blocks taken from it. The destructor gives all blocks back.
class Holder {
 public:
  ~Holder() {
    for (const auto& [data, bytes] : blocks_) segments_.give(data);
    segments_.release();
  }

  void take(std::size_t bytes) {
    auto* data = static_cast<std::uint8_t*>(segments_.take(bytes));
    REQUIRE(data != nullptr);
    CHECK(reinterpret_cast<std::uintptr_t>(data) % 64 == 0);
    blocks_.push_back({data, bytes});
  }
  void give(std::size_t number) {
    segments_.give(blocks_[number].data);
    blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(number));
  }
  void give_all() {
    while (!blocks_.empty()) give(blocks_.size() / 2);
  }

  struct Block {
    std::uint8_t* data;
    std::size_t bytes;
  };
  const std::vector<Block>& blocks() const { return blocks_; }
  void release() { segments_.release(); }

 private:
  Segments segments_;
  std::vector<Block> blocks_;
};

}  // namespace

TEST_CASE("Large blocks do not overlap when they are taken and given back in any order") {
  Holder holder;
  std::mt19937 random(1);
  const auto draw = [&](std::size_t end) { return random() % end; };
  std::vector<std::uint8_t> marks;
  for (int i = 0; i < 3000; ++i) {
    if (holder.blocks().empty() || draw(5) < 3) {
      holder.take(1 + (std::size_t{1} << draw(21)) + draw(70000));
      marks.push_back(static_cast<std::uint8_t>(i));
      std::memset(holder.blocks().back().data, marks.back(), holder.blocks().back().bytes);
    } else {
      const std::size_t number = draw(holder.blocks().size());
      const auto& [data, bytes] = holder.blocks()[number];
      const std::uint8_t mark = marks[number];
      REQUIRE(std::all_of(data, data + bytes, [mark](std::uint8_t each) { return each == mark; }));
      holder.give(number);
      marks.erase(marks.begin() + static_cast<std::ptrdiff_t>(number));
    }
    if (i % 1000 == 999) holder.release();
  }
}

TEST_CASE("Idle memory from blocks of one size is used for blocks of every other size") {
  Holder holder;
  const auto fill = [&](std::size_t count, std::size_t bytes) {
    for (std::size_t i = 0; i < count; ++i) holder.take(bytes);
  };
  fill(96, kMiB);
  const std::int64_t taken = taken_from_system();
  // The forward and backward pass of a training step need the same amount of memory, but in blocks
  // of other sizes.
  for (int step = 0; step < 3; ++step) {
    for (const std::size_t size : {kMiB / 3, kMiB, 6 * kMiB, 5 * kMiB / 2, 90 * kMiB}) {
      holder.give_all();
      fill(90 * kMiB / size, size);
    }
  }
  CHECK(taken_from_system() == taken);
}

TEST_CASE("release gives idle segments back to the system") {
  Holder holder;
  holder.take(4 * kMiB);
  holder.take(kMiB);
  holder.give(0);
  holder.release();  // the segment is still in use
  const std::int64_t taken = taken_from_system();
  holder.take(4 * kMiB);
  CHECK(taken_from_system() == taken);
  holder.give_all();
  holder.release();
  holder.take(kMiB);
  CHECK(taken_from_system() == taken + 1);
}
