// What rows cannot show of einsum and tensordot.
#include <random>

#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

namespace {

// The sum over every value of every name, element by element. Names are letters; there is an
// arrow, and no ellipsis.
Tensor naive_einsum(const std::string& equation, const std::vector<Tensor>& operands) {
  const std::size_t arrow = equation.find("->");
  const std::string result = equation.substr(arrow + 2);
  std::vector<std::string> names(1);
  for (const char c : equation.substr(0, arrow)) {
    if (c == ',') {
      names.emplace_back();
    } else {
      names.back() += c;
    }
  }
  std::string letters;
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::size_t d = 0; d < names[i].size(); ++d) {
      const std::size_t at = letters.find(names[i][d]);
      const std::int64_t size = operands[i].size(static_cast<std::int64_t>(d));
      if (at == std::string::npos) {
        letters += names[i][d];
        sizes.push_back(size);
      } else {
        sizes[at] = std::max(sizes[at], size);
      }
    }
  }
  Shape shape;
  for (const char c : result) shape.push_back(sizes[letters.find(c)]);
  Tensor out = zeros(shape, float64);
  std::vector<std::int64_t> index(letters.size(), 0);
  const auto place = [&](const std::string& of, const Tensor& x) {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < of.size(); ++d) {
      const auto dim = static_cast<std::int64_t>(d);
      if (x.size(dim) != 1) offset += index[letters.find(of[d])] * x.strides()[dim];
    }
    return x.data_ptr<double>() + offset;
  };
  for (std::size_t d = 0; d < letters.size() || letters.empty();) {
    double term = 1;
    for (std::size_t i = 0; i < names.size(); ++i) term *= *place(names[i], operands[i]);
    *place(result, out) += term;
    for (d = 0; d < letters.size() && ++index[d] == sizes[d]; ++d) index[d] = 0;
    if (letters.empty()) break;
  }
  return out;
}

}  // namespace

TEST_CASE("einsum is the sum over every name, for random equations") {
  std::mt19937 random(7);
  const auto draw = [&](int below) {
    return static_cast<int>(random() % static_cast<unsigned>(below));
  };
  manual_seed(7);
  for (int round = 0; round < 300; ++round) {
    const std::string letters = "aXbYc";
    Shape sizes;
    for (std::size_t i = 0; i < letters.size(); ++i) sizes.push_back(1 + draw(3));
    std::string equation, used;
    std::vector<Tensor> operands;
    for (int operand = 1 + draw(4); operand > 0; --operand) {
      Shape shape;
      std::string names;
      for (int d = draw(4); d > 0; --d) {
        const auto k = static_cast<std::size_t>(draw(5));
        const std::size_t before = names.find(letters[k]);
        // Now and then a size of 1, which broadcasts, but not in a diagonal.
        const std::int64_t size = before != std::string::npos ? shape[before]
                                  : draw(5) == 0              ? 1
                                                              : sizes[k];
        names += letters[k];
        shape.push_back(size);
      }
      equation += (equation.empty() && operands.empty() ? "" : ",") + names;
      used += names;
      operands.push_back(randn(shape, float64));
    }
    std::string result;
    for (const char c : letters) {
      if (used.find(c) != std::string::npos && draw(2) == 0) result += c;
    }
    std::shuffle(result.begin(), result.end(), random);
    equation += "->" + result;
    INFO(equation);
    const Tensor expected = naive_einsum(equation, operands);
    const Tensor found = einsum(equation, operands);
    REQUIRE(found.shape() == expected.shape());
    CHECK(allclose(found, expected, 1e-12, 1e-12));
  }
}

TEST_CASE("einsum says what is wrong with an equation") {
  const Tensor x = ones({2, 3});
  const auto refused = [&](const std::string& equation, const std::string& message) {
    INFO(equation);
    CHECK_THROWS_MATCHES(einsum(equation, {x}), Error,
                         says("[einsum] \"" + equation + "\": " + message));
  };
  const std::string rule = R"( is neither a letter nor part of "...", "," or the one "->")";
  refused("i1", "'1' at position 1" + rule);
  refused("i\tj", "'\t' at position 1" + rule);
  refused("..ij", "'.' at position 0" + rule);
  refused("ij..", "'.' at position 2" + rule);
  refused("ij->..", "'.' at position 4" + rule);
  refused("ij- >ji", "'-' at position 2" + rule);
  refused("ij->ji->", "'-' at position 6" + rule);
  refused("ij->i,j", "',' at position 5" + rule);
  refused("...i...", "a second ellipsis at position 4");
  refused("ij->......", "a second ellipsis at position 7");
  refused("ij->ii", "subscript i is twice in the result");
  refused("ij->k", "subscript k of the result is in no operand");
  refused("ij,", "is for 2 operands, got 1");
  refused("ijk", "3 subscripts for operand 0 of shape (2, 3)");
  refused("...ijk", "3 subscripts and an ellipsis for operand 0 of shape (2, 3)");
  CHECK_THROWS_MATCHES(einsum("i", {}), Error, says("[einsum] \"i\": is for 1 operands, got 0"));
  CHECK_THROWS_MATCHES(einsum("", {}), Error, says("[einsum] \"\": is for 1 operands, got 0"));
}

TEST_CASE("einsum of one operand that sums nothing is a view") {
  const Tensor x = tensor({{1., 2.}, {3., 4.}});
  const Tensor diagonal = einsum("ii->i", {x}), transposed = einsum("ij->ji", {x});
  x.fill_(7);
  CHECK(values(diagonal) == std::vector<double>(2, 7));
  CHECK(values(transposed) == std::vector<double>(4, 7));
}

TEST_CASE("einsum takes as many names as there are letters, and infinities where they are") {
  std::string names;
  for (char c = 'a'; c <= 'z'; ++c) names += c;
  for (char c = 'A'; c <= 'Z'; ++c) names += c;
  const Tensor x = ones(Shape::filled(52, 1), float64);
  CHECK(einsum(names + "->zA", {x * 3}).shape() == Shape{1, 1});
  CHECK(einsum(names + "," + names + "->", {x, x * 3}).item() == 3);
  // Nothing is multiplied with what does not belong to it.
  const Tensor product = einsum("ij,jk->ik", {tensor({{kInf, 0}, {0, 1}}), tensor({{1.}, {2.}})});
  CHECK(same(product, {kInf, 2}));
}

TEST_CASE("einsum takes its operands one by one, in braces and in a list") {
  const Tensor a = tensor({{1., 2.}, {3., 4.}}), b = tensor({{5.}, {6.}});
  const std::vector<Tensor> both{a, b};
  CHECK(same(einsum("ij,jk->ik", a, b), {17, 39}));
  CHECK(same(einsum("ij,jk->ik", {a, b}), {17, 39}));
  CHECK(same(einsum("ij,jk->ik", both), {17, 39}));
  CHECK(same(einsum("ij->j", a), {4, 6}));
  CHECK(same(einsum("i,i,i->", a[0], a[1], a[0]), {19}));
  CHECK_THROWS_AS(einsum("i", Tensor()), AutogradError);
}

TEST_CASE("tensordot refuses what does not belong together") {
  const Tensor x = ones({2, 3});
  CHECK_THROWS_MATCHES(tensordot(x, x, -1), ShapeError,
                       says("[tensordot] -1 dimensions of (2, 3) and (2, 3)"));
  CHECK_THROWS_AS(tensordot(x, x, 3), ShapeError);
  CHECK_THROWS_MATCHES(tensordot(x, x, Shape{0, 1}, Shape{0}), ShapeError,
                       says("[tensordot] dimensions (0, 1) and (0,) differ in number"));
  CHECK_THROWS_AS(tensordot(x, x, Shape{2}, Shape{0}), IndexError);
}

TEST_CASE("conv1d pads to the length of its input where the padding is \"same\"") {
  const Tensor x = arange(12.0).view({1, 2, 6}) / 4, w = arange(16.0).view({2, 2, 4}) / 8 - 1;
  const Tensor b = tensor({0.5, -1.0});
  // torch 2.6: F.conv1d(x, w, b, padding="same", dilation=...)
  CHECK(equal(conv1d(x, w, b, {.padding = "same"}),
              tensor({{{-1.25, -2.75, -3.875, -5.0, -4.8125, -3.875},
                       {3.25, 4.75, 5.625, 6.5, 4.1875, 2.125}}})));
  CHECK(equal(conv1d(x, w, b, {.padding = "same", .dilation = 3}),
              tensor({{{-1.5, -1.1875, -1.75, -2.3125, -1.75, -2.4375},
                       {3.5, 1.8125, 2.25, 2.6875, 1.25, 1.5625}}})));
  CHECK(equal(conv1d(x, w, b, 1, "same", 3), conv1d(x, w, b, {.padding = "same", .dilation = 3})));
  CHECK(equal(conv1d(x, w, b, {.padding = "valid"}), conv1d(x, w, b)));
  CHECK(conv1d(x, w, b, {.padding = "valid"}).shape() == Shape{1, 2, 3});
  CHECK_THROWS_MATCHES(conv1d(x, w, b, {.stride = 2, .padding = "same"}), ShapeError,
                       says("[conv1d] the padding \"same\" needs a stride of 1, got 2"));
  CHECK_THROWS_WITH(conv1d(x, w, b, {.padding = "full"}),
                    Catch::Matchers::ContainsSubstring("valid"));
  CHECK_THROWS_AS(conv1d(zeros({1, 2, 0}), w, b, {.padding = "same"}), ShapeError);
}

TEST_CASE("conv1d refuses options that are none, whatever their size") {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  const Tensor x = ones({2, 3, 5}), w = ones({4, 3, 2});
  CHECK_THROWS_MATCHES(conv1d(x, w, {}, {.stride = 0}), ShapeError,
                       says("[conv1d] stride 0, padding 0, dilation 1 and groups 1 must be "
                            "positive, padding may be 0"));
  CHECK_THROWS_AS(conv1d(x, w, {}, {.padding = -1}), ShapeError);
  CHECK_THROWS_AS(conv1d(x, w, {}, {.dilation = 0}), ShapeError);
  CHECK_THROWS_AS(conv1d(x, w, {}, {.groups = 0}), ShapeError);
  CHECK_THROWS_AS(conv1d(x, w, {}, {.padding = kMax}), ShapeError);
  CHECK_THROWS_AS(conv1d(x, w, {}, {.dilation = kMax}), ShapeError);
  CHECK_THROWS_AS(conv1d(x, w, {}, {.groups = kMax}), ShapeError);
  CHECK_THROWS_AS(conv1d(x, ones({4, 3, 0}), {}), ShapeError);
  CHECK(conv1d(x, w, {}, {.stride = kMax}).shape() == Shape{2, 4, 1});
}
