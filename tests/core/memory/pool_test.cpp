// The block pool. These tests also run under both sanitizers.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include <tend/core/array/array.h>
#include <tend/core/memory/pool.h>

#include "tests/catch.h"

using namespace tend;

namespace {

// This array is freed after the main thread's cache is closed.
const Array kOutlivesTheThread = Array::zeros({10}, float32);

struct Block {
  explicit Block(std::size_t size)
      : bytes(size), data(static_cast<std::uint8_t*>(take_block(size))) {}
  void fill(std::uint8_t value) const { std::memset(data, value, bytes); }
  bool holds(std::uint8_t value) const {
    return std::all_of(data, data + bytes, [value](std::uint8_t each) { return each == value; });
  }
  void give() const { give_block(data, bytes); }

  std::size_t bytes;
  std::uint8_t* data;
};

// Sizes next to the borders of size classes, on both sides.
std::vector<std::size_t> sizes() {
  std::vector<std::size_t> all;
  for (std::size_t power = 64; power <= std::size_t{1} << 22; power *= 2) {
    for (const std::size_t eighths : {8U, 10U, 12U, 14U}) {
      const std::size_t border = power / 8 * eighths;
      for (const std::size_t bytes : {border - 1, border, border + 1}) all.push_back(bytes);
    }
  }
  return all;
}

// The number of blocks that are taken from the system while f runs.
template <class F>
std::int64_t taken_by(F f) {
  const std::int64_t before = system_blocks();
  f();
  return system_blocks() - before;
}

}  // namespace

TEST_CASE("blocks are aligned and large enough and do not overlap") {
  std::vector<Block> blocks;
  std::uint8_t value = 0;
  for (const std::size_t bytes : sizes()) {
    blocks.emplace_back(bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(blocks.back().data) % 64 == 0);
    blocks.back().fill(++value);
  }
  value = 0;
  for (const Block& block : blocks) CHECK(block.holds(++value));
  for (const Block& block : blocks) block.give();
}

TEST_CASE("the pool reuses freed blocks and takes no new ones from the system") {
  const auto round = [] {
    std::vector<Block> blocks;
    for (const std::size_t bytes : sizes()) blocks.emplace_back(bytes);
    for (const Block& block : blocks) block.give();
  };
  round();
  const std::int64_t taken = taken_by(round);
  CHECK(taken == (detail::kKeepsBlocks ? 0 : static_cast<std::int64_t>(sizes().size())));
}

TEST_CASE("empty_cache gives free blocks back to the system") {
  const auto round = [] {
    for (const std::size_t bytes : {100U, 100000U}) Block(bytes).give();
  };
  round();
  empty_cache();
  CHECK(taken_by(round) == 2);
}

TEST_CASE("other threads reuse the free blocks of a thread that has ended") {
  static constexpr std::size_t kBytes = 1000;
  const auto round = [] {
    std::vector<Block> blocks;
    blocks.reserve(100);
    for (int i = 0; i < 100; ++i) blocks.emplace_back(kBytes);
    for (const Block& block : blocks) block.give();
  };
  empty_cache();
  std::thread(round).join();
  CHECK(taken_by(round) == (detail::kKeepsBlocks ? 0 : 100));
}

TEST_CASE("a thread may give back a block that another thread took") {
  constexpr int kThreads = 4, kRounds = 20000;
  std::vector<Block> handed;
  std::mutex mutex;
  std::atomic<int> spoilt{0};
  const auto work = [&](int thread) {
    for (int i = 0; i < kRounds; ++i) {
      const Block mine(static_cast<std::size_t>(1 + (i * 37 + thread) % 3000));
      const auto value = static_cast<std::uint8_t>(mine.bytes);
      mine.fill(value);
      const std::lock_guard lock(mutex);
      handed.push_back(mine);
      if (handed.size() < 50) continue;
      std::swap(handed[static_cast<std::size_t>(i) % 50], handed.back());
      const Block other = handed.back();
      handed.pop_back();
      if (!other.holds(static_cast<std::uint8_t>(other.bytes))) ++spoilt;
      other.give();
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  CHECK(spoilt == 0);
  for (const Block& block : handed) block.give();
}

TEST_CASE("threads empty the cache and read the counters while others allocate") {
  const std::int64_t before = live_memory();
  std::vector<std::thread> threads;
  threads.reserve(4);
  std::atomic<int> wrong{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 200; ++round) {
        const Array small = Array::empty({10 + i}, float32),
                    large = Array::empty({100000}, float32);
        if (i == 0) empty_cache();
        // Both counters may miss up to 64 KiB for each of the other threads.
        if (live_memory() < before - 3 * 65536 || peak_memory() < 400000 - 4 * 65536) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(live_memory() == before);
}

TEST_CASE("live memory counts the bytes of arrays from every thread") {
  const std::int64_t before = live_memory();
  Array small = Array::empty({3, 5}, float64);
  CHECK(live_memory() - before == 120);
  Array large = Array::empty({1000, 1000}, float32), view = large.narrow(0, 5, 10);
  CHECK(live_memory() - before == 120 + 4000000);
  large = Array();
  CHECK(live_memory() - before == 120 + 4000000);
  view = Array();
  CHECK(live_memory() - before == 120);

  Array given;
  std::thread other([&] {
    const Array kept = Array::empty({7}, boolean);
    given = Array::empty({2}, float32);
  });
  other.join();
  CHECK(live_memory() - before == 120 + 8);
  given = Array();
  small = Array();
  CHECK(live_memory() == before);
}

TEST_CASE("peak memory is the maximum of live memory since the last reset") {
  const std::int64_t before = live_memory();
  reset_peak_memory();
  CHECK(peak_memory() == before);
  { const Array small = Array::empty({10}, float32), large = Array::empty({1 << 20}, float32); }
  const Array after = Array::empty({5}, float32);
  CHECK(peak_memory() - before == 40 + (4 << 20));
  reset_peak_memory();
  CHECK(peak_memory() - before == 20);
}

TEST_CASE("a request for too much memory is an OutOfMemoryError and the program continues") {
  const std::int64_t before = live_memory();
  CHECK_THROWS_WITH(Array::empty({std::int64_t{1} << 45}, float32),
                    "[allocate] the system did not give 140737488355328 bytes");
  CHECK_THROWS_AS(Array::empty({std::int64_t{1} << 45}, boolean), OutOfMemoryError);
  CHECK_THROWS_AS(Array::empty({std::int64_t{1} << 60}, boolean), OutOfMemoryError);
  for (const std::size_t bytes :
       {std::size_t{1} << 47, std::size_t{1} << 55, SIZE_MAX - 64, SIZE_MAX})
    CHECK_THROWS_AS(take_block(bytes), OutOfMemoryError);
  CHECK(live_memory() == before);
  CHECK(Array::full({100000}, 2, float32).to_vector<float>() == std::vector<float>(100000, 2.0F));
}

TEST_CASE("borrowed memory is freed once by its deleter and is not counted") {
  const std::int64_t before = live_memory();
  float numbers[4] = {1, 2, 3, 4};
  int freed = 0;
  {
    const Array all = Array::from_blob(numbers, {4}, {1}, float32, [&](void* data) {
      CHECK(data == numbers);
      ++freed;
    });
    CHECK(all.storage()->is_borrowed());
    const Array part = all.narrow(0, 1, 2);
    CHECK(live_memory() == before);
  }
  CHECK(freed == 1);
}
