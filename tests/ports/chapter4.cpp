// Ports the chapter of a book on language models that builds the GPT: layer normalisation, GELU,
// shortcut connections, the transformer block, the model and greedy generation (gpt_model.h).
// Compares outputs, gradients, the number of parameters and the generated tokens with PyTorch's
// from the same seeds, also with dropout (chapter4.py).
#include "check.h"
#include "gpt_model.h"

using namespace tend;

namespace {

// Allows for the rounding of sums of up to a few hundred float32 products.
constexpr double kTolerance = 2e-5;

std::vector<double> first_four(const Tensor& x) {
  return x[Slice(None, 4)].to(float64).to_vector<double>();
}

void layer_norm_by_hand() {
  manual_seed(123);
  const Tensor batch_example = randn({2, 5});
  const nn::Sequential layer(nn::Linear(5, 6), nn::ReLU());
  const Tensor out = layer(batch_example);
  check::near("layer", out[0], tensor({0.22595213, 0.34695381, 0.0, 0.22160432, 0.0, 0.0}), 1e-6);

  const LayerNorm ln(5);
  const Tensor out_ln = ln(batch_example);
  check::near("norm", out_ln[1],
              tensor({0.90866548, -1.37668276, -0.95639014, 1.13037491, 0.29403248}), 1e-6);
  check::near("mean", out_ln.mean(-1, true), zeros({2, 1}), 1e-6);
  check::near("variance", out_ln.var(-1, 0, true), ones({2, 1}), 1e-4);  // eps is 1e-5
  check::near("GELU", GELU()(out_ln), gelu(out_ln, GeluKind::tanh), 1e-6);
}

class ExampleDeepNeuralNetwork : public nn::Module<ExampleDeepNeuralNetwork> {
 public:
  ExampleDeepNeuralNetwork(const std::vector<int>& layer_sizes, bool shortcut)
      : use_shortcut(shortcut) {
    for (std::size_t i = 0; i + 1 < layer_sizes.size(); ++i)
      layers.push_back(nn::Sequential(nn::Linear(layer_sizes[i], layer_sizes[i + 1]), GELU()));
  }

  Tensor forward(Tensor x) const {
    for (const auto& layer : layers) {
      const Tensor layer_output = layer(x);
      if (use_shortcut && x.shape() == layer_output.shape())
        x = x + layer_output;
      else
        x = layer_output;
    }
    return x;
  }

  bool use_shortcut;
  TEND_MODULE(nn::ModuleList<nn::Sequential>, layers);
};

std::vector<double> gradients(bool use_shortcut) {
  manual_seed(123);
  const ExampleDeepNeuralNetwork model({3, 3, 3, 3, 3, 1}, use_shortcut);
  const Tensor output = model(tensor({{1., 0., -1.}}));
  const nn::MSELoss loss;
  loss(output, tensor({{0.}})).backward();
  std::vector<double> means;
  for (const auto& [name, param] : model.named_parameters()) {
    if (name.find("weight") == std::string::npos) continue;
    std::cout << name << " has gradient mean of " << param.grad().abs().mean().item() << '\n';
    means.push_back(param.grad().abs().mean().item());
  }
  return means;
}

void shortcuts() {
  check::near("gradients", gradients(false),
              {0.00020173586381133646, 0.00012011159560643137, 0.0007152039906941354,
               0.0013988736318424344, 0.005049645435065031},
              1e-8);
  check::near("gradients with shortcuts", gradients(true),
              {0.22169791162014008, 0.20694105327129364, 0.32896995544433594, 0.2665732204914093,
               1.3258540630340576},
              1e-6);
}

void model() {
  const GPTConfig config;
  manual_seed(123);
  const Tensor x = rand({2, 4, config.emb_dim});
  const TransformerBlock block(config);
  const Tensor output = block(x);
  std::cout << "Input shape: " << x.shape() << "\nOutput shape: " << output.shape() << '\n';
  check::near("block", first_four(output[{1, 3}]),
              {0.6436547040939331, 0.3450683653354645, 0.9779438376426697, 0.3698393404483795},
              kTolerance);

  manual_seed(123);
  GPTModel model(config);
  const Tensor batch = tensor({{61, 10, 36, 26}, {61, 11, 63, 34}});
  check::near("logits with dropout", first_four(model(batch)[{1, 3}]),
              {0.3852304518222809, 0.4235506057739258, -0.38764625787734985, 0.33739593625068665},
              kTolerance);
  std::int64_t total_params = 0;
  for (const Tensor& p : model.parameters()) total_params += p.numel();
  check::that(total_params == 95616 && model.num_parameters() == 95616, "number of parameters");

  model.eval();
  check::near("logits", first_four(model(batch)[{0, 3}]),
              {0.8971967697143555, -0.6050784587860107, 0.04056263715028763, 0.313642293214798},
              kTolerance);
  const Tensor encoded = tensor({15, 49, 67, 46}).unsqueeze(0);
  const Tensor out = generate_text_simple(model, encoded, 40, config.context_length);
  std::cout << out << '\n';
  const std::vector<std::int64_t> expected = {
      15, 49, 67, 46, 64, 48, 84, 17, 84, 6,  59, 57, 39, 56, 1,  40, 26, 90, 38, 56, 23, 78,
      84, 6,  4,  68, 45, 21, 32, 54, 10, 38, 25, 60, 59, 57, 57, 57, 57, 57, 57, 57, 57, 57};
  check::that(out[0].to_vector<std::int64_t>() == expected, "generated tokens");
}

}  // namespace

int main() {
  layer_norm_by_hand();
  shortcuts();
  model();
  return check::result();
}
