// What a function drew from the default generator, drawn once more.
#include <tend/core/random/draws.h>

#include <cstdint>
#include <thread>
#include <vector>

#include "tests/catch.h"

using namespace tend;

namespace {

std::uint32_t draw(Generator& generator = default_generator()) {
  const GeneratorLock lock(generator);
  return generator.u32();
}

void draw_on_another_thread() {
  std::thread([] { draw(); }).join();
}

}  // namespace

TEST_CASE("A replay gives the numbers of the record, and the generator goes on as without it") {
  manual_seed(1);
  DrawRecord record;
  std::vector<std::uint32_t> first;
  {
    const DrawRecording recording(record);
    for (int i = 0; i < 3; ++i) first.push_back(draw());
    first.push_back(default_generator().u32());
  }
  const std::uint32_t before = draw();
  {
    const DrawReplay replay(record);
    for (const std::uint32_t number : first) CHECK(draw() == number);
    CHECK(draw() == before);  // as a function does that draws more than it did
    manual_seed(7);
  }
  const std::uint32_t after = draw();
  manual_seed(1);
  std::vector<std::uint32_t> all;
  for (int i = 0; i < 6; ++i) all.push_back(draw());
  first.insert(first.end(), {before, after});
  CHECK(all == first);
}

TEST_CASE("A replay leaves out what other threads drew meanwhile") {
  manual_seed(1);
  DrawRecord record;
  draw_on_another_thread();  // before the first draw
  std::vector<std::uint32_t> first;
  {
    const DrawRecording recording(record);
    for (int i = 0; i < 6; ++i) {
      first.push_back(draw());
      if (i % 2 == 1) draw_on_another_thread();
    }
  }
  const DrawReplay replay(record);
  draw_on_another_thread();
  for (const std::uint32_t number : first) CHECK(draw() == number);
}

TEST_CASE("A replay holds for a reference to the generator of all threads, too") {
  manual_seed(1);
  Generator& shared = default_generator();
  DrawRecord record;
  std::vector<std::uint32_t> first;
  {
    const DrawRecording recording(record);
    for (int i = 0; i < 4; ++i) first.push_back(draw(shared));
  }
  const Generator before = shared;
  {
    const DrawReplay replay(record);
    CHECK(draw(shared) == first[0]);
    CHECK(draw() == first[1]);
    const GeneratorLock lock(shared);
    CHECK(draw(shared) == first[2]);
    CHECK(shared.u32() == first[3]);
  }
  CHECK(shared == before);
}

TEST_CASE("Records and replays nest") {
  manual_seed(1);
  DrawRecord outer;
  std::vector<std::uint32_t> first;
  const auto run = [&first](DrawRecord& inner) {
    const DrawRecording recording(inner);
    draw_on_another_thread();
    const std::uint32_t one = draw(), two = draw();
    first.insert(first.end(), {one, two});
  };
  {
    const DrawRecording recording(outer);
    first.push_back(draw());
    DrawRecord inner;
    run(inner);
    {
      const DrawReplay replay(inner);
      CHECK(draw() == first[1]);
    }
    first.push_back(draw());
  }
  const std::vector<std::uint32_t> expected = first;
  const DrawReplay replay(outer);
  CHECK(draw() == expected[0]);
  first.clear();
  DrawRecord inner;
  run(inner);
  CHECK(first == std::vector<std::uint32_t>(expected.begin() + 1, expected.begin() + 3));
  {
    const DrawReplay again(inner);
    CHECK(draw() == expected[1]);
    CHECK(draw() == expected[2]);
  }
  CHECK(draw() == expected[3]);
}
