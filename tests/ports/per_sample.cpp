// Ports four ways to compute the per-sample gradients of a small network: a loop over samples, one
// vjp per sample, a Jacobian of the losses, and outer products of the layers' inputs and the
// gradients of their outputs. Hooks collect these inputs and gradients in one backward pass.
// Checks that all four agree and that their mean is the gradient of the batch. Also compares a step
// of differentially private training, which clips each sample's gradient, with PyTorch's
// (per_sample.py).
#include "check.h"

using namespace tend;

namespace {

class Net : public nn::Module<Net> {
 public:
  Net() : fc1(8, 16), fc2(16, 3) {}

  Tensor forward(const Tensor& x) const { return fc2(tanh(fc1(x))); }

  TEND_MODULE(nn::Linear, fc1);
  TEND_MODULE(nn::Linear, fc2);
};

/// For each parameter, the gradients of all samples, with shape (B, ...).
using Gradients = std::vector<Tensor>;

Gradients by_loop(const Net& net, const Tensor& x, const Tensor& y) {
  std::vector<Gradients> samples(4);
  for (int64_t i = 0; i < x.size(0); ++i) {
    const Tensor loss = cross_entropy(net(x[i].unsqueeze(0)), y[Slice(i, i + 1)]);
    const auto gradients = autograd::grad({loss}, net.parameters());
    for (std::size_t p = 0; p < gradients.size(); ++p) samples[p].push_back(gradients[p]);
  }
  Gradients all;
  for (const auto& parameter : samples) all.push_back(stack(parameter));
  return all;
}

/// The losses of all samples as a function of the parameters.
std::vector<Tensor> losses(const std::vector<Tensor>& p, const Tensor& x, const Tensor& y) {
  const Tensor logits = linear(tanh(linear(x, p[0], p[1])), p[2], p[3]);
  return {cross_entropy(logits, y, {.reduction = Reduction::none})};
}

Gradients by_jacobian(const Net& net, const Tensor& x, const Tensor& y) {
  const auto f = [&](const std::vector<Tensor>& p) { return losses(p, x, y); };
  return autograd::jacobian(f, net.parameters())[0];
}

Gradients by_vjp(const Net& net, const Tensor& x, const Tensor& y) {
  const auto f = [&](const std::vector<Tensor>& p) { return losses(p, x, y); };
  const Tensor one_hot = eye(x.size(0), x.dtype());
  std::vector<Gradients> samples(4);
  for (const Tensor& v : one_hot) {
    const auto [outputs, product] = autograd::vjp(f, net.parameters(), {v});
    for (std::size_t p = 0; p < product.size(); ++p) samples[p].push_back(product[p]);
  }
  Gradients all;
  for (const auto& parameter : samples) all.push_back(stack(parameter));
  return all;
}

/// The input of a Linear layer, and the gradient of its output.
struct Traced {
  Tensor input, grad_output;
};

Gradients by_hooks(Net& net, const Tensor& x, const Tensor& y) {
  std::vector<Traced> traced(2);
  std::vector<HookHandle> handles;
  std::size_t i = 0;
  for (nn::Linear* layer : {&net.fc1, &net.fc2}) {
    Traced& target = traced[i++];
    handles.push_back(layer->register_forward_hook(
        [&target](const auto&, const std::vector<Tensor>& inputs, const Tensor&) {
          target.input = inputs[0].detach();
        }));
    handles.push_back(layer->register_backward_hook(
        [&target](const std::vector<Tensor>&, const Tensor& grad_output) {
          target.grad_output = grad_output;
        }));
  }
  net.zero_grad();
  cross_entropy(net(x), y, {.reduction = Reduction::sum}).backward();
  for (auto& handle : handles) handle.remove();
  Gradients all;
  for (const auto& [input, grad_output] : traced) {
    all.push_back(einsum("bi,bj->bij", {grad_output, input}));
    all.push_back(grad_output);
  }
  return all;
}

/// The norm of each sample's gradient over all parameters, with shape (B,).
Tensor per_sample_norms(const Gradients& gradients) {
  std::vector<Tensor> norms;
  for (const Tensor& g : gradients) norms.push_back(g.flatten(1).norm(2, -1));
  return stack(norms, 1).norm(2, 1);
}

void compare(const std::string& how, const Gradients& got, const Gradients& want) {
  check::that(got.size() == want.size(), how + ": the number of parameters");
  for (std::size_t p = 0; p < want.size(); ++p) check::near(how, got[p], want[p], 1e-14);
}

}  // namespace

int main() {
  manual_seed(5);
  Net net;
  net.to(float64);
  const Tensor x = randn({6, 8}, float64) * 2;
  const Tensor y = randint(0, 3, {6});

  const Gradients loop = by_loop(net, x, y);
  // The tolerance in compare() is for sums of up to 16 products in float64.
  compare("jacobian", by_jacobian(net, x, y), loop);
  compare("vjp", by_vjp(net, x, y), loop);
  compare("hooks", by_hooks(net, x, y), loop);

  net.zero_grad();
  cross_entropy(net(x), y).backward();
  const auto parameters = net.parameters();
  for (std::size_t p = 0; p < parameters.size(); ++p)
    check::near("the mean", loop[p].mean(0), parameters[p].grad(), 1e-14);

  const Tensor norms = per_sample_norms(loop);
  std::cout << "norms " << norms << '\n';
  check::near("norms", norms,
              tensor({3.2455688843039248, 3.8600179775775745, 3.0281988402356026, 2.76828016402448,
                      3.2886543923963814, 2.127281373654415},
                     float64),
              1e-13);
  // Clips each sample's gradient to a norm of 3, adds noise to their sum, and divides it by their
  // number.
  const Tensor factor = (3.0 / (norms + 1e-6)).clamp_max(1.0);
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    Tensor clipped = einsum("b,b...->...", {factor, loop[p]});
    clipped += 0.5 * randn_like(clipped);
    Tensor parameter = parameters[p];
    parameter.set_grad(clipped / x.size(0));
  }
  check::that((factor < 1).any().item<bool>() && !(factor < 1).all().item<bool>(),
              "some samples are clipped");
  optim::SGD(parameters, {.lr = 0.1}).step();
  const double loss = cross_entropy(net(x), y).item();
  std::cout << "loss after the step " << loss << '\n';
  check::near("loss", loss, 1.0920298853947374, 1e-13);
  return check::result();
}
