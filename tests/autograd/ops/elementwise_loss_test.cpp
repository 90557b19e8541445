// Ends, kinks and special numbers of the losses of single elements. Expected numbers are PyTorch's.
#include <functional>

#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

namespace {

using Loss = std::function<Tensor(const Tensor&)>;

// First and second derivative of the sum of loss(x) at each element of x.
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

TEST_CASE("l1_loss is flat where it has no derivative") {
  const Tensor zero = zeros({3}, float64);
  check_slopes([&](const Tensor& x) { return l1_loss(x, zero, Reduction::none); },
               tensor({-2., 0., 3.}, float64), {-1, 0, 1}, {0, 0, 0});
  CHECK(same(smooth_l1_loss(tensor({-2., 3.}), zeros({2}), Reduction::none, 0), {2, 3}));
}

TEST_CASE("losses of nothing: the mean is NaN, the sum 0") {
  const Tensor nothing = zeros({0, 3});
  CHECK(same(l1_loss(nothing, nothing), {kNaN}));
  CHECK(same(huber_loss(nothing, nothing), {kNaN}));
  CHECK(same(kl_div(nothing, nothing), {kNaN}));
  CHECK(same(binary_cross_entropy(nothing, nothing), {kNaN}));
  CHECK(smooth_l1_loss(nothing, nothing, Reduction::sum).item() == 0);
  CHECK(binary_cross_entropy_with_logits(nothing, nothing, Reduction::sum).item() == 0);
}

TEST_CASE("parameters of losses must make sense") {
  const Tensor x = ones({2});
  CHECK_THROWS_MATCHES(smooth_l1_loss(x, x, Reduction::mean, -1), Error,
                       says("[smooth_l1_loss] beta is -1, which must not be negative"));
  CHECK_THROWS_AS(smooth_l1_loss(x, x, Reduction::mean, kNaN), Error);
  CHECK_THROWS_MATCHES(huber_loss(x, x, Reduction::mean, 0), Error,
                       says("[huber_loss] delta is 0, which must be positive"));
  CHECK_THROWS_AS(huber_loss(x, x, Reduction::mean, kNaN), Error);
}

TEST_CASE("losses name the node that PyTorch prints") {
  const Tensor x = full({2}, 0.5).requires_grad_(), t = ones({2});
  CHECK(std::string(smooth_l1_loss(x, t).grad_fn()) == "SmoothL1LossBackward0");
  CHECK(std::string(huber_loss(x, t).grad_fn()) == "HuberLossBackward0");
  CHECK(std::string(l1_loss(x, t).grad_fn()) == "MeanBackward0");
  CHECK(std::string(binary_cross_entropy(x, t).grad_fn()) == "BinaryCrossEntropyBackward0");
  CHECK(std::string(binary_cross_entropy_with_logits(x, t).grad_fn()) ==
        "BinaryCrossEntropyWithLogitsBackward0");
}

TEST_CASE("kl_div counts targets of 0 as 0 and has no number for negative ones") {
  const Tensor x = tensor({0.3, -0.2}), t = tensor({0., -0.5});
  CHECK(same(kl_div(x, t, {.reduction = KlReduction::none}), {0, kNaN}));
  const Tensor leaf = t.detach().requires_grad_();
  CHECK(same(autograd::grad({kl_div(x, leaf, {.reduction = KlReduction::sum})}, {leaf})[0],
             {kNaN, kNaN}));
  const Tensor y = zeros({4, 2}), half = full({4, 2}, 0.5);
  CHECK(kl_div(y, half, {.reduction = KlReduction::batchmean}).item() ==
        Approx(2 * 0.5 * std::log(0.5)));
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

TEST_CASE("binary_cross_entropy refuses NaN as a probability") {
  CHECK_THROWS_MATCHES(
      binary_cross_entropy(tensor({0.5, kNaN}), tensor({0., 1.})), Error,
      says("[binary_cross_entropy] the input has elements from nan to nan, not in [0, 1]"));
  CHECK_THROWS_AS(binary_cross_entropy(tensor({0.5}), tensor({kNaN})), Error);
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

TEST_CASE("cosine_similarity bounds norms in value, not in slope") {
  const auto check = [](double first, double value, const std::vector<double>& slopes) {
    const Tensor x = tensor({{first, 0., 0.}}, float64).requires_grad_();
    const Tensor y = tensor({{1., 2., 3.}}, float64);
    const Tensor cosine = cosine_similarity(x, y);
    CHECK_THAT(values(cosine), near({value}));
    CHECK_THAT(values(autograd::grad({cosine}, {x}, {ones({1}, float64)})[0]), near(slopes));
  };
  check(0, 0, {26726124.1912, 53452248.3825, 80178372.5737});
  check(1e-9, 0.0267261242, {24053511.7721, 53452248.3825, 80178372.5737});
}

TEST_CASE("cosine_similarity of norms beyond float32 is zero, as in PyTorch, not NaN") {
  const Tensor x = tensor({1e20, 2e20}).requires_grad_(), y = tensor({1., 2.}).requires_grad_();
  const Tensor cosine = cosine_similarity(x, y, 0);
  CHECK(cosine.item() == 0);
  for (const Tensor& gradient : autograd::grad({cosine}, {x, y})) CHECK(same(gradient, {0, 0}));
}

TEST_CASE("targets that are no numbers are seen in the gradients of their losses, as in PyTorch") {
  const double infinity = std::numeric_limits<double>::infinity();
  const Tensor x = tensor({0.5}).requires_grad_();
  const Tensor loss = binary_cross_entropy_with_logits(x, tensor({infinity}), Reduction::sum);
  for (const bool create_graph : {false, true}) {
    CHECK(autograd::grad(loss, x, {.retain_graph = true, .create_graph = create_graph}).item() ==
          -infinity);
  }
  const Tensor target = tensor({std::nan("")}).requires_grad_();
  const Tensor poisson = poisson_nll_loss(x, target, {.full = true, .reduction = Reduction::sum});
  CHECK(std::isnan(autograd::grad(poisson, target).item()));
}
