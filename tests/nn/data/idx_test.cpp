#include <tend/nn/data/idx.h>

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/examples/process.h"
#include "tests/nn/files/hostile.h"

using namespace tend;
using namespace std::string_literals;
using Catch::Matchers::ContainsSubstring;

namespace {

Tensor idx_of(const std::string& bytes, std::optional<DType> dtype = std::nullopt) {
  const test::TemporaryFolder folder;
  std::ofstream(folder.file("x"), std::ios::binary) << bytes;
  return data::load_idx(folder.file("x"), dtype);
}

}  // namespace

TEST_CASE("load_idx reads every type of the format, big-endian") {
  const Tensor images = idx_of("\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x02\x01\xff\0\x80"s);
  CHECK(images.shape() == Shape{2, 1, 2});
  CHECK(images.to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 255, 0, 128});
  const std::string one = "\x01\0\0\0\x02"s;
  CHECK(idx_of("\0\0\x09"s + one + "\xff\x7f").to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{-1, 127});
  CHECK(idx_of("\0\0\x0b"s + one + "\xff\xfe\x01\0"s).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{-2, 256});
  CHECK(idx_of("\0\0\x0c"s + one + "\xff\xff\xff\xfd\0\x01\0\0"s).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{-3, 65536});
  CHECK(idx_of("\0\0\x0d"s + one + "\x3f\x80\0\0\xc0\0\0\0"s).to_vector<float>() ==
        std::vector<float>{1, -2});
  const Tensor doubles = idx_of("\0\0\x0e\x01\0\0\0\x01\x3f\xf8\0\0\0\0\0\0"s);
  CHECK(doubles.dtype() == float64);
  CHECK(doubles.item() == 1.5);
  CHECK(idx_of("\0\0\x08"s + one + "\x05\x06", float32).to_vector<float>() ==
        std::vector<float>{5, 6});
  const Tensor truths = idx_of("\0\0\x08"s + one + "\0\x06"s, boolean);
  CHECK(truths.dtype() == boolean);
  CHECK(truths.to_vector<bool>() == std::vector<bool>{false, true});
  CHECK(idx_of("\0\0\x08\0\x07"s).shape() == Shape{});
  CHECK(idx_of("\0\0\x08\x02\0\0\0\0\0\0\0\x05"s).shape() == Shape{0, 5});
  // load_idx reads this many elements in several parts.
  const Tensor large = idx_of("\0\0\x08\x01\0\0\x50\0"s + std::string(0x4fff, '\1') + '\2');
  CHECK(large.sum().item<std::int64_t>() == 0x5001);
}

TEST_CASE("load_idx refuses files with wrong headers") {
  const auto check = [](const std::string& bytes, const char* message) {
    CHECK_THROWS_AS(idx_of(bytes), IoError);
    CHECK_THROWS_WITH(idx_of(bytes), ContainsSubstring(message));
  };
  check("", "too few for a header");
  check("\0\0\x08"s, "too few for a header");
  check("\x1f\x8b\x08\0\0\0\0\0"s, "gunzip");
  check("P5 640 480", "is not an IDX file");
  check("\x1f\0\x08\x01"s, "is not an IDX file");
  check("\0\x01\x08\x01"s, "is not an IDX file");
  check("\0\0\x0a\x01\0\0\0\x01\x01"s, "unknown type 10");
  check("\0\0\x08\xff\0\0\0\x01"s, "is cut off: the header should have 255 sizes");
  check("\0\0\x08\x01\0\0\0\x03\x01\x01"s, "says shape (3,) and element size 1");
  check("\0\0\x08\x01\0\0\0\x01\x01\x01"s, "says shape (1,) and element size 1");
  check("\0\0\x08\x01\0\0\0\0\x01"s, "says shape (0,) and element size 1");
  check("\0\0\x0d\x01\0\0\0\x02\x01\x01"s, "element size 4");
  // The product of the sizes is 2^64 times 2^64, which would wrap around to 0.
  check("\0\0\x08\x04"s + "\x80\0\0\0\x80\0\0\0\x80\0\0\0\x80\0\0\0"s, "but its header says shape");
  const std::string large = "\xff\xff\xff\xff"s;
  check("\0\0\x08\x05\0\0\0\0"s + large + large + large + large, "but its header says shape");
  CHECK_THROWS_AS(data::load_idx("/nowhere"), IoError);
}

TEST_CASE("hostile IDX files are refused") {
  CHECK(test::check_hostile(".idx", [](const auto& path) { data::load_idx(path); }) == 7);
}
