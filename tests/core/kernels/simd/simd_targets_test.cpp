// Rules that no compiler checks, read from the sources of the SIMD kernels.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/catch.h"

namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

// Without them first, Highway would compile a file for other targets than the rest, and the sources
// would not agree on which functions there are.
TEST_CASE("Every kernel source names the SIMD targets before it includes anything of Highway") {
  int sources = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(TEND_SOURCE "/core")) {
    if (!entry.is_regular_file()) continue;
    const std::string text = text_of(entry.path());
    const auto all_targets = text.find("#include <hwy/foreach_target.h>");
    if (all_targets == std::string::npos) continue;
    ++sources;
    INFO(entry.path().filename().string());
    const auto named = text.find("#include <tend/core/kernels/simd/simd_targets.h>");
    CHECK(named < text.find("#include <hwy/"));
  }
  CHECK(sources > 10);
}
