// Tests elementwise losses at the ends of their domains, at kinks and at special numbers. The
// expected numbers are PyTorch's.
#include <functional>

#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

namespace {

using Loss = std::function<Tensor(const Tensor&)>;

// Checks the first and second derivatives of sum(loss(x)) for each element of x.
void check_slopes(const Loss& loss, const Tensor& x, const std::vector<double>& first,
                  const std::vector<double>& second) {
  const Tensor leaf = x.detach().requires_grad_();
  const Tensor slopes =
      autograd::grad({loss(leaf).sum()}, {leaf}, {Tensor()}, {.create_graph = true})[0];
  CHECK(same(slopes, first));
  CHECK(same(autograd::grad({slopes.sum()}, {leaf})[0], second));
}

}  // namespace

TEST_CASE("smooth_l1_loss and huber_loss have slope 1 and no curvature where the formula changes") {
  const Tensor x = tensor({1., -1., 0.5, 2.}, float64), zero = zeros({4}, float64);
  const Loss smooth = [&](const Tensor& y) { return smooth_l1_loss(y, zero, Reduction::none); };
  const Loss huber = [&](const Tensor& y) { return huber_loss(y, zero, Reduction::none); };
  for (const Loss& loss : {smooth, huber}) {
    CHECK(same(loss(x), {0.5, 0.5, 0.125, 1.5}));
    check_slopes(loss, x, {1, -1, 0.5, 1}, {0, 0, 1, 0});
    const Tensor unknown = full({4}, kNaN, float64);
    CHECK(same(loss(unknown), {kNaN, kNaN, kNaN, kNaN}));
    CHECK(same(slope(loss, unknown), {kNaN, kNaN, kNaN, kNaN}));
  }
}

TEST_CASE("binary_cross_entropy stays finite at 0 and 1") {
  const Tensor x = tensor({0., 1.}, float64).requires_grad_();
  const auto check = [&](const Tensor& target, const std::vector<double>& losses,
                         const std::vector<double>& slopes,
                         const std::vector<double>& target_slopes) {
    const Tensor t = target.detach().requires_grad_();
    const Tensor loss = binary_cross_entropy(x, t, Reduction::none);
    CHECK(same(loss, losses));
    const std::vector<Tensor> found = autograd::grad({loss.sum()}, {x, t});
    CHECK(same(found[0], slopes));
    CHECK(same(found[1], target_slopes));
  };
  check(tensor({0., 1.}, float64), {0, 0}, {0, 0}, {kInf, -kInf});
  check(tensor({1., 0.}, float64), {100, 100}, {-1e12, 1e12}, {kInf, -kInf});
}

TEST_CASE("binary_cross_entropy_with_logits is precise for large inputs") {
  const Tensor x = tensor({1e4, -1e4, -200., 200., 0.}), t = tensor({0., 1., 0., 1., 0.5});
  CHECK_THAT(values(binary_cross_entropy_with_logits(x, t, Reduction::none)),
             near({1e4, 1e4, 0, 0, std::log(2.0)}));
  CHECK_THAT(
      values(slope([&](const Tensor& y) { return binary_cross_entropy_with_logits(y, t); }, x)),
      near({0.2, -0.2, 0, 0, 0}));
  const Tensor weight = tensor(3.);
  CHECK_THAT(values(binary_cross_entropy_with_logits(x, t, {}, weight, Reduction::none)),
             near({1e4, 3e4, 0, 0, 2 * std::log(2.0)}));
}
