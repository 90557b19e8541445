#include <cmath>

#include "tests/nn/fixtures.h"

using namespace tend;

namespace {

// Every entry of the fixture against the module's state, keys and order included.
void check_state(const nn::ModuleBase& module, const std::string& name) {
  const nlohmann::json& expected = torch_nn()["initialisation"][name];
  const nn::StateDict state = module.state_dict();
  REQUIRE(state.size() == expected.size());
  for (const auto& [key, tensor] : state) {
    INFO(name << ' ' << key);
    if (name.find("embedding") == 0) {
      check_close(tensor, expected.at(key), 2e-7);  // normal numbers hang on libm's last bit
    } else {
      CHECK(tensor.to_vector<float>() == expected.at(key).get<std::vector<float>>());
    }
  }
}

void check_init(const std::string& name, const Shape& shape, void (*init)(const Tensor&)) {
  manual_seed(123);
  const Tensor weight = empty(shape);
  init(weight);
  INFO(name << ' ' << shape);
  // PyTorch casts bounds to float before it scales, or after, by version: one last bit of numbers
  // up to 1.5.
  const std::string suffix = shape.rank() == 2 ? "3x4" : "2x3x2";
  check_close(weight, torch_nn()["initialisation"][name + suffix]["weight"], 2.4e-7);
}

}  // namespace

TEST_CASE("Linear draws PyTorch's weight, then its bias, bit for bit") {
  manual_seed(123);
  check_state(nn::Linear(7, 5), "linear_7_5");
  manual_seed(123);
  check_state(nn::Linear(3, 4, /*with_bias=*/false), "linear_3_4_no_bias");
}

TEST_CASE("Embedding draws PyTorch's table, and clears the padding row after it is drawn") {
  manual_seed(123);
  check_state(nn::Embedding(5, 3), "embedding_5_3");
  manual_seed(123);
  const nn::Embedding padded(4, 3, 1);
  check_state(padded, "embedding_4_3_padding");
  CHECK(padded.weight[1].to_vector<float>() == std::vector<float>{0, 0, 0});
}

TEST_CASE("LayerNorm draws nothing") {
  manual_seed(123);
  const Generator before = get_rng_state();
  check_state(nn::LayerNorm({4}), "layer_norm_4");
  CHECK(get_rng_state() == before);
}

TEST_CASE("Xavier and Kaiming initialisation draw PyTorch's numbers") {
  for (const Shape& shape : {Shape{3, 4}, Shape{2, 3, 2}}) {
    check_init("xavier_uniform_", shape, [](const Tensor& t) { nn::init::xavier_uniform_(t); });
    check_init("xavier_normal_", shape, [](const Tensor& t) { nn::init::xavier_normal_(t); });
    check_init("kaiming_uniform_", shape, [](const Tensor& t) { nn::init::kaiming_uniform_(t); });
    check_init("kaiming_normal_", shape, [](const Tensor& t) { nn::init::kaiming_normal_(t); });
  }
}

TEST_CASE("initialisation refuses vectors where it needs two sizes") {
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
