// Compares RMSNorm, GroupNorm and BatchNorm1d with PyTorch's (tests/data/make_nn.py).
#include "tests/nn/fixtures.h"

using namespace tend;

namespace {

Tensor batch(int number) {
  std::vector<float> sines;
  sines.reserve(24);
  for (int i = 0; i < 24; ++i) sines.push_back(std::sin(static_cast<float>(i + 30 * number)));
  return Tensor(Array::from<float>(sines, {3, 4, 2}));
}

// Each result comes from a few float32 operations on numbers between 1 and 5.
constexpr double kNormTolerance = 2e-6;

template <class M>
void check_as_torch(const char* name, M module) {
  INFO(name);
  const nlohmann::json& expected = torch_nn()["normalisation"][name];
  for (const Tensor& parameter : module.parameters()) {
    const NoGradGuard no_grad;
    parameter.copy_(arange(parameter.numel()).view(parameter.shape()) / 8 + 1);
  }
  for (const std::size_t i : {0U, 1U}) {
    check_close(module(batch(static_cast<int>(i))), expected["outputs"][i], kNormTolerance);
  }
  module.eval();
  check_close(module(batch(0)), expected["outputs"][2], kNormTolerance);
  const nn::StateDict state = module.state_dict();
  REQUIRE(state.size() == expected["state"].size());
  for (const auto& [key, value] : state) {
    INFO(key);
    REQUIRE(expected["state"].contains(key));
    check_close(value, expected["state"][key], kNormTolerance);
  }
}

}  // namespace

TEST_CASE("LayerNorm and RMSNorm accept their sizes in braces, as a vector or as a Shape") {
  const std::vector<std::int64_t> sizes{4, 5};
  CHECK(nn::LayerNorm(sizes).normalized_shape == Shape{4, 5});
  CHECK(nn::LayerNorm({4, 5}).weight.shape() == Shape{4, 5});
  CHECK(nn::LayerNorm(Shape{4, 5}).bias.shape() == Shape{4, 5});
  CHECK(nn::LayerNorm(std::vector<int>{3}, 1e-6).eps == 1e-6);
  CHECK_FALSE(nn::LayerNorm(sizes, 1e-5, false).weight.defined());
  CHECK(nn::RMSNorm(sizes).weight.shape() == Shape{4, 5});
  CHECK(nn::RMSNorm(sizes, 1e-6).eps == 1e-6);
  CHECK_THROWS_AS(nn::LayerNorm(std::vector<std::int64_t>()), ShapeError);
}

TEST_CASE("normalisation modules have PyTorch's results and states in training and evaluation") {
  check_as_torch("rms_norm", nn::RMSNorm({4, 2}));
  check_as_torch("rms_norm_eps", nn::RMSNorm({2}, 0.1, /*affine=*/false));
  check_as_torch("group_norm", nn::GroupNorm(2, 4));
  check_as_torch("group_norm_plain", nn::GroupNorm(1, 4, 0.1, /*affine=*/false));
  check_as_torch("batch_norm", nn::BatchNorm1d(4));
  check_as_torch("batch_norm_average",
                 nn::BatchNorm1d(4, {.eps = 0.1, .momentum = std::nullopt, .affine = false}));
  check_as_torch("batch_norm_untracked", nn::BatchNorm1d(4, {.track_running_stats = false}));
}

TEST_CASE("BatchNorm1d counts its training batches, also after a conversion to another dtype") {
  nn::BatchNorm1d norm(4);
  CHECK(norm.num_batches_tracked.dtype() == int64);
  norm(batch(0));
  norm.to(float64);
  norm(batch(1).to(float64));
  CHECK(norm.num_batches_tracked.item<std::int64_t>() == 2);
  CHECK(norm.running_mean.dtype() == float64);
  norm.eval();
  norm(batch(0).to(float64));
  CHECK(norm.num_batches_tracked.item<std::int64_t>() == 2);
}

TEST_CASE("a refused batch does not change BatchNorm1d") {
  const nn::BatchNorm1d norm(4);
  CHECK_THROWS_WITH(norm(ones({4})),
                    "[BatchNorm1d] the input must have 2 or 3 dimensions, got (4,)");
  CHECK_THROWS_WITH(norm(ones({3, 2})),
                    "[batch_norm] weight must have the shape (2,) (channels), but has (4,)");
  CHECK_THROWS_AS(norm(ones({1, 4})), ShapeError);
  CHECK_THROWS_AS(norm(ones({2, 4}, float64)), DTypeError);
  CHECK(norm.num_batches_tracked.item<std::int64_t>() == 0);
  CHECK(norm.running_mean.to_vector<float>() == std::vector<float>(4, 0));
}

TEST_CASE("running statistics are not part of the graph, and gradients reach weight and bias") {
  const nn::BatchNorm1d norm(4);
  norm(batch(0)).square().sum().backward();
  CHECK(norm.running_var.is_leaf());
  CHECK_FALSE(norm.running_var.requires_grad());
  // A channel has 6 normalised values whose squares sum to 6. The derivative of the sum of their
  // squares with respect to a weight of 1 is twice this sum.
  for (const float slope : norm.weight.grad().to_vector<float>())
    CHECK(slope == Approx(12).epsilon(1e-3));
  CHECK(norm.bias.grad().defined());
}

TEST_CASE("normalisation modules print as in torch and refuse invalid sizes") {
  CHECK(nn::RMSNorm({4}).repr() == "RMSNorm((4,), eps=None, elementwise_affine=True)");
  CHECK(nn::RMSNorm({4}, 1e-6, false).repr() ==
        "RMSNorm((4,), eps=1e-06, elementwise_affine=False)");
  CHECK(nn::GroupNorm(2, 4).repr() == "GroupNorm(2, 4, eps=1e-05, affine=True)");
  CHECK(nn::BatchNorm1d(4, {.momentum = std::nullopt}).repr() ==
        "BatchNorm1d(4, eps=1e-05, momentum=None, affine=True, track_running_stats=True)");
  CHECK(nn::BatchNorm1d(4).repr() ==
        "BatchNorm1d(4, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)");
  CHECK(nn::LayerNorm(Shape{2, 4}, 1e-5, false).repr() ==
        "LayerNorm((2, 4), eps=1e-05, elementwise_affine=False)");
  CHECK(nn::GroupNorm(2, 4, 1e-5, false).repr() == "GroupNorm(2, 4, eps=1e-05, affine=False)");
  CHECK(nn::BatchNorm1d(4, {.affine = false, .track_running_stats = false}).repr() ==
        "BatchNorm1d(4, eps=1e-05, momentum=0.1, affine=False, track_running_stats=False)");
  CHECK_THROWS_WITH(nn::GroupNorm(3, 4),
                    "[GroupNorm] num_groups must be at least 1 and divide num_channels, got 3 "
                    "groups and 4 channels");
  CHECK_THROWS_AS(nn::GroupNorm(0, 4), ShapeError);
  CHECK_THROWS_AS(nn::GroupNorm(2, 0), ShapeError);
  CHECK_THROWS_WITH(nn::BatchNorm1d(0), "[BatchNorm1d] num_features must be at least 1, got 0");
  CHECK_THROWS_AS(nn::RMSNorm({}), ShapeError);
  CHECK_THROWS_WITH(nn::GroupNorm(2, 4)(ones({2, 6})),
                    "[GroupNorm] dimension 1 of the input must have size 4, got (2, 6)");
  CHECK_THROWS_WITH(nn::GroupNorm(2, 4)(ones({4})),
                    "[GroupNorm] dimension 1 of the input must have size 4, got (4,)");
}

TEST_CASE("normalisation accepts one size or several, and braces never make a copy") {
  const std::int64_t width = 8;
  for (const nn::LayerNorm& norm : {nn::LayerNorm(8), nn::LayerNorm(width), nn::LayerNorm({width}),
                                    nn::LayerNorm(std::size_t{8}, 1e-5), nn::LayerNorm{8}}) {
    CHECK(norm.normalized_shape == Shape{8});
    CHECK(norm.eps == 1e-5);
    CHECK(norm.weight.shape() == Shape{8});
    CHECK(norm.bias.shape() == Shape{8});
  }
  CHECK(nn::LayerNorm({4, 8}).normalized_shape == Shape{4, 8});
  CHECK(nn::LayerNorm({4, width}).normalized_shape == Shape{4, 8});
  CHECK(nn::LayerNorm({4, 8}, 1e-3).eps == 1e-3);
  const nn::LayerNorm plain(width, 1e-3, false);
  CHECK(plain.eps == 1e-3);
  CHECK(!plain.weight.defined());

  for (const nn::RMSNorm& norm : {nn::RMSNorm(8), nn::RMSNorm({width}), nn::RMSNorm{8}}) {
    CHECK(norm.normalized_shape == Shape{8});
    CHECK(!norm.eps);
  }
  CHECK(nn::RMSNorm(8, 1e-3).eps == 1e-3);
  CHECK(!nn::RMSNorm(8, 1e-3, false).weight.defined());
  CHECK(nn::RMSNorm({4, 8}).normalized_shape == Shape{4, 8});
  CHECK(nn::RMSNorm({4, width}, 1e-3).normalized_shape == Shape{4, 8});
  CHECK_THROWS_AS(nn::LayerNorm(-1), ShapeError);
}

TEST_CASE("layers accept options by name and by position") {
  const nn::LayerNorm named({2, 3}, {.eps = 0.5, .bias = false});
  const nn::LayerNorm placed({2, 3}, 0.5, true, false);
  CHECK(named.extra_repr() == placed.extra_repr());
  CHECK(!named.bias.defined());
  const Tensor x = linspace(0, 1, 6).view({2, 3});
  CHECK(equal(named(x), placed(x)));
  CHECK(!nn::LayerNorm(4, {.elementwise_affine = false}).weight.defined());
  CHECK(nn::LayerNorm(Shape{4}, {.eps = 0.25}).extra_repr() == nn::LayerNorm(4, 0.25).extra_repr());
  const std::string rms = nn::RMSNorm({2, 3}, 0.25, false).extra_repr();
  CHECK(nn::RMSNorm({2, 3}, {.eps = 0.25, .elementwise_affine = false}).extra_repr() == rms);
  CHECK(nn::RMSNorm(4, {.eps = 0.25}).extra_repr() == nn::RMSNorm(4, 0.25).extra_repr());
  CHECK(nn::RMSNorm(Shape{4}, {.elementwise_affine = false}).parameters().empty());
  CHECK(nn::RMSNorm(4, {}).extra_repr() == nn::RMSNorm(4).extra_repr());
  CHECK(nn::GroupNorm(2, 4, {.eps = 0.25, .affine = false}).extra_repr() ==
        nn::GroupNorm(2, 4, 0.25, false).extra_repr());
  CHECK(nn::Embedding(5, 3, {.padding_idx = -1}).padding_idx == 4);
  CHECK(!nn::Embedding(5, 3, nn::EmbeddingOptions{}).padding_idx);
  CHECK(nn::Embedding(5, 3, {2}).padding_idx == 2);
  CHECK_THROWS_AS(nn::Embedding(5, 3, {.padding_idx = 5}), IndexError);
}
