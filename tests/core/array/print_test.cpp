#include <fstream>
#include <limits>
#include <locale>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include <tend/core/array/print.h>

#include "tests/arrays.h"
#include "tests/catch.h"

using namespace tend;
using nlohmann::json;
using tend::test::dtype_named;

namespace {

const json& fixtures() {
  static const json all = json::parse(std::ifstream(TEND_TEST_DATA "/print.json"));
  return all;
}

double number(const json& value) {
  if (!value.is_string()) return value.get<double>();
  const double size = value == "nan" ? std::numeric_limits<double>::quiet_NaN()
                                     : std::numeric_limits<double>::infinity();
  return value == "-inf" ? -size : size;
}

template <class T>
Array printed_array(const json& test, const Shape& shape) {
  const std::int64_t count = element_count(shape);
  Array dense = Array::empty(shape, dtype_of<T>());
  for (std::int64_t i = 0; i < count; ++i) {
    T& element = dense.data<T>()[i];
    if (test.contains("series")) {
      const auto step = static_cast<double>(i);
      element = convert<T>(number(test["series"][0]) + number(test["series"][1]) * step);
    } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::int64_t>) {
      element = test["values"][static_cast<std::size_t>(i)].get<T>();
    } else {
      element = static_cast<T>(number(test["values"][static_cast<std::size_t>(i)]));
    }
  }
  return dense;
}

Array printed_array(const json& test) {
  Shape shape;
  for (const json& size : test["shape"]) shape.push_back(size.get<std::int64_t>());
  return visit_dtype(dtype_named(test["dtype"]), [&](auto tag) {
    return printed_array<typename decltype(tag)::type>(test, shape);
  });
}

PrintOptions options_of(const json& test) {
  PrintOptions options;
  if (!test.contains("options")) return options;
  const json& given = test["options"];
  options.precision = given.value("precision", options.precision);
  options.threshold = given.value("threshold", options.threshold);
  options.edgeitems = given.value("edgeitems", options.edgeitems);
  options.linewidth = given.value("linewidth", options.linewidth);
  if (given.contains("sci_mode")) options.sci_mode = given["sci_mode"].get<bool>();
  return options;
}

std::string printed(const json& test, const Array& array) {
  const auto suffixes = test.value("suffixes", std::vector<std::string>());
  return format_tensor(array, suffixes, options_of(test));
}

// A German locale's numbers: a comma instead of the decimal point, and points between thousands.
class GermanNumbers : public std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

struct LocaleGuard {
  explicit LocaleGuard(const std::locale& locale) : before(std::locale::global(locale)) {}
  ~LocaleGuard() { std::locale::global(before); }
  std::locale before;
};

}  // namespace

TEST_CASE("Arrays print as PyTorch prints tensors") {
  REQUIRE(fixtures()["tensors"].size() > 300);
  for (const json& test : fixtures()["tensors"]) {
    CHECK(printed(test, printed_array(test)) == test["text"].get<std::string>());
  }
}

TEST_CASE("A locale does not change printed text") {
  const LocaleGuard german(std::locale(std::locale::classic(), new GermanNumbers));
  std::ostringstream probe;
  probe << 1234.5;
  REQUIRE(probe.str() == "1.234,5");
  for (const json& test : fixtures()["tensors"]) {
    CHECK(printed(test, printed_array(test)) == test["text"].get<std::string>());
  }
  CHECK(python_repr(1234567.5) == "1234567.5");
  CHECK(size_text({12345, 2}) == "torch.Size([12345, 2])");
}

TEST_CASE("A double has Python's repr") {
  for (const json& test : fixtures()["reprs"]) {
    const double value = std::strtod(test[0].get<std::string>().c_str(), nullptr);
    CHECK(python_repr(value) == test[1].get<std::string>());
  }
}

TEST_CASE("A shape prints as torch.Size") {
  CHECK(size_text({}) == "torch.Size([])");
  CHECK(size_text({3}) == "torch.Size([3])");
  CHECK(size_text({2, 3, 0}) == "torch.Size([2, 3, 0])");
}

TEST_CASE("A stream prints with the options that were set") {
  const Array array = Array::full({2}, 1.0 / 3.0, float32);
  const PrintOptions before = get_printoptions();
  CHECK(before == PrintOptions{});
  PrintOptions options;
  options.precision = 2;
  set_printoptions(options);
  CHECK(get_printoptions() == options);
  std::ostringstream out;
  out << array;
  set_printoptions(before);
  out << '\n' << array;
  CHECK(out.str() == "tensor([0.33, 0.33])\ntensor([0.3333, 0.3333])");
}

TEST_CASE("Print options out of range are refused") {
  const auto refused = [](auto change, const std::string& message) {
    PrintOptions options;
    change(options);
    CHECK_THROWS_WITH(set_printoptions(options), message);
    CHECK_THROWS_WITH(to_string(Array::zeros({2}, float32), options), message);
    CHECK(get_printoptions() == PrintOptions{});
  };
  refused([](auto& o) { o.precision = -1; }, "[set_printoptions] precision is -1, not >= 0");
  refused([](auto& o) { o.precision = 1001; },
          "[set_printoptions] precision must be at most 1000, but is 1001");
  refused([](auto& o) { o.threshold = -2; }, "[set_printoptions] threshold is -2, not >= 0");
  refused([](auto& o) { o.edgeitems = -3; }, "[set_printoptions] edgeitems is -3, not >= 0");
  refused([](auto& o) { o.linewidth = -4; }, "[set_printoptions] linewidth is -4, not >= 0");
}
