// Averages of weights, compared with torch.optim.swa_utils.AveragedModel.
#include "tests/nn/optim/torch_runs.h"

#include <set>
#include <string>
#include <vector>

using Catch::Matchers::ContainsSubstring;
using namespace tend;

namespace {

// The parameters of make_optimizers.py's model, as a module.
class Weights : public nn::Module<Weights> {
 public:
  explicit Weights(const std::vector<Tensor>& p) {
    const char* const names[] = {"w1", "gain", "bias", "w2"};
    for (std::size_t i = 0; i < p.size(); ++i) register_parameter(names[i], nn::Parameter(p[i]));
  }
};

std::vector<Tensor> values_of(const nn::ModuleBase& model) {
  std::vector<Tensor> all;
  for (const Tensor& each : model.parameters()) all.push_back(each.detach().clone());
  return all;
}

bool all_equal(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  bool same = a.size() == b.size();
  for (std::size_t i = 0; same && i < a.size(); ++i) same = equal(a[i], b[i]);
  return same;
}

}  // namespace

TEST_CASE("running and decaying averages of weights are PyTorch's", "[products]") {
  int runs = 0;
  for (const auto& run : test::torch_optimizers()["averages"]) {
    ++runs;
    const std::vector<Tensor> p = test::start_model();
    const Weights model(p);
    optim::AveragedModelOptions options;
    if (!run["decay"].is_null()) options.decay = run["decay"].get<double>();
    optim::AveragedModel averaged(model, options);
    optim::SGD optimizer(p, 0.1);
    for (std::size_t step = 0; step < 30; ++step) {
      optimizer.zero_grad();
      test::go_backward(p, false);
      optimizer.step();
      if (step % 3 != 2) continue;
      averaged.update_parameters();
      const Tensor expected = test::stored(run["values"][step / 3], {5, 4});
      // Sums are in another order, and the running average multiplies where PyTorch divides.
      CHECK((averaged.state_dict().at("module.w1") - expected).abs().max().item<double>() <= 1e-13);
    }
    CHECK(averaged.n_averaged() == 10);
    std::set<std::string> keys, expected = run["keys"];
    for (const auto& [key, value] : averaged.state_dict()) keys.insert(key);
    CHECK(keys == expected);
  }
  CHECK(runs == 3);
}

TEST_CASE("a model has its averaged weights under a guard and its own afterwards") {
  nn::Linear model(3, 2);
  model.weight.set_data(arange(6.0).view({3, 2}).t());  // with strides
  optim::AveragedModel averaged(model);
  const std::vector<Tensor> first = values_of(model);
  averaged.update_parameters();
  {
    const NoGradGuard no_grad;
    for (const Tensor& each : model.parameters()) each.add_(2);
  }
  averaged.update_parameters();
  const std::vector<Tensor> own = values_of(model);
  const auto version = model.weight.array().storage()->version();
  {
    const optim::AveragedWeightsGuard guard(averaged);
    CHECK(allclose(model.weight.detach(), first[0] + 1));
    CHECK(allclose(model.bias.detach(), first[1] + 1));
    CHECK(model.weight.array().storage()->version() > version);
    const NoGradGuard no_grad;
    model.bias.fill_(7);
  }
  CHECK(all_equal(values_of(model), own));
}

TEST_CASE("averages continue from their state with the same bits") {
  nn::Linear model(3, 2);
  const auto moved = [&](optim::AveragedModel& averaged) {
    const NoGradGuard no_grad;
    model.weight.mul_(1.25);
    averaged.update_parameters();
  };
  const nn::StateDict start = model.clone().state_dict();
  optim::AveragedModel whole(model, {.decay = 0.9});
  for (int i = 0; i < 4; ++i) moved(whole);
  model.load_state_dict(start);
  optim::AveragedModel half(model, {.decay = 0.9});
  for (int i = 0; i < 2; ++i) moved(half);
  optim::AveragedModel rest(model, {.decay = 0.9});
  rest.load_state_dict(half.state_dict());
  for (int i = 0; i < 2; ++i) moved(rest);
  CHECK(rest.n_averaged() == 4);
  CHECK(equal(rest.state_dict().at("module.weight"), whole.state_dict().at("module.weight")));
}

TEST_CASE("averages refuse states and parameters that do not fit and change nothing") {
  nn::Linear model(3, 2);
  optim::AveragedModel averaged(model);
  averaged.update_parameters();
  const nn::StateDict state = averaged.state_dict();
  const Tensor weight = state.at("module.weight").clone();
  const auto refuses = [&](const std::string& message, const auto& change) {
    nn::StateDict wrong;
    for (const auto& [key, value] : state) wrong.emplace_back(key, value + 1);
    change(wrong);
    CHECK_THROWS_WITH(averaged.load_state_dict(wrong), ContainsSubstring(message));
    CHECK(averaged.n_averaged() == 1);
    CHECK(equal(averaged.state_dict().at("module.weight"), weight));
  };
  refuses("module.bias is missing", [](auto& s) { s.erase("module.bias"); });
  refuses("module.bias is undefined", [](auto& s) { s["module.bias"] = Tensor(); });
  refuses("module.bias is there twice", [](auto& s) { s.emplace_back("module.bias", ones({2})); });
  refuses("module.bias is (3,) float32, not (2,) float32",
          [](auto& s) { s["module.bias"] = ones({3}); });
  refuses("module.other is unknown", [](auto& s) { s["module.other"] = ones({3}); });
  refuses("n_averaged is -1, not a count", [](auto& s) { s["n_averaged"] = tensor(-1); });

  model.bias.set_data(ones({4}));
  CHECK_THROWS_WITH(averaged.update_parameters(),
                    "[AveragedModel::update_parameters] module.bias must have the shape of its "
                    "average, (2,), but has (4,)");
  CHECK_THROWS_AS(optim::AveragedWeightsGuard(averaged), ShapeError);
  model.bias.set_data(ones({2}, float64));
  CHECK_THROWS_AS(optim::AveragedWeightsGuard(averaged), DTypeError);
  CHECK(equal(averaged.state_dict().at("module.weight"), weight));
  CHECK_THROWS_WITH(optim::AveragedModel(model, {.decay = 1.5}),
                    "[AveragedModel] decay 1.5 must lie in [0, 1]");
  CHECK_THROWS_WITH(optim::AveragedModel(nn::ReLU()), ContainsSubstring("has no parameters"));
}
