#include <limits>

#include "tests/nn/fixtures.h"

using namespace tend;

namespace {

class Net : public nn::Module<Net> {
 public:
  Net() : first(2, 3), scale(tensor({1.0, 2.0, 3.0})) {
    layers.emplace_back(3, 3);
    layers.emplace_back(3, 3, false);
    bias = nn::Parameter(zeros({3}));
  }
  Tensor forward(const Tensor& x) const {
    Tensor out = first(x) * scale + bias;
    for (const nn::Linear& layer : layers) out = layer(out);
    return out;
  }

  TEND_MODULE(nn::Linear, first);
  TEND_PARAMETER(bias);
  TEND_BUFFER(scale);
  TEND_MODULE(nn::ModuleList<nn::Linear>, layers);
  TEND_PARAMETER(absent);
};

}  // namespace

TEST_CASE("state_dict lists own parameters, own buffers and then the children, as PyTorch does") {
  CHECK(keys_of(Net().state_dict()) ==
        std::vector<std::string>{"bias", "scale", "first.weight", "first.bias", "layers.0.weight",
                                 "layers.0.bias", "layers.1.weight"});
  CHECK(keys_of(Net().named_buffers()) == std::vector<std::string>{"scale"});
  CHECK(Net().parameters().size() == 6);
  CHECK(Net().num_parameters() == 3 + 9 + 12 + 9);
}

TEST_CASE("a moved or copied module finds its own members", "[products]") {
  Net original;
  const Tensor x = ones({1, 2});
  const std::vector<float> expected = original(x).to_vector<float>();
  Net moved = std::move(original);
  CHECK(moved(x).to_vector<float>() == expected);
  CHECK(moved.state_dict().size() == 7);
  const Net copy = moved;
  moved = Net();
  CHECK(copy(x).to_vector<float>() == expected);
  CHECK(copy.named_parameters()[0].second.impl() == copy.bias.impl());
  std::vector<Net> many;
  // NOLINTNEXTLINE(performance-inefficient-vector-operation): growing moves the modules
  for (int i = 0; i < 5; ++i) many.emplace_back();
  for (const Net& each : many)
    CHECK(each.named_parameters()[1].second.impl() == each.first.weight.impl());
}

TEST_CASE("a copy of a module shares its tensors") {
  const Net net;
  const Net copy = net;
  const NoGradGuard guard;
  copy.bias.fill_(5);
  CHECK(net.bias[0].item() == 5);
}

TEST_CASE("a tensor that two members share counts as one parameter and has two keys") {
  Net net;
  net.layers[1].weight = net.layers[0].weight;
  CHECK(net.parameters().size() == 5);
  CHECK(net.state_dict().size() == 7);
}

TEST_CASE("load_state_dict copies into the module's tensors, so handles stay valid", "[products]") {
  Net from;
  Net to;
  const Tensor handle = to.bias;
  to.load_state_dict(from.state_dict());
  const Tensor x = ones({2, 2});
  CHECK(to(x).to_vector<float>() == from(x).to_vector<float>());
  CHECK(handle.impl() == to.bias.impl());
  CHECK(to.bias.is_leaf());
}

TEST_CASE("load_state_dict lists all keys that are missing, unexpected or of another shape") {
  Net net;
  const std::vector<float> before = net.bias.to_vector<float>();
  nn::StateDict state = net.state_dict();
  state.erase(std::next(state.begin()));
  state.begin()->second = ones({3});
  std::next(state.begin())->second = ones({3, 7});
  state.emplace_back("layers.2.weight", ones({1}));
  CHECK_THROWS_WITH(net.load_state_dict(state),
                    "[load_state_dict] Net cannot load this state:\n"
                    "  missing key scale (3,)\n"
                    "  key first.weight must have shape (3, 2), but has (3, 7)\n"
                    "  unexpected key layers.2.weight (1,)");
  CHECK(net.bias.to_vector<float>() == before);
  // Without strict, keys may be missing or unknown, but shapes must fit.
  CHECK_THROWS_AS(net.load_state_dict(state, /*strict=*/false), Error);
  std::next(state.begin())->second = ones({3, 2});
  const nn::IncompatibleKeys keys = net.load_state_dict(state, /*strict=*/false);
  CHECK(net.bias.to_vector<float>() == std::vector<float>{1, 1, 1});
  CHECK(keys.missing_keys == std::vector<std::string>{"scale"});
  CHECK(keys.unexpected_keys == std::vector<std::string>{"layers.2.weight"});
}

TEST_CASE("load_state_dict refuses a key that appears twice or has no tensor") {
  const nn::Linear layer(2, 1);
  nn::Linear target(2, 1);
  const std::vector<float> before = target.weight.to_vector<float>();
  for (const bool strict : {true, false}) {
    nn::StateDict state = layer.state_dict();
    state.emplace_back("weight", ones({1, 2}));
    CHECK_THROWS_WITH(target.load_state_dict(state, strict),
                      Catch::Matchers::ContainsSubstring("key weight is there twice"));
    state = layer.state_dict();
    state["weight"] = Tensor();
    CHECK_THROWS_WITH(target.load_state_dict(state, strict),
                      Catch::Matchers::ContainsSubstring("key weight has an undefined tensor"));
  }
  CHECK(target.weight.to_vector<float>() == before);
}

TEST_CASE("load_state_dict reads all values before it writes, even from the module's tensors") {
  nn::Linear layer(2, 2);
  const nn::StateDict own = layer.state_dict();
  const Tensor weight = own.at("weight").clone();
  layer.load_state_dict({{"weight", own.at("weight").t()}, {"bias", own.at("weight")[0]}});
  CHECK(layer.weight.to_vector<float>() == weight.t().contiguous().to_vector<float>());
  CHECK(layer.bias.to_vector<float>() == weight[0].to_vector<float>());
}

TEST_CASE("load_state_dict converts to the module's dtype") {
  Net net;
  nn::StateDict state = net.state_dict();
  for (auto& [name, value] : state) value = value.to(float64);
  net.load_state_dict(state);
  CHECK(net.bias.dtype() == float32);
}

TEST_CASE("train, eval and apply reach every module, children first", "[products]") {
  nn::Sequential net(nn::Linear(2, 2), nn::Sequential(nn::Dropout(0.5), nn::ReLU()));
  net.eval();
  std::vector<std::string> order;
  net.apply([&](nn::ModuleBase& module) {
    order.push_back(module.type_name());
    CHECK_FALSE(module.is_training());
  });
  CHECK(order == std::vector<std::string>{"Linear", "Dropout", "ReLU", "Sequential", "Sequential"});
  const Tensor x = ones({3, 2});
  CHECK(net(x).to_vector<float>() == net(x).to_vector<float>());
  net.train();
  for (const auto& [path, module] : net.named_modules()) CHECK(module->is_training());
}

TEST_CASE("to converts floating parameters and buffers in place", "[products]") {
  Net net;
  net.scale = tensor({1, 2, 3});
  const Tensor handle = net.bias;
  net.to(float64);
  CHECK(handle.dtype() == float64);
  CHECK(net.first.weight.dtype() == float64);
  CHECK(net.scale.dtype() == int64);
  CHECK(net(ones({1, 2}, float64)).dtype() == float64);
  CHECK_THROWS_AS(net.to(int64), DTypeError);
}

TEST_CASE("frozen parameters get no gradient and do not count as trainable", "[products]") {
  Net net;
  net.first.requires_grad_(false);
  net(ones({1, 2})).sum().backward();
  CHECK_FALSE(net.first.weight.grad().defined());
  CHECK(net.bias.grad().defined());
  CHECK(net.num_parameters(/*only_trainable=*/true) == net.num_parameters() - 9);
  net.zero_grad();
  CHECK_FALSE(net.bias.grad().defined());
}

TEST_CASE("modules print as torch prints them") {
  CHECK(Net().repr() ==
        "Net(\n"
        "  (first): Linear(in_features=2, out_features=3, bias=True)\n"
        "  (layers): ModuleList(\n"
        "    (0): Linear(in_features=3, out_features=3, bias=True)\n"
        "    (1): Linear(in_features=3, out_features=3, bias=False)\n"
        "  )\n"
        ")");
  nn::ModuleList<nn::Linear> same;
  for (int i = 0; i < 3; ++i) same.emplace_back(4, 4);
  CHECK(same.repr() ==
        "ModuleList(\n  (0-2): 3 x Linear(in_features=4, out_features=4, bias=True)\n)");
  CHECK(nn::Sequential(nn::Embedding(10, 4, 0), nn::LayerNorm({4}), nn::GELU(),
                       nn::GELU(GeluKind::tanh), nn::ReLU(), nn::Dropout(0.25))
            .repr() ==
        "Sequential(\n"
        "  (0): Embedding(10, 4, padding_idx=0)\n"
        "  (1): LayerNorm((4,), eps=1e-05, elementwise_affine=True)\n"
        "  (2): GELU(approximate='none')\n"
        "  (3): GELU(approximate='tanh')\n"
        "  (4): ReLU()\n"
        "  (5): Dropout(p=0.25, inplace=False)\n"
        ")");
}

TEST_CASE("activation modules call their functions and print as in PyTorch") {
  const Tensor x = tensor({-1.5, 0., 0.5, 2.}, float64);
  CHECK(nn::Sigmoid()(x).equal(sigmoid(x)));
  CHECK(nn::Tanh()(x).equal(tanh(x)));
  CHECK(nn::LogSigmoid()(x).equal(logsigmoid(x)));
  CHECK(nn::SiLU()(x).equal(silu(x)));
  CHECK(nn::Mish()(x).equal(mish(x)));
  CHECK(nn::LeakyReLU(0.2)(x).equal(leaky_relu(x, 0.2)));
  CHECK(nn::ELU(1.5)(x).equal(elu(x, 1.5)));
  CHECK(nn::GLU(0)(x).equal(glu(x, 0)));
  CHECK(nn::SiLU().repr() == "SiLU()");
  CHECK(nn::LogSigmoid().repr() == "LogSigmoid()");
  CHECK(nn::LeakyReLU().repr() == "LeakyReLU(negative_slope=0.01)");
  CHECK(nn::ELU().repr() == "ELU(alpha=1.0)");
  CHECK(nn::GLU().repr() == "GLU(dim=-1)");
}

TEST_CASE("a copy of a Sequential has its own list of layers and shares their tensors") {
  nn::Sequential one(nn::Linear(2, 2));
  nn::Sequential two = one;
  two.push_back(nn::ReLU());
  CHECK(one.size() == 1);
  CHECK(two.size() == 2);
  CHECK(one.parameters()[0].impl() == two.parameters()[0].impl());
  one = two;
  CHECK(one.size() == 2);
}

TEST_CASE("layers refuse invalid sizes and probabilities") {
  CHECK_THROWS_WITH(nn::Linear(0, 3),
                    "[Linear] in_features must be at least 1 and out_features at least 0, got 0 "
                    "and 3");
  CHECK_THROWS_WITH(nn::Dropout(1.5), "[Dropout] the probability of dropout is 1.5, not in [0, 1]");
  CHECK_THROWS_WITH(nn::Linear(3, -1),
                    "[Linear] in_features must be at least 1 and out_features at least 0, got 3 "
                    "and -1");
  CHECK_THROWS_AS(nn::Dropout(-0.5), Error);
  CHECK_THROWS_AS(nn::Dropout(std::numeric_limits<double>::quiet_NaN()), Error);
  CHECK_THROWS_AS(nn::Embedding(3, 2, 3), IndexError);
  CHECK_THROWS_AS(nn::Embedding(3, 2, -4), IndexError);
  CHECK_THROWS_AS(nn::Embedding(-1, 2), ShapeError);
  CHECK_THROWS_AS(nn::Embedding(2, -1), ShapeError);
  CHECK_THROWS_AS(nn::Conv1d(0, 4, 3), ShapeError);
  CHECK_THROWS_AS(nn::Conv1d(4, 0, 3), ShapeError);
  CHECK_THROWS_AS(nn::Conv1d(4, 4, 0), ShapeError);
  CHECK_THROWS_AS(nn::Conv1d(4, 4, 3, {.groups = 0}), ShapeError);
  CHECK_THROWS_AS(nn::Conv1d(4, 3, 3, {.groups = 2}), ShapeError);
  CHECK_THROWS_AS(nn::LayerNorm({}), ShapeError);
  CHECK_THROWS_AS(nn::Linear(2, 3)(ones({4, 3})), ShapeError);
}

TEST_CASE("a module that cannot be converted completely is not changed") {
  struct Pair : nn::Module<Pair> {
    Pair() {
      weight = nn::Parameter(ones({2}));
      statistics = weight * 2;  // a buffer with history
    }
    static Tensor forward(const Tensor& x) { return x; }
    TEND_PARAMETER(weight);
    TEND_BUFFER(statistics);
  };
  Pair pair;
  pair.weight.set_grad(ones({2}));
  CHECK_THROWS_WITH(pair.to(float64), "[Module::to] statistics has history; detach it");
  CHECK(pair.weight.dtype() == float32);
  CHECK(pair.weight.grad().defined());
  CHECK_THROWS_AS(pair.to(int64), DTypeError);
  pair.statistics = pair.statistics.detach();
  const Tensor before = pair.weight.sum();
  pair.to(float64);
  CHECK(pair.weight.dtype() == float64);
  CHECK_FALSE(pair.weight.grad().defined());
  CHECK(pair.statistics.dtype() == float64);
  before.backward();  // converts the gradient to the new dtype of the leaf
  CHECK(pair.weight.grad().equal(ones({2}, float64)));
}
