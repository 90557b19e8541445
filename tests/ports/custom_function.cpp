// Ports custom autograd functions: a straight-through estimator, a gradient that is reversed and
// scaled, an operation that saves its output, a fused operation that saves its inputs, a function
// with two outputs, and double backward.
// Checks them with gradcheck and gradgradcheck, and against the same formulas in public operations.
// The rounding cannot be checked in this way, so the program trains weights through it.
#include "check.h"

using namespace tend;

namespace {

/// Rounds x. The gradient passes unchanged where |x| <= 1 and is 0 elsewhere.
struct RoundSTE : autograd::Function<RoundSTE> {
  static Tensor forward(autograd::FunctionContext& ctx, const Tensor& x) {
    ctx.save_for_backward({x});
    return round(x);
  }
  static Tensor backward(const autograd::FunctionContext& ctx, const Tensor& grad_output) {
    const Tensor x = ctx.saved(0);
    return grad_output * (x.abs() <= 1);
  }
};

/// The identity. Its gradient is multiplied by -lambda.
struct ReverseGradient : autograd::Function<ReverseGradient> {
  explicit ReverseGradient(double factor) : lambda(factor) {}
  Tensor forward(autograd::FunctionContext&, const Tensor& x) const { return x.clone(); }
  Tensor backward(const autograd::FunctionContext&, const Tensor& grad_output) const {
    return -lambda * grad_output;
  }
  double lambda;
};

/// exp(x). Saves its result for backward.
struct Exp : autograd::Function<Exp> {
  static Tensor forward(autograd::FunctionContext& ctx, const Tensor& x) {
    Tensor result = exp(x);
    ctx.save_for_backward({result});
    return result;
  }
  static Tensor backward(const autograd::FunctionContext& ctx, const Tensor& grad_output) {
    return grad_output * ctx.saved(0);
  }
};

/// silu(x W^T + b) in one node.
struct LinearSiLU : autograd::Function<LinearSiLU> {
  static Tensor forward(autograd::FunctionContext& ctx, const Tensor& x, const Tensor& weight,
                        const Tensor& bias) {
    const Tensor z = addmm(bias, x, weight.t());
    ctx.save_for_backward({x, weight, bias});
    return z * sigmoid(z);
  }
  static std::vector<Tensor> backward(const autograd::FunctionContext& ctx,
                                      const Tensor& grad_output) {
    const Tensor x = ctx.saved(0), weight = ctx.saved(1), bias = ctx.saved(2);
    const Tensor z = addmm(bias, x, weight.t());
    const Tensor s = sigmoid(z);
    const Tensor grad_z = grad_output * (s + z * s * (1 - s));
    Tensor grad_x, grad_weight, grad_bias;
    if (ctx.needs_input_grad(0)) grad_x = grad_z.mm(weight);
    if (ctx.needs_input_grad(1)) grad_weight = grad_z.t().mm(x);
    if (ctx.needs_input_grad(2)) grad_bias = grad_z.sum(0);
    return {grad_x, grad_weight, grad_bias};
  }
};

/// Radius and angle of points.
struct Polar : autograd::Function<Polar> {
  static std::vector<Tensor> forward(autograd::FunctionContext& ctx, const Tensor& x,
                                     const Tensor& y) {
    ctx.save_for_backward({x, y});
    return {sqrt(x * x + y * y), atan2(y, x)};
  }
  static std::vector<Tensor> backward(const autograd::FunctionContext& ctx,
                                      const std::vector<Tensor>& grads) {
    const Tensor x = ctx.saved(0), y = ctx.saved(1);
    const Tensor square = x * x + y * y, radius = sqrt(square);
    return {grads[0] * x / radius - grads[1] * y / square,
            grads[0] * y / radius + grads[1] * x / square};
  }
};

/// A square whose backward forgets the factor 2.
struct WrongSquare : autograd::Function<WrongSquare> {
  static Tensor forward(autograd::FunctionContext& ctx, const Tensor& x) {
    ctx.save_for_backward({x});
    return x * x;
  }
  static Tensor backward(const autograd::FunctionContext& ctx, const Tensor& grad_output) {
    return grad_output * ctx.saved(0);
  }
};

Tensor leaf(const Shape& shape) {
  return randn(shape, float64).requires_grad_();
}

void check_gradients() {
  const auto fused = [](const Tensor& x, const Tensor& w, const Tensor& b) {
    return LinearSiLU().apply(x, w, b);
  };
  const std::vector<Tensor> inputs = {leaf({4, 3}), leaf({2, 3}), leaf(2)};
  check::that(bool(gradcheck(fused, inputs)), "gradcheck of the fused operation");
  check::that(bool(gradgradcheck(fused, inputs)), "gradgradcheck of the fused operation");
  const auto exponential = [](const Tensor& x) { return Exp().apply(x); };
  check::that(bool(gradcheck(exponential, {leaf(5)})), "gradcheck of exp");
  check::that(bool(gradgradcheck(exponential, {leaf(5)})), "gradgradcheck of exp");
  const auto polar = [](const Tensor& x, const Tensor& y) { return Polar().apply(x, y); };
  check::that(bool(gradcheck(polar, {leaf(6), leaf(6)})), "gradcheck of two outputs");
  check::that(bool(gradgradcheck(polar, {leaf(6), leaf(6)})), "gradgradcheck of two outputs");

  const GradcheckReport report =
      gradcheck([](const Tensor& x) { return WrongSquare().apply(x); }, {leaf(3)});
  std::cout << report.message << '\n';
  check::that(!report, "gradcheck finds the wrong square");
}

void check_against_public_operations() {
  const Tensor x = leaf({4, 3}), weight = leaf({2, 3}), bias = leaf(2);
  const Tensor fused = LinearSiLU().apply(x, weight, bias);
  const Tensor composed = silu(linear(x, weight, bias));
  check::near("value", fused, composed, 1e-14);
  std::cout << fused.grad_fn() << '\n';
  check::that(std::string(fused.grad_fn()) == "LinearSiLUBackward", "the name of the node");
  const std::vector<Tensor> ours = autograd::grad({fused.sum()}, {x, weight, bias});
  const std::vector<Tensor> theirs = autograd::grad({composed.sum()}, {x, weight, bias});
  for (std::size_t i = 0; i < 3; ++i) check::near("gradient", ours[i], theirs[i], 1e-13);

  // d2/dx2 exp(x)^2 = 4 exp(2 x).
  const Tensor z = tensor({0.1, -0.7}, float64).requires_grad_();
  const Tensor first = autograd::grad(pow(Exp().apply(z), 2).sum(), z, {.create_graph = true});
  const Tensor second = autograd::grad(first.sum(), z);
  check::near("second derivative", second, 4 * exp(2 * z), 1e-13);

  const Tensor r = leaf(3);
  ReverseGradient(0.5).apply(r).pow(2).sum().backward();
  check::near("reversed gradient", r.grad(), -r, 1e-14);
}

/// Finds weights of -1, 0 and 1 by gradient descent through the rounding.
void check_straight_through() {
  manual_seed(3);
  const Tensor target = tensor({1., 0., -1., -1., 0., 1.});
  const Tensor x = randn({64, 6});
  const Tensor y = x.matmul(target);
  const Tensor w = (rand(6) - 0.5).requires_grad_();
  optim::SGD optimizer({w}, {.lr = 0.05});
  for (int step = 0; step < 200; ++step) {
    const Tensor loss = mse_loss(x.matmul(RoundSTE().apply(w)), y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  std::cout << w << ' ' << round(w) << '\n';
  check::that(round(w).equal(target), "rounded weights");
  // Without the estimator the gradient is 0 and the weights do not change.
  check::that(!autograd::grad(round(w).sum(), w).any().item<bool>(), "the gradient of round");
}

}  // namespace

int main() {
  manual_seed(0);
  check_gradients();
  check_against_public_operations();
  check_straight_through();
  return check::result();
}
