#include <tend/nn/data/csv.h>
#include <cmath>

#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/examples/process.h"
#include "tests/nn/files/hostile.h"

using namespace tend;
using Catch::Matchers::ContainsSubstring;
using data::parse_csv;
using Names = std::vector<std::string>;

TEST_CASE("a table may have any line ends, quotes and spaces") {
  const std::string texts[] = {"a,b\n1,2.5\n-3,4e2\n", "a,b\r\n1,2.5\r\n-3,4e2",
                               "\xEF\xBB\xBF\"a\",b\n\n \"1\",  +2.5 \n\n-3,\"4e2\"\n\n",
                               "a,b\r1,2.5\r-3,400\r"};
  for (std::string text : texts) {
    // The opening quote must be the first character of its field.
    if (const auto at = text.find(" \"1\""); at != std::string::npos) text.erase(at, 1);
    const data::CsvTable table = parse_csv(text);
    CHECK(table.names == Names{"a", "b"});
    CHECK(table.values.shape() == Shape{2, 2});
    CHECK(table.values.to_vector<float>() == std::vector<float>{1, 2.5, -3, 400});
  }
  CHECK(parse_csv("\"a \"\"x\"\", y\nz\";b\n1;2", {.delimiter = ';'}).names ==
        Names{"a \"x\", y\nz", "b"});
}

TEST_CASE("a table has the requested dtype and the exact numbers") {
  const data::CsvOptions options{.header = false, .dtype = int64};
  CHECK(parse_csv("9007199254740993,-9223372036854775808", options)
            .values.to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{9007199254740993, std::numeric_limits<std::int64_t>::min()});
  CHECK(parse_csv("0.1\n1e-50", {.header = false}).values.to_vector<float>() ==
        std::vector<float>{0.1f, 0.0f});
  // A number that is too small even for a float64 is zero, as in NumPy.
  for (const DType dtype : {float32, float64}) {
    const Tensor tiny = parse_csv("1e-400\n-1e-400\n0." + std::string(400, '0') + "1\n0." +
                                      std::string(400, '0') + "1e10",
                                  {.header = false, .dtype = dtype})
                            .values;
    CHECK(tiny.to(float64).to_vector<double>() == std::vector<double>{0, 0, 0, 0});
    CHECK(std::signbit(tiny[{1, 0}].item()));
  }
  CHECK(parse_csv("0.1", {.header = false, .dtype = float64}).values.item() == 0.1);
  CHECK(parse_csv("a,b\n").values.shape() == Shape{0, 2});
  CHECK(parse_csv("").values.shape() == Shape{0, 0});
  CHECK(parse_csv("1 2\n", {.delimiter = ' ', .header = false}).values.numel() == 2);
  CHECK_THROWS_AS(parse_csv("a\n1", {.dtype = boolean}), DTypeError);
}

TEST_CASE("an error in a table names its line and column") {
  const auto check = [](const std::string& text, const char* message,
                        const data::CsvOptions& options = {}) {
    INFO(text);
    CHECK_THROWS_AS(parse_csv(text, options), IoError);
    CHECK_THROWS_WITH(parse_csv(text, options), ContainsSubstring(message));
  };
  check("a,b\n1,2\n3,x4\n", "line 3, column 2: \"x4\" is not a valid float32");
  check("a,b\n1,\n", "line 2, column 2: \"\" is not a valid float32");
  check("a,b\n1,", "line 2, column 2: \"\" is not a valid float32");
  check("a,b\n1,2,3\n", "line 2, column 3: the line has more than the 2 fields");
  check("a,b\n1\n", "line 2, column 1: the line must have 2 fields, but has 1");
  check("\"a\nb\",c\n1,2.5\n", "line 3, column 2: \"2.5\" is not a valid int64", {.dtype = int64});
  check("1,2\n3,4,5", "line 2, column 3", {.header = false});
  check("a\n\"1\n", "line 2, column 1: the quote is not closed");
  check("a\n\"1\"2\n", "line 2, column 1: there is text after");
  check("a\n1e400\n", "\"1e400\" is out of the range of float32");
  check("a\n1e39\n", "out of the range of float32");
  check("a\n1e400\n", "out of the range of float64", {.dtype = float64});
  check("a\n1" + std::string(400, '0') + "e-10\n", "out of the range of float64",
        {.dtype = float64});
  check("a\n9223372036854775808\n", "out of the range of int64", {.dtype = int64});
  check("a\n+-1\n", "is not a valid float32");
  check("a\n0x10\n", "is not a valid float32");
  check("a\n1,5\n", "line 2, column 2");
  for (const char delimiter : {'"', '\n', '.', '3', 'e', 'E', '-'})
    CHECK_THROWS_AS(parse_csv("a\n1\n", {.delimiter = delimiter}), Error);
}

TEST_CASE("a table is read from a file and its errors name the file") {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("table.csv");
  std::ofstream(path) << "x\n1\ntwo\n";
  CHECK_THROWS_WITH(data::read_csv(path),
                    "[read_csv] " + path + ": line 3, column 1: \"two\" is not a valid float32");
  std::ofstream(path) << "x\n1\n2\n";
  CHECK(data::read_csv(path).values.to_vector<float>() == std::vector<float>{1, 2});
  CHECK_THROWS_AS(data::read_csv(folder.path()), IoError);
}

TEST_CASE("CSV files that are not tables of numbers are refused") {
  CHECK(test::check_hostile(".csv", [](const auto& path) { data::read_csv(path); }) == 7);
}
