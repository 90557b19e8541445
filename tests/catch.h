#pragma once

/// Tests include this header instead of Catch2's. It makes Catch2 2.13 (Debian 12) and 3.x (Debian
/// 13) available under the names of 3.x.

#if __has_include(<catch2/catch_test_macros.hpp>)

#include <catch2/catch_approx.hpp>
#include <catch2/catch_message.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/catch_tostring.hpp>
#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_all.hpp>

using Catch::Approx;

#else

#include <catch2/catch.hpp>

namespace Catch::Matchers {

// NOLINTNEXTLINE(readability-identifier-naming): Catch2 3.x has this name
inline auto ContainsSubstring(const std::string& text) {
  return Contains(text);
}

}  // namespace Catch::Matchers

#endif
