// Ports the usual examples of small scalar autograd engines: an expression of two numbers, and a
// multi-layer perceptron that learns to separate two half moons. It uses a hinge loss with L2
// regularisation, and updates its parameters by hand.
// Compares the expression's value and gradients, the losses during training and the accuracy with
// PyTorch's (micrograd.py). Also checks that all points are classified correctly at the end.
#include <numbers>

#include "check.h"

using namespace tend;

namespace {

class Neuron : public nn::Module<Neuron> {
 public:
  Neuron(int inputs, bool with_relu)
      : w(rand(inputs, float64) * 2 - 1), b(zeros({}, float64)), nonlinear(with_relu) {}

  Tensor forward(const Tensor& x) const {
    const Tensor out = matmul(x, w) + b;
    return nonlinear ? out.relu() : out;
  }

  TEND_PARAMETER(w);
  TEND_PARAMETER(b);
  bool nonlinear;
};

class Layer : public nn::Module<Layer> {
 public:
  Layer(int inputs, int outputs, bool nonlinear) {
    for (int i = 0; i < outputs; ++i) neurons.emplace_back(inputs, nonlinear);
  }

  Tensor forward(const Tensor& x) const {
    std::vector<Tensor> out;
    for (const Neuron& neuron : neurons) out.push_back(neuron(x));
    return stack(out, -1);
  }

  TEND_MODULE(nn::ModuleList<Neuron>, neurons);
};

class MLP : public nn::Module<MLP> {
 public:
  explicit MLP(const std::vector<int>& sizes) {
    for (std::size_t i = 0; i + 1 < sizes.size(); ++i)
      layers.emplace_back(sizes[i], sizes[i + 1], i + 2 < sizes.size());
  }

  Tensor forward(Tensor x) const {
    for (const Layer& layer : layers) x = layer(x);
    return x.squeeze(-1);
  }

  TEND_MODULE(nn::ModuleList<Layer>, layers);
};

void check_expression() {
  Tensor a = tensor(1.5, float64).requires_grad_();
  Tensor b = tensor(-0.5, float64).requires_grad_();
  Tensor c = a * b + pow(a, 3);
  c += c.tanh() - b;
  Tensor d = (a - b).relu() * c / (1 + (-a).exp());
  d += (b - a).relu() + d.sqrt();
  const Tensor out = pow(d, 2) / 3.0 + 2.0 / d;
  out.backward();
  std::cout << "out " << out.item() << ", da " << a.grad().item() << ", db " << b.grad().item()
            << '\n';
  // The tolerance is for a dozen operations in float64.
  check::near("out", out.item(), 29.179504706226506, 1e-13);
  check::near("da", a.grad().item(), 110.94652055669674, 1e-13);
  check::near("db", b.grad().item(), -18.428763297284593, 1e-13);
}

std::pair<Tensor, Tensor> make_moons(int n, double noise) {
  const Tensor angle = linspace(0, std::numbers::pi, n / 2, float64);
  const Tensor upper = stack({angle.cos(), angle.sin()}, 1);
  const Tensor lower = stack({1 - angle.cos(), 0.5 - angle.sin()}, 1);
  const Tensor x = cat({upper, lower}) + noise * randn({n, 2}, float64);
  const Tensor y = cat({ones(n / 2, float64), -ones(n / 2, float64)});
  return {x, y};
}

struct Progress {
  double loss, accuracy;
};

std::vector<Progress> train(MLP& model, const Tensor& x, const Tensor& y, int steps) {
  std::vector<Progress> all;
  for (int k = 0; k < steps; ++k) {
    const Tensor scores = model(x);
    const Tensor data_loss = (1 - y * scores).relu().mean();
    Tensor reg_loss = zeros({}, float64);
    for (const Tensor& p : model.parameters()) reg_loss = reg_loss + (p * p).sum();
    const Tensor loss = data_loss + 1e-4 * reg_loss;
    const Tensor accuracy = ((y > 0) == (scores > 0)).to(float64).mean();

    model.zero_grad();
    loss.backward();
    const double rate = 1.0 - 0.9 * k / steps;
    const NoGradGuard no_grad;
    for (const Tensor& p : model.parameters()) p -= rate * p.grad();
    all.push_back({loss.item(), accuracy.item()});
  }
  return all;
}

void check_moons() {
  manual_seed(1337);
  const auto [x, y] = make_moons(100, 0.1);
  MLP model({2, 16, 16, 1});
  check::that(model.num_parameters() == 337, "the number of parameters");

  const std::vector<Progress> progress = train(model, x, y, 100);
  for (std::size_t k : {0U, 1U, 10U, 50U, 99U})
    std::cout << "step " << k << ", loss " << progress[k].loss << ", accuracy "
              << progress[k].accuracy << '\n';
  // In float64, rounding differences grow to about 1e-12 in a hundred steps.
  check::near("loss 0", progress[0].loss, 1.3330974507550784, 1e-10);
  check::near("loss 1", progress[1].loss, 4.912943556009151, 1e-10);
  check::near("loss 10", progress[10].loss, 0.29116057890981883, 1e-10);
  check::near("loss 50", progress[50].loss, 0.029367605237473195, 1e-10);
  check::near("loss 99", progress[99].loss, 0.016863519780947935, 1e-10);
  check::near("accuracy 10", progress[10].accuracy, 0.86, 1e-10);
  check::near("accuracy 99", progress[99].accuracy, 1.0, 0);
}

}  // namespace

int main() {
  check_expression();
  check_moons();
  return check::result();
}
