// The expected numbers are PyTorch's, in float64.
#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

namespace {

Tensor logits() {
  return tensor({{1., 2., -1.}, {0.5, -2., 3.}, {1., 1., 1.}, {4., 0., 0.}}, float64)
      .requires_grad_();
}

const Tensor& targets() {
  static const Tensor labels = tensor({0, 2, -100, 1});
  return labels;
}

}  // namespace

TEST_CASE("when every target is ignored the mean is NaN, the sum 0 and the gradient 0") {
  Tensor x = logits();
  const Tensor ignored = full({4}, -100, int64);
  const Tensor loss = cross_entropy(x, ignored);
  CHECK(same(loss, {kNaN}));
  loss.backward();
  CHECK(values(x.grad()) == std::vector<double>(12, 0.0));
  CHECK(cross_entropy(x, ignored, {.reduction = Reduction::sum}).item() == 0);
  CHECK(same(cross_entropy(x, ignored, {.label_smoothing = 0.1}), {kNaN}));
  CHECK(same(cross_entropy(zeros({0, 4}), zeros({0}, int64)), {kNaN}));
}

TEST_CASE("cross_entropy stays finite for large logits") {
  const Tensor x = tensor({{1e4, -1e4}, {-kInf, 0.}});
  CHECK(values(cross_entropy(x, tensor({1, 1}), {.reduction = Reduction::none})) ==
        std::vector<double>{2e4, 0});
}

TEST_CASE("cross_entropy of many classes handles infinite logits and ignored targets") {
  const Tensor few = tensor({{1e4, -1e4, 0.}, {-kInf, 0., -kInf}, {kNaN, 0., 1.}, {1., 2., 3.}});
  // Twenty additional classes of probability 0.
  const Tensor many = cat({few, full({4, 20}, -kInf)}, 1);
  const Tensor target = tensor({1, 1, 1, -100});
  const CrossEntropyOptions each{.reduction = Reduction::none};
  CHECK(same(cross_entropy(many, target, each), {2e4, 0, kNaN, 0}));
  CHECK(same(cross_entropy(many, tensor({5, 0, 0, 0}), each)[0], {kInf}));
  const Tensor x = many.clone().requires_grad_();
  cross_entropy(x, target, {.reduction = Reduction::sum}).backward();
  CHECK(values(x.grad()[{0, Slice{0, 3}}]) == std::vector<double>{1, -1, 0});
  CHECK(values(x.grad()[3]) == std::vector<double>(23, 0.0));
}

TEST_CASE("cross_entropy of targets of weight 0 has a mean of NaN and no gradient") {
  const Tensor x = logits();
  const Tensor weight = tensor({0., 0., 1.}, float64);
  CHECK(same(cross_entropy(x, tensor({0, 1, 0, 1}), weight), {kNaN}));
  const Tensor loss = cross_entropy(x, targets(), weight, {.reduction = Reduction::sum});
  CHECK(loss.item() == Approx(0.08509724636431015));
  CHECK(values(autograd::grad({loss}, {x})[0][3]) == std::vector<double>{0, 0, 0});
}
