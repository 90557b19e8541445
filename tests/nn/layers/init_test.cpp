#include <cmath>

#include "tests/nn/fixtures.h"

using namespace tend;

namespace {

using T = const Tensor&;

// Compares the module's state with the fixture, including keys and their order.
void check_state(const nn::ModuleBase& module, const std::string& name) {
  const nlohmann::json& expected = torch_nn()["initialisation"][name];
  const nn::StateDict state = module.state_dict();
  REQUIRE(state.size() == expected.size());
  for (const auto& [key, tensor] : state) {
    INFO(name << ' ' << key);
    if (name.find("embedding") == 0) {
      check_close(tensor, expected.at(key), 2e-7);  // libm may differ in the last bit
    } else {
      CHECK(tensor.to_vector<float>() == expected.at(key).get<std::vector<float>>());
    }
  }
}

template <class Init>
void check_init(const std::string& name, const Shape& shape, double tolerance, Init init) {
  manual_seed(123);
  const Tensor weight = init(empty(shape));
  std::string key = name;
  for (const std::int64_t size : shape) key += as_text(key == name ? "" : "x", size);
  INFO(key);
  check_close(weight, torch_nn()["initialisation"].at(key)["weight"], tolerance);
}

}  // namespace

TEST_CASE("the random weight and bias of a Linear are PyTorch's, bit for bit") {
  manual_seed(123);
  check_state(nn::Linear(7, 5), "linear_7_5");
  manual_seed(123);
  check_state(nn::Linear(3, 4, /*with_bias=*/false), "linear_3_4_no_bias");
  manual_seed(123);
  check_state(nn::Linear(3, 4, {.bias = false}), "linear_3_4_no_bias");
  CHECK(nn::Linear(3, 4, nn::LinearOptions{}).bias.defined());
}

TEST_CASE("the random weight of an Embedding is PyTorch's, with zeros in the padding row") {
  manual_seed(123);
  check_state(nn::Embedding(5, 3), "embedding_5_3");
  manual_seed(123);
  const nn::Embedding padded(4, 3, 1);
  check_state(padded, "embedding_4_3_padding");
  CHECK(padded.weight[1].to_vector<float>() == std::vector<float>{0, 0, 0});
}

TEST_CASE("LayerNorm uses no random numbers") {
  manual_seed(123);
  const Generator before = get_rng_state();
  check_state(nn::LayerNorm({4}), "layer_norm_4");
  CHECK(get_rng_state() == before);
}

TEST_CASE("Xavier and Kaiming initialisation have PyTorch's numbers") {
  for (const Shape& shape : {Shape{3, 4}, Shape{2, 3, 2}}) {
    // Some versions of PyTorch cast the bounds to float before scaling, others after. This changes
    // the last bit of numbers up to 1.5.
    constexpr double kLastBit = 2.4e-7;
    using namespace nn::init;
    check_init("xavier_uniform_", shape, kLastBit, [](T t) { return xavier_uniform_(t); });
    check_init("xavier_normal_", shape, kLastBit, [](T t) { return xavier_normal_(t); });
    check_init("kaiming_uniform_", shape, kLastBit, [](T t) { return kaiming_uniform_(t); });
    check_init("kaiming_normal_", shape, kLastBit, [](T t) { return kaiming_normal_(t); });
  }
}

TEST_CASE("truncated normal, orthogonal, sparse and identity weights are PyTorch's", "[products]") {
  using namespace nn::init;
  constexpr double kErf = 1e-6;  // PyTorch uses another erfinv, in float32
  check_init("trunc_normal_", {5, 7}, kErf, [](T t) { return trunc_normal_(t); });
  check_init("trunc_normal_", {2, 3, 2}, kErf,
             [](T t) { return trunc_normal_(t, 0.5, 2.0, -1.0, 1.5); });
  constexpr double kFactored = 2e-6;  // PyTorch factors the matrix in float32
  check_init("orthogonal_", {7, 5}, kFactored, [](T t) { return orthogonal_(t); });
  check_init("orthogonal_", {4, 3, 3}, kFactored, [](T t) { return orthogonal_(t, 2.0); });
  check_init("sparse_", {7, 3}, 1e-9, [](T t) { return sparse_(t, 0.3); });
  check_init("eye_", {3, 5}, 0, [](T t) { return eye_(t); });
  check_init("dirac_", {4, 3, 5}, 0, [](T t) { return dirac_(t); });
  check_init("dirac_", {6, 2, 4, 3}, 0, [](T t) { return dirac_(t, 2); });
}

TEST_CASE("orthogonal weights have orthogonal rows or columns", "[products]") {
  for (const Shape& shape : {Shape{40, 60}, Shape{60, 40}, Shape{1, 3}, Shape{3, 1}}) {
    const Tensor weight = nn::init::orthogonal_(empty(shape, float64), 3.0);
    const Tensor wide = shape[0] < shape[1] ? weight : weight.t();
    // Each element is a sum of up to 60 rounded products.
    CHECK(matmul(wide, wide.t()).allclose(9 * eye(wide.size(0), float64), 0, 1e-13));
  }
  CHECK(nn::init::orthogonal_(empty({0, 3})).numel() == 0);
}

TEST_CASE("initialisation writes to the tensor that it returns, whatever its strides",
          "[products]") {
  const Tensor weight = zeros({4, 6}).t();
  CHECK(nn::init::orthogonal_(weight).impl() == weight.impl());
  CHECK(matmul(weight.t(), weight).allclose(eye(4), 0, 1e-6));
  CHECK(nn::init::eye_(weight).equal(eye(6, 4)));
  CHECK(nn::init::trunc_normal_(weight, 0, 1, -0.5, 0.5).abs().max().item() <= 0.5);
  CHECK(nn::init::sparse_(weight, 0.4).eq(0).sum(0).equal(full({4}, 3)));
}

TEST_CASE("kaiming weights use the gain of the nonlinearity after them") {
  using nn::init::Nonlinearity, nn::init::calculate_gain;
  CHECK(calculate_gain(Nonlinearity::linear) == 1);
  CHECK(calculate_gain(Nonlinearity::sigmoid) == 1);
  CHECK(calculate_gain(Nonlinearity::tanh) == 5.0 / 3);
  CHECK(calculate_gain(Nonlinearity::relu) == std::sqrt(2.0));
  CHECK(calculate_gain(Nonlinearity::leaky_relu) == std::sqrt(2 / (1 + 0.01 * 0.01)));
  CHECK(calculate_gain(Nonlinearity::leaky_relu, 1) == 1);
  CHECK(calculate_gain(Nonlinearity::selu) == 0.75);
  manual_seed(5);
  const Tensor wide = nn::init::kaiming_uniform_(empty({20, 30}), 0, nn::init::Fan::out);
  manual_seed(5);
  const Tensor plain =
      nn::init::kaiming_uniform_(empty({20, 30}), 0, nn::init::Fan::out, Nonlinearity::linear);
  CHECK((plain * std::sqrt(2.0)).allclose(wide));
  CHECK(nn::init::kaiming_normal_(empty({3, 0})).numel() == 0);
}

TEST_CASE("initialisation refuses invalid distributions and tensors that do not fit") {
  using namespace nn::init;
  const Tensor weight = ones({4, 3});
  CHECK_THROWS_WITH(trunc_normal_(weight, 0, 1, 2, 1),
                    "[trunc_normal_] std must be at least 0 and a at most b, got std 1, a 2 and b "
                    "1");
  CHECK_THROWS_AS(trunc_normal_(weight, 0, -1), Error);
  CHECK_THROWS_WITH(sparse_(weight, 1.5), "[sparse_] sparsity is 1.5, not in [0, 1]");
  CHECK_THROWS_WITH(eye_(ones({3})), "[eye_] needs 2 dimensions, got (3,)");
  CHECK_THROWS_AS(sparse_(ones({2, 2, 2}), 0.1), ShapeError);
  CHECK_THROWS_AS(orthogonal_(ones({3})), ShapeError);
  CHECK_THROWS_AS(orthogonal_(ones({2, 2}, int64)), DTypeError);
  CHECK_THROWS_WITH(dirac_(weight), "[dirac_] needs 3 to 5 dimensions, got (4, 3)");
  CHECK_THROWS_WITH(dirac_(ones({4, 3, 2}), 3),
                    "[dirac_] 3 groups do not divide dimension 0 of (4, 3, 2)");
  CHECK_THROWS_AS(dirac_(ones({4, 3, 2}), 0), ShapeError);
  CHECK_THROWS_AS(dirac_(ones({4, 3, 0})), IndexError);
  CHECK(weight.equal(ones({4, 3})));
}

TEST_CASE("initialisation that needs two dimensions refuses vectors") {
  CHECK_THROWS_WITH(nn::init::xavier_uniform_(empty({3})),
                    "[xavier_uniform_] needs 2 dimensions or more, got (3,)");
  CHECK_THROWS_AS(nn::init::kaiming_normal_(empty({3})), ShapeError);
}

TEST_CASE("initialisation of a parameter records no graph") {
  const nn::Parameter weight(empty({2, 3}));
  nn::init::uniform_(weight, 2.0, 3.0);
  CHECK(weight.grad_fn() == nullptr);
  CHECK(weight.requires_grad());
  nn::init::constant_(weight, 4.0);
  CHECK(weight.to_vector<float>() == std::vector<float>(6, 4.0f));
  nn::init::zeros_(weight);
  CHECK(weight.equal(zeros({2, 3})));
  nn::init::ones_(weight);
  CHECK(weight.equal(ones({2, 3})));
  CHECK(weight.grad_fn() == nullptr);
  CHECK(weight.version() == 4);
}
