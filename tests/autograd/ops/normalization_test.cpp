#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

TEST_CASE("layer_norm of equal numbers is exactly 0") {
  for (const double number : {101.3, -1e5, 3e-7}) {
    const Tensor y = layer_norm(full({3, 1000}, number), {1000}, {}, {});
    CHECK(y.abs().max().item<float>() == 0);
  }
}

TEST_CASE("rms_norm uses the machine epsilon of its dtype") {
  const Tensor x = full({1, 2}, 1e-4);
  // 1e-8 is less than the epsilon of float32, and more than the epsilon of float64.
  CHECK(values(rms_norm(x, {2}, {}))[0] == Approx(1e-4 / std::sqrt(1e-8 + 0x1p-23)));
  CHECK(values(rms_norm(x.to(float64), {2}, {}))[0] == Approx(1).epsilon(1e-6));
}

TEST_CASE("batch_norm updates its running statistics in place and only after all checks") {
  const Tensor x = tensor({{1., 2.}, {3., 6.}}).requires_grad_();
  const Tensor wide = zeros({2, 2}), mean = wide.select(1, 0), var = ones({2});
  const std::uint32_t version = mean.version();
  const auto train = [&](const Tensor& running_var, const Tensor& weight) {
    return batch_norm(x, mean, running_var, weight, {}, {.training = true, .momentum = 0.5});
  };
  CHECK_THROWS_MATCHES(train(var, ones({3})), ShapeError,
                       says("[batch_norm] weight must have the shape (2,) (channels), but has "
                            "(3,)"));
  CHECK_THROWS_AS(train(ones({2}, float64), {}), DTypeError);
  CHECK_THROWS_AS(train(ones({1}).expand({2}), {}), ShapeError);
  CHECK(mean.version() == version);
  train(var, {});
  CHECK(values(wide) == std::vector<double>{1, 0, 2, 0});
  CHECK(values(var) == std::vector<double>{1.5, 4.5});
  CHECK(mean.is_leaf());
  CHECK_THROWS_MATCHES(batch_norm(x, mean, {}, {}, {}), Error,
                       says("[batch_norm] running_var is undefined, which is allowed only in "
                            "training"));
}
