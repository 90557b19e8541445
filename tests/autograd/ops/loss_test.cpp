// Expected numbers are PyTorch's, in float64.
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

// Checks loss and gradient, the latter by the first and by the differentiable way.
void check_cross_entropy(const CrossEntropyOptions& options, const std::vector<double>& losses,
                         const std::vector<double>& gradient) {
  const Tensor x = logits();
  const Tensor loss = cross_entropy(x, targets(), options);
  CHECK_THAT(values(loss), near(losses));
  const Tensor cotangent = loss.dim() == 1 ? tensor({1., 2., 3., 4.}, float64) : Tensor();
  const auto grad = [&](bool create_graph) {
    return autograd::grad({loss}, {x}, {cotangent}, {true, create_graph, false})[0];
  };
  CHECK_THAT(values(grad(false)), near(gradient));
  CHECK_THAT(values(grad(true)), near(gradient));
}

}  // namespace

TEST_CASE("cross_entropy means over the items that count") {
  check_cross_entropy({}, {1.82336192096023},
                      {-0.2468345132, 0.2351281709, 0.0117063423, 0.0251295827, 0.0020627618,
                       -0.0271923444, 0, 0, 0, 0.3215543853, -0.3274438593, 0.005889474});
}

TEST_CASE("cross_entropy sums, or gives the loss of each item") {
  check_cross_entropy({.reduction = Reduction::sum}, {5.47008576288069},
                      {-0.7405035397, 0.7053845127, 0.035119027, 0.075388748, 0.0061882853,
                       -0.0815770332, 0, 0, 0, 0.964663156, -0.982331578, 0.017668422});
  check_cross_entropy({.reduction = Reduction::none},
                      {1.3490122167681864, 0.08509724636431015, 0, 4.035976299748193},
                      {-0.7405035397, 0.7053845127, 0.035119027, 0.1507774959, 0.0123765705,
                       -0.1631540665, 0, 0, 0, 3.8586526239, -3.9293263119, 0.0706736881});
}

TEST_CASE("cross_entropy smooths labels") {
  check_cross_entropy({.label_smoothing = 0.2}, {1.9233619209602302},
                      {-0.2023900688, 0.2129059487, -0.0105158799, 0.0029073604, -0.0201594605,
                       0.0172521, 0, 0, 0, 0.2993321631, -0.2829994149, -0.0163327482});
  check_cross_entropy({.reduction = Reduction::none, .label_smoothing = 0.2},
                      {1.415678883434853, 0.5850972463643103, 0, 3.7693096330815266},
                      {-0.6071702063, 0.638717846, -0.0315476397, 0.0174441626, -0.1209567628,
                       0.1035126002, 0, 0, 0, 3.5919859572, -3.3959929786, -0.1959929786});
}

TEST_CASE("cross_entropy takes its classes from dimension 1 of more than two") {
  std::vector<double> sines;
  sines.reserve(24);
  for (int i = 0; i < 24; ++i) sines.push_back(std::sin(i));
  const Tensor x = Tensor(Array::from<double>(sines, {2, 3, 4})).requires_grad_();
  const Tensor loss = cross_entropy(x, tensor({{0, 1, 2, 1}, {1, -100, 0, 2}}));
  CHECK(loss.item() == Approx(1.4931372428252117));
  CHECK(std::string(loss.grad_fn()) == "NllLoss2DBackward0");
  loss.backward();
  CHECK_THAT(values(x.grad()[{0, Slice{}, 0}]),
             near({-0.10850551827547189, 0.016116551980308966, 0.09238896629516294}));
  CHECK(values(x.grad()[{1, Slice{}, 1}]) == std::vector<double>{0, 0, 0});
  CHECK_THAT(values(x.grad()[{1, Slice{}, 3}]),
             near({0.07805581070842678, 0.04732380577528051, -0.12537961648370732}));
}

TEST_CASE("cross_entropy of one item takes a number as target") {
  Tensor x = Tensor(zeros({4})).requires_grad_();
  const Tensor loss = cross_entropy(x, tensor(1));
  CHECK(loss.dim() == 0);
  CHECK(loss.item() == Approx(std::log(4.0)));
  CHECK(std::string(loss.grad_fn()) == "NllLossBackward0");
  loss.backward();
  CHECK_THAT(values(x.grad()), near({0.25, -0.75, 0.25, 0.25}));
}

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

TEST_CASE("any target may be the one to ignore") {
  const Tensor x = logits();
  CHECK(values(cross_entropy(x, tensor({1, 1, 1, 1}),
                             {.ignore_index = 1, .reduction = Reduction::none})) ==
        std::vector<double>{0, 0, 0, 0});
  CHECK_THROWS_MATCHES(cross_entropy(x, targets(), {.ignore_index = 1}), IndexError,
                       says("[cross_entropy] target -100 is out of range for dimension 1 of (4, "
                            "3)"));
}

TEST_CASE("cross_entropy says what does not fit") {
  const Tensor x = logits();
  CHECK_THROWS_MATCHES(cross_entropy(x, tensor({0, 1, 3, 0})), IndexError,
                       says("[cross_entropy] target 3 is out of range for dimension 1 of (4, 3)"));
  CHECK_THROWS_MATCHES(cross_entropy(x, tensor({0, 1})), ShapeError,
                       says("[cross_entropy] input (4, 3) needs a target of shape (4,), got (2,)"));
  CHECK_THROWS_MATCHES(
      cross_entropy(x, zeros({4})), DTypeError,
      says("[cross_entropy] the target is float32, neither int64 nor float64 as the "
           "input"));
  CHECK_THROWS_MATCHES(cross_entropy(x.to(int64), targets()), DTypeError,
                       says("[cross_entropy] the input is int64, not float32 or float64"));
  CHECK_THROWS_MATCHES(cross_entropy(x, targets(), {.label_smoothing = 1.5}), Error,
                       says("[cross_entropy] label_smoothing is 1.5, not in [0, 1]"));
  CHECK_THROWS_AS(cross_entropy(tensor(1.), tensor(0)), ShapeError);
  CHECK_THROWS_AS(cross_entropy(zeros({3, 0}), tensor({0, 0, 0})), IndexError);
}

TEST_CASE("the kernels of cross_entropy agree with the formulas") {
  manual_seed(7);
  // Classes that fill no vector, several with a rest, and more items than one chunk of work.
  for (const Shape& shape : {Shape{5, 16}, Shape{3, 37, 2, 4}, Shape{700, 100}}) {
    for (const DType dtype : {float32, float64}) {
      Shape items = shape;
      items.erase(1);
      const Tensor x = (randn(shape, dtype) * 4).requires_grad_();
      const Tensor target = randint(0, shape[1], items);
      target.masked_fill_(rand(items) < 0.2, -100);
      for (const double smoothing : {0.0, 0.3}) {
        for (const Reduction reduction : {Reduction::none, Reduction::sum, Reduction::mean}) {
          INFO(shape << ' ' << dtype_name(dtype) << ", smoothing " << smoothing);
          const CrossEntropyOptions options{.reduction = reduction, .label_smoothing = smoothing};
          const Tensor fused = cross_entropy(x, target, options);
          // Weights of 1 take the composed way.
          const Tensor composed = cross_entropy(x, target, ones({shape[1]}, dtype), options);
          // Sums of up to 70,000 terms, each rounded a few times.
          const double tolerance = dtype == float32 ? 2e-5 : 1e-12;
          CHECK(allclose(fused, composed.detach(), tolerance, tolerance));
          const Tensor cotangent = randn(fused.shape(), dtype);
          const auto grad = [&](const Tensor& loss, bool create_graph) {
            return autograd::grad({loss}, {x}, {cotangent}, {true, create_graph, false})[0]
                .detach();
          };
          const Tensor expected = grad(composed, false);
          CHECK(allclose(grad(fused, false), expected, tolerance, 1e-2 * tolerance));
          CHECK(allclose(grad(fused, true), expected, tolerance, 1e-2 * tolerance));
        }
      }
    }
  }
}

TEST_CASE("cross_entropy of many classes takes infinite and ignored logits as that of few") {
  const Tensor few = tensor({{1e4, -1e4, 0.}, {-kInf, 0., -kInf}, {kNaN, 0., 1.}, {1., 2., 3.}});
  // More classes that nothing chooses.
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

TEST_CASE("nll_loss of log_softmax is cross_entropy") {
  const Tensor x = logits();
  const Tensor loss = nll_loss(log_softmax(x, 1), targets());
  CHECK(loss.item() == Approx(cross_entropy(x, targets()).item()));
  CHECK(allclose(autograd::grad({loss}, {x})[0],
                 autograd::grad({cross_entropy(x, targets())}, {x})[0]));
  CHECK(same(nll_loss(x, tensor({-100, -100, -100, -100})), {kNaN}));
  CHECK_THROWS_MATCHES(nll_loss(x, tensor({0, 0, 0, 5})), IndexError,
                       says("[nll_loss] target 5 is out of range for dimension 1 of (4, 3)"));
}

TEST_CASE("mse_loss broadcasts and promotes as PyTorch does") {
  const Tensor x = tensor({{1., 2.}, {3., 4.}}), y = tensor({0, 1});
  CHECK(mse_loss(x, y).item() == Approx(5));
  CHECK(mse_loss(x, y, Reduction::sum).item() == 20);
  CHECK(values(mse_loss(x, y, Reduction::none)) == std::vector<double>{1, 1, 9, 9});
  CHECK(same(mse_loss(zeros({0}), zeros({0})), {kNaN}));
  CHECK_THROWS_MATCHES(mse_loss(y, y), DTypeError,
                       says("[mse_loss] needs float32 or float64, got int64 and int64"));
  CHECK_THROWS_MATCHES(mse_loss(x, zeros({3})), ShapeError,
                       says("[mse_loss] (2, 2) and (3,) do not broadcast: dimension -1 is 2 and "
                            "3"));
}

TEST_CASE("both sides of mse_loss have gradients") {
  Tensor x = tensor({1., 2.}).requires_grad_(), y = tensor(0.5).requires_grad_();
  mse_loss(x, y).backward();
  CHECK(values(x.grad()) == std::vector<double>{0.5, 1.5});
  CHECK(values(y.grad()) == std::vector<double>{-2});
}

TEST_CASE("classes of weight 0 leave no mean, and no gradient") {
  const Tensor x = logits();
  const Tensor weight = tensor({0., 0., 1.}, float64);
  CHECK(same(cross_entropy(x, tensor({0, 1, 0, 1}), weight), {kNaN}));
  const Tensor loss = cross_entropy(x, targets(), weight, {.reduction = Reduction::sum});
  CHECK(loss.item() == Approx(0.08509724636431015));
  CHECK(values(autograd::grad({loss}, {x})[0][3]) == std::vector<double>{0, 0, 0});
}

TEST_CASE("the weight of classes is a constant") {
  const Tensor x = logits();
  const Tensor weight = ones({3}, float64).requires_grad_();
  CHECK_THROWS_MATCHES(nll_loss(x, targets(), weight), AutogradError,
                       says("[nll_loss] weight requires grad, but has no derivative"));
  CHECK(nll_loss(x, targets(), weight.detach()).item() == Approx(nll_loss(x, targets()).item()));
  const NoGradGuard no_grad;
  CHECK(nll_loss(x, targets(), weight).item() == Approx(nll_loss(x, targets()).item()));
}

TEST_CASE("probabilities of one class are that class as target") {
  const Tensor x = logits();
  const Tensor labels = tensor({0, 2, 1, 1});
  const Tensor certain = one_hot(labels, 3).to(float64).requires_grad_();
  for (const double smoothing : {0.0, 0.3}) {
    const CrossEntropyOptions options{.label_smoothing = smoothing};
    CHECK(cross_entropy(x, certain, options).item() ==
          Approx(cross_entropy(x, labels, options).item()));
  }
  CHECK(std::string(cross_entropy(x, certain).grad_fn()) == "DivBackward0");
  CHECK(same(cross_entropy(zeros({0, 3}), zeros({0, 3})), {kNaN}));
  CHECK(same(cross_entropy(zeros({3, 0}), zeros({3, 0})), {kNaN}));
}

TEST_CASE("losses of no classes say so") {
  const Tensor x = zeros({2, 0}), target = tensor({-100, -100});
  CHECK_THROWS_WITH(cross_entropy(x, target),
                    "[cross_entropy] input (2, 0) has no classes in dimension 1");
  CHECK_THROWS_WITH(nll_loss(x, target), "[nll_loss] input (2, 0) has no classes in dimension 1");
}
