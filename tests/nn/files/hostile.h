// tests/data/hostile: files with false headers (tests/data/make_hostile.py).
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

/// Checks that load(path) refuses each hostile file with this extension. Returns the number of
/// files.
///
/// The IoError must name the file and contain the text in expected.json. Before the error, at most
/// 64 KiB may be allocated for elements: headers claim up to 2^63 bytes, and zip bombs unpack to 4
/// MiB.
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
