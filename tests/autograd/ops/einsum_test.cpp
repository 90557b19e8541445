// Tests of einsum and conv1d that do not fit into rows of the operation table.
#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

TEST_CASE("einsum of one operand that sums nothing is a view") {
  const Tensor x = tensor({{1., 2.}, {3., 4.}});
  const Tensor diagonal = einsum("ii->i", {x}), transposed = einsum("ij->ji", {x});
  x.fill_(7);
  CHECK(values(diagonal) == std::vector<double>(2, 7));
  CHECK(values(transposed) == std::vector<double>(4, 7));
}

TEST_CASE("einsum accepts operands as arguments, in braces and in a vector") {
  const Tensor a = tensor({{1., 2.}, {3., 4.}}), b = tensor({{5.}, {6.}});
  const std::vector<Tensor> both{a, b};
  CHECK(same(einsum("ij,jk->ik", a, b), {17, 39}));
  CHECK(same(einsum("ij,jk->ik", {a, b}), {17, 39}));
  CHECK(same(einsum("ij,jk->ik", both), {17, 39}));
  CHECK(same(einsum("ij->j", a), {4, 6}));
  CHECK(same(einsum("i,i,i->", a[0], a[1], a[0]), {19}));
  CHECK_THROWS_AS(einsum("i", Tensor()), AutogradError);
}

TEST_CASE("conv1d with padding same returns the length of its input") {
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
