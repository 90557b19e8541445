#include <tend/core/random/distributions.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <tend/core/random/multinomial.h>
#include <tend/core/threads/parallel.h>

#include "tests/arrays.h"
#include "tests/catch.h"

using namespace tend;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;
using tend::test::dtype_named;

namespace {

const json& fixtures() {
  static const json all = json::parse(std::ifstream(TEND_TEST_DATA "/random.json"));
  return all;
}

std::uint32_t crc32(std::uint32_t crc, const std::uint8_t* bytes, std::size_t count) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> t{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      t[i] = i;
      for (int bit = 0; bit < 8; ++bit) t[i] = t[i] >> 1 ^ ((t[i] & 1u) * 0xedb88320u);
    }
    return t;
  }();
  crc = ~crc;
  for (std::size_t i = 0; i < count; ++i) crc = table[(crc ^ bytes[i]) & 0xffu] ^ crc >> 8;
  return ~crc;
}

// Without fused multiply-add, the last bits of PyTorch's vectorised normal numbers differ.
bool has_fma() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2");
#else
  return true;
#endif
}

bool exact(const json& test) {
  return has_fma() || test["name"] != "normal" || test["dtype"] != "float32";
}

std::uint32_t crc_of(const Array& drawn, const std::string& name, std::uint32_t crc = 0) {
  // See make_random.py: float64 normal and exponential numbers are compared as float32.
  const bool rounded = name == "normal" || name == "exponential";
  const Array dense = (rounded ? drawn.to(float32) : drawn).contiguous();
  return crc32(crc, static_cast<const std::uint8_t*>(dense.raw()),
               static_cast<std::size_t>(dense.numel() * item_size(dense.dtype())));
}

std::uint32_t next_word(Generator& generator) {
  return generator.u32() % 0xffffffffu;
}

Array series(std::int64_t count, std::int64_t step, std::int64_t modulus, double plus, double scale,
             DType dtype) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back((static_cast<double>(i * step % modulus) + plus) / scale);
  }
  return Array::from<double>(values, {count}).to(dtype);
}

Array weights(std::int64_t count, DType dtype) {
  return series(count, 53, 17, 1.0, 8.0, dtype);
}

Array draw_multinomial(std::int64_t categories, const json& arguments, Generator& generator) {
  const bool replacement = arguments[2];
  const std::int64_t most = arguments[1];
  Array out = Array::empty({replacement ? most : std::min(most, categories)}, int64);
  kernels::multinomial(out, weights(categories, dtype_named(arguments[0])), replacement, generator);
  return out;
}

// Fills `out` with random numbers and returns it. For a multinomial, returns another array.
Array draw(const Array& out, const std::string& name, const json& arguments, Generator& generator) {
  if (name == "uniform") {
    kernels::uniform(out, arguments[0], arguments[1], generator);
  } else if (name == "normal") {
    kernels::normal(out, arguments[0], arguments[1], generator);
  } else if (name == "exponential") {
    kernels::exponential(out, arguments[0], generator);
  } else if (name == "bernoulli") {
    kernels::bernoulli(out, arguments[0].get<double>(), generator);
  } else if (name == "bernoulli with probabilities") {
    const Array p = series(out.numel(), 37, 65, 0.0, 64.0, dtype_named(arguments[0]));
    kernels::bernoulli(out, p.view(out.shape()), generator);
  } else if (name == "randint") {
    kernels::randint(out, arguments[0], arguments[1], generator);
  } else if (name == "randperm") {
    kernels::randperm(out, generator);
  } else if (name == "dropout") {
    kernels::draw_keep_mask(out, 1.0 - arguments[0].get<double>(), generator);
  } else {
    return draw_multinomial(out.numel(), arguments, generator);
  }
  return out;
}

double element_value(const json& element) {
  if (element.is_string()) return std::strtod(element.get<std::string>().c_str(), nullptr);
  return element.get<double>();
}

// Checks one element. The allowed error is the difference between two versions of libm, plus
// `slack` for float32 normal numbers without FMA.
void check_close(const Array& drawn, std::int64_t index, const json& expected, double slack) {
  const Array element = drawn.reshape({-1}).select(0, index);
  if (!is_floating(drawn.dtype())) {
    CHECK(element.item<std::int64_t>() ==
          (expected.is_boolean() ? expected.get<bool>() : expected.get<std::int64_t>()));
    return;
  }
  const double value = element_value(expected);
  const bool is_double = drawn.dtype() == float64;
  const double ulps = is_double ? 8 * std::numeric_limits<double>::epsilon() : 0.0;
  CHECK(std::abs(element.item<double>() - value) <= ulps * (1.0 + std::abs(value)) + slack);
}

double slack_of(const json& test) {
  return exact(test) ? 0.0 : 2e-6 * test["arguments"][1].get<double>();
}

void check_size(const json& test, std::int64_t count, std::uint32_t& crc) {
  const std::string name = test["name"];
  Generator generator(static_cast<std::uint64_t>(count));
  const Array drawn =
      draw(Array::empty({count}, dtype_named(test["dtype"])), name, test["arguments"], generator);
  crc = crc_of(drawn, name, crc);
  const std::uint32_t word = next_word(generator);
  std::array<std::uint8_t, 4> bytes{};
  for (std::size_t i = 0; i < 4; ++i) bytes[i] = static_cast<std::uint8_t>(word >> (8 * i));
  crc = crc32(crc, bytes.data(), bytes.size());

  const std::string key = std::to_string(count);
  if (!test["samples"].contains(key)) return;
  for (const json& sample : test["samples"][key]) {
    INFO("element " << sample[0]);
    check_close(drawn, sample[0], sample[1], slack_of(test));
  }
}

Array empty_layout(const std::string& layout, DType dtype) {
  const auto empty = [&](const Shape& shape) { return Array::empty(shape, dtype); };
  if (layout == "transposed") return empty({7, 5}).transpose(0, 1);
  if (layout == "permuted") return empty({4, 3, 2, 3}).permute({2, 0, 3, 1});
  if (layout == "sliced") return empty({6, 20}).slice(0, 1, 5).slice(1, {}, {}, 2);
  if (layout == "sliced and transposed") {
    return empty({20, 6}).slice(0, {}, {}, 2).slice(1, 1, 5).transpose(0, 1);
  }
  if (layout == "row of a column") return empty({40, 3}).select(1, 1);
  if (layout == "one element a row") return empty({20, 1}).transpose(0, 1);
  REQUIRE(layout == "few");
  return empty({2, 3}).transpose(0, 1);
}

}  // namespace

TEST_CASE("Every distribution gives PyTorch's numbers for 1 to 2000 elements") {
  REQUIRE(fixtures()["sizes"].size() == 40);
  for (const json& test : fixtures()["sizes"]) {
    INFO(test["dtype"] << ' ' << test["name"] << ' ' << test["arguments"]);
    std::uint32_t crc = 0;
    for (std::int64_t count = 1; count <= 2000; ++count) {
      check_size(test, count, crc);
      if (count % 25 != 0) continue;
      INFO("up to " << count << " elements");
      const auto expected = test["crcs"][static_cast<std::size_t>(count / 25 - 1)];
      if (exact(test)) REQUIRE(crc == expected.get<std::uint32_t>());
    }
  }
}

TEST_CASE("Arrays that are not contiguous are filled in PyTorch's order") {
  REQUIRE(fixtures()["layouts"].size() > 200);
  for (const json& test : fixtures()["layouts"]) {
    INFO(test);
    const std::string name = test["name"];
    Generator generator(42);
    const Array out = empty_layout(test["layout"], dtype_named(test["dtype"]));
    const Array drawn = draw(out, name, test["arguments"], generator);
    if (exact(test)) CHECK(crc_of(drawn, name) == test["crc"].get<std::uint32_t>());
    CHECK(next_word(generator) == test["next"].get<std::uint32_t>());
  }
}

TEST_CASE("Rows of a multinomial are the same as PyTorch's") {
  const auto& cases = fixtures().at("multinomial");
  REQUIRE(cases.size() == 16);
  for (const json& test : cases) {
    INFO(test);
    const Array flat = weights(30, dtype_named(test["dtype"]));
    const bool transposed = test["transposed"];
    const Array rows = transposed ? flat.view({6, 5}).transpose(0, 1) : flat.view({5, 6});
    const std::int64_t samples = test["samples"];
    for (const bool dense_output : {true, false}) {
      Generator generator(9);
      const Array out = dense_output ? Array::empty({5, samples}, int64)
                                     : Array::empty({samples, 5}, int64).transpose(0, 1);
      kernels::multinomial(out, rows, test["replacement"], generator);
      CHECK(out.to_vector<std::int64_t>() == test["drawn"].get<std::vector<std::int64_t>>());
      CHECK(next_word(generator) == test["next"].get<std::uint32_t>());
    }
  }
}

TEST_CASE("Large arrays get PyTorch's numbers with one thread and with several") {
  const int before = num_threads();
  for (const int threads : {1, 4}) {
    set_num_threads(threads);
    const auto& cases = fixtures().at("large");
    REQUIRE(cases.size() == 10);
    for (const json& test : cases) {
      INFO(test);
      const std::int64_t count = test["count"];
      Generator generator(static_cast<std::uint64_t>(count));
      const Array out = Array::empty({count}, dtype_named(test["dtype"]));
      const Array drawn = draw(out, test["name"], test["arguments"], generator);
      if (exact(test)) CHECK(crc_of(drawn, test["name"]) == test["crc"].get<std::uint32_t>());
      CHECK(next_word(generator) == test["next"].get<std::uint32_t>());
    }
  }
  set_num_threads(before);
}

TEST_CASE("Calls of several distributions from one generator give PyTorch's numbers") {
  const json& sequence = fixtures()["sequence"];
  Generator generator((std::uint64_t{1} << 40) + 123);
  for (const json& step : sequence["steps"]) {
    INFO(step);
    if (step["name"] == "manual_seed") {
      generator.manual_seed(step["count"].get<std::uint64_t>());
      continue;
    }
    const std::int64_t count = step["count"];
    const Array out = Array::empty({count}, dtype_named(step["dtype"]));
    const Array drawn = draw(out, step["name"], step["arguments"], generator);
    const auto shown = static_cast<std::int64_t>(step["drawn"].size());
    for (std::int64_t i = 0; i < shown; ++i) {
      const json& expected = step["drawn"][static_cast<std::size_t>(i)];
      check_close(drawn, count - shown + i, expected, slack_of(step));
    }
  }
  CHECK(next_word(generator) == sequence["next"].get<std::uint32_t>());
}

TEST_CASE("The MKL stream gives a published dropout mask") {
  // Dropout(0.5) of ones after manual_seed(123) on Linux, in rasbt/LLMs-from-scratch, issue 57.
  const std::string published =
      "111111"
      "010000"
      "001010"
      "110001"
      "100001"
      "010000";
  for (const bool transposed : {false, true}) {
    Generator generator(123);
    generator.set_bernoulli_stream(BernoulliStream::mkl);
    Array mask = Array::empty({6, 6}, boolean);
    if (transposed) mask = mask.transpose(0, 1);
    kernels::draw_keep_mask(mask, 0.5, generator);
    std::string drawn;
    for (const bool keep : mask.to_vector<bool>()) drawn += keep ? '1' : '0';
    CHECK(drawn == published);
    Generator after(123);
    after.u32();
    CHECK(generator.u32() == after.u32());
  }
}

TEST_CASE("The MKL stream uses one word for an array and no word for an empty array") {
  for (const DType dtype : {boolean, int64, float32, float64}) {
    Generator generator(5);
    generator.set_bernoulli_stream(BernoulliStream::mkl);
    const Array out = Array::empty({3, 50}, dtype).transpose(0, 1);
    kernels::bernoulli(out, 0.25, generator);
    Generator masks(5);
    masks.set_bernoulli_stream(BernoulliStream::mkl);
    const Array mask = Array::empty({50, 3}, boolean);
    kernels::draw_keep_mask(mask, 0.25, masks);
    CHECK(out.to(boolean).to_vector<bool>() == mask.to_vector<bool>());
    CHECK(generator == masks);
    kernels::bernoulli(Array::empty({0, 4}, dtype), 0.25, generator);
    CHECK(generator == masks);
  }
}

TEST_CASE("A keep probability of 0 or 1 uses no random numbers") {
  Generator generator(1);
  const Array mask = Array::empty({3, 4}, boolean).transpose(0, 1);
  kernels::draw_keep_mask(mask, 1.0, generator);
  CHECK(mask.to_vector<bool>() == std::vector<bool>(12, true));
  kernels::draw_keep_mask(mask, 0.0, generator);
  CHECK(mask.to_vector<bool>() == std::vector<bool>(12, false));
  CHECK(generator == Generator(1));
}

TEST_CASE("Distributions check their arguments before they use the generator") {
  const Array floats = Array::zeros({2, 2}, float32);
  const Array integers = Array::zeros({2}, int64);
  const Array mask = Array::zeros({2}, boolean);
  const Array twice = Array::zeros({1}, float32).expand({2});
  Generator generator(8);
  const auto refused = [&](auto call, const std::string& message) {
    CHECK_THROWS_WITH(call(generator), ContainsSubstring(message));
    CHECK(generator == Generator(8));
    CHECK(floats.to_vector<float>() == std::vector<float>(4, 0.0f));
  };
  using namespace kernels;

  refused([&](auto& g) { uniform(floats, 1, 0, g); },
          "[uniform] needs low <= high, and a range that float32 can represent, got 1 and 0");
  refused([&](auto& g) { uniform(integers, 0, 1, g); }, "[uniform] needs float32 or float64");
  refused([&](auto& g) { uniform(twice, 0, 1, g); },
          "[uniform] two indices of the output, shape (2,) strides (0,), refer to the same "
          "element");
  refused([&](auto& g) { normal(floats, 0, -1, g); },
          "[normal] the standard deviation is -1, not >= 0");
  refused([&](auto& g) { exponential(floats, 0, g); }, "[exponential] the rate is 0, not > 0");
  refused([&](auto& g) { randint(integers, 3, 3, g); }, "[randint] low 3 is not less than high 3");
  refused([&](auto& g) { randint(floats, 0, (1 << 24) + 1, g); },
          "[randint] float32 does not hold every number from 0 to 16777217 exactly");
  refused([&](auto& g) { randperm(floats, g); },
          "[randperm] needs an int64 array of shape (n,), got float32 (2, 2)");
  refused([&](auto& g) { bernoulli(mask, 1.5, g); },
          "[bernoulli] the probability is 1.5, not in [0, 1]");
  refused([&](auto& g) { draw_keep_mask(mask, -0.5, g); }, "[dropout] the probability is -0.5");
  refused([&](auto& g) { draw_keep_mask(floats, 0.5, g); },
          "[dropout] the mask must be a bool array, got float32");
  refused([&](auto& g) { bernoulli(floats, Array::full({2}, 2.0, float32), g); },
          "[bernoulli] the probability is 2, not in [0, 1]");
  refused([&](auto& g) { bernoulli(floats, Array::full({3}, 0.5, float32), g); },
          "[bernoulli] probabilities (3,) do not broadcast to (2, 2)");
  refused([&](auto& g) { bernoulli(floats, integers, g); }, "[bernoulli] needs float32 or float64");
}

TEST_CASE("A multinomial checks its arguments before it uses the generator") {
  Generator generator(8);
  const auto refused = [&](const Array& out, const Array& p, bool replacement,
                           const std::string& message) {
    CHECK_THROWS_WITH(kernels::multinomial(out, p, replacement, generator),
                      ContainsSubstring(message));
    CHECK(generator == Generator(8));
  };
  const auto row = [](const std::vector<double>& values) {
    return Array::from<double>(values, {static_cast<std::int64_t>(values.size())});
  };
  const auto out = [](const Shape& shape) { return Array::empty(shape, int64); };
  const double nan = std::numeric_limits<double>::quiet_NaN();

  refused(out({1}), Array::zeros({2}, int64), false, "needs float32 or float64, got int64");
  refused(out({1}), Array::full({}, 1, float32), false, "must have shape (n,) or (m, n)");
  refused(out({1}), Array::full({1}, 1, float32).expand({(1 << 24) + 1}), true,
          "there are more than 2^24 categories");
  refused(out({0}), row({1, 1}), true, "needs at least one sample");
  refused(out({3}), row({1, 1}), false,
          "[multinomial] probabilities (2,), output (3,): more samples than categories");
  refused(out({1}).expand({2}), row({1, 1}), false,
          "two indices of the output refer to the same element");
  refused(out({1}), row({1, -1}), true,
          "[multinomial] the probability of category 1 in row 0 is -1, not a finite number >= 0");
  refused(out({1}), row({nan, 1}), false, "category 0 in row 0 is nan");
  refused(out({1}), row({0, 0}), true, "row 0 needs 1 probabilities over 0, but has 0");
  refused(out({2}), row({0, 1}), false, "row 0 needs 2 probabilities over 0, but has 1");
  kernels::multinomial(out({0, 2}), Array::full({0, 3}, 1, float32), true, generator);
  CHECK(generator == Generator(8));
}
