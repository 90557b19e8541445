// Writes the numbers that tests count while they check, for counts.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/catch.h"

namespace tend::test {

/// Records how many things called `name` were checked. tests/merge_counts.cmake lists the names.
inline void write_count(const std::string& name, std::int64_t number) {
  std::filesystem::create_directories(TEND_COUNTS);
  std::ofstream file(TEND_COUNTS "/" + name);
  REQUIRE(file << number << '\n' << std::flush);
}

}  // namespace tend::test
