// tests/data/hostile: files that lie (tests/data/make_hostile.py).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include <tend/core/base/error.h>
#include <tend/core/memory/pool.h>

#include "tests/catch.h"

#include <nlohmann/json.hpp>

namespace tend::test {

/// load(path) of each hostile file that ends so is refused by an IoError that names the file and
/// says what expected.json has, before more than 64 KiB were taken for elements (the files promise
/// up to 2^63 bytes, and those of the bombs unpack to 4 MiB). Returns how many files there are.
template <class Load>
std::size_t check_hostile(const std::string& extension, const Load& load) {
  const std::filesystem::path folder = TEND_TEST_DATA "/hostile";
  std::size_t count = 0;
  const auto expected = nlohmann::json::parse(std::ifstream(folder / "expected.json"));
  for (const auto& [name, words] : expected.items()) {
    if (!name.ends_with(extension)) continue;
    INFO(name);
    ++count;
    const std::int64_t live = live_memory();
    reset_peak_memory();
    std::string message = "no IoError";
    try {
      load(folder / name);
    } catch (const IoError& error) {
      message = error.what();
    }
    CHECK_THAT(message, Catch::Matchers::ContainsSubstring(name) &&
                            Catch::Matchers::ContainsSubstring(words.template get<std::string>()));
    CHECK(peak_memory() - live <= 1 << 16);
  }
  return count;
}

}  // namespace tend::test
