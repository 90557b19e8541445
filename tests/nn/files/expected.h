// tests/data/npy: files that NumPy wrote, and the values that it reads (tests/data/make_npy.py).
#pragma once

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include <tend/tend.h>

#include "tests/catch.h"

#include <nlohmann/json.hpp>

namespace tend::test {

inline std::filesystem::path npy_folder() {
  return TEND_TEST_DATA "/npy";
}

inline const nlohmann::json& numpy_files() {
  static const nlohmann::json data =
      nlohmann::json::parse(std::ifstream(npy_folder() / "expected.json"));
  return data;
}

/// Checks that `got` has the dtype, shape and values of `wanted`, in which numbers are texts. -0 is
/// different from 0.
inline void check_same(const Tensor& got, const nlohmann::json& wanted) {
  CHECK(dtype_name(got.dtype()) == wanted.at("dtype").get<std::string>());
  CHECK(got.shape() == Shape(wanted.at("shape").get<std::vector<std::int64_t>>()));
  const nlohmann::json& values = wanted.at("values");
  REQUIRE(got.numel() == static_cast<std::int64_t>(values.size()));
  const Tensor flat = got.detach().reshape({-1});
  for (std::int64_t i = 0; i < got.numel(); ++i) {
    const std::string text = values[static_cast<std::size_t>(i)].get<std::string>();
    INFO("element " << i << " is " << text);
    if (is_floating(got.dtype())) {
      const double value = flat[i].to(float64).item<double>(),
                   other = std::strtod(text.c_str(), nullptr);
      CHECK(std::memcmp(&value, &other, sizeof value) == 0);
    } else {
      CHECK(flat[i].to(int64).item<std::int64_t>() == std::stoll(text));
    }
  }
}

}  // namespace tend::test
