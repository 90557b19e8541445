#include <tend/nn/optim/muon.h>

#include <algorithm>
#include <cmath>

#include <tend/autograd/ops/arithmetic.h>
#include <tend/autograd/ops/creation.h>
#include <tend/autograd/ops/linalg.h>
#include <tend/autograd/ops/reduce.h>
#include <tend/nn/optim/element_pass.h>

namespace tend::optim {
namespace {

// A matrix close to U V', where U S V' is the singular value decomposition of `x`. Each iteration
// applies a polynomial, which moves singular values between 0 and 1 to about 1.
Tensor orthogonalized(const Tensor& x, const MuonOptions& o) {
  const bool is_tall = x.size(0) > x.size(1);
  Tensor y = is_tall ? x.t() : x;
  y = y / std::max(norm(y).item<double>(), o.eps);
  for (std::int64_t i = 0; i < o.ns_steps; ++i) {
    const Tensor square = matmul(y, y.t());
    y = y * 3.4445 + matmul(square * -4.7750 + matmul(square, square) * 2.0315, y);
  }
  return is_tall ? y.t() : y;
}

double step_factor(const Shape& shape, MuonAdjust adjust) {
  const auto rows = static_cast<double>(shape[0]), columns = static_cast<double>(shape[1]);
  return adjust == MuonAdjust::original ? std::sqrt(std::max(1.0, rows / columns))
                                        : 0.2 * std::sqrt(std::max(rows, columns));
}

}  // namespace

void Muon::check(const Options& o) {
  detail::check_from_zero(kName, "lr", o.lr);
  detail::check_from_zero(kName, "weight_decay", o.weight_decay);
  detail::check_from_zero(kName, "momentum", o.momentum);
  detail::check_from_zero(kName, "eps", o.eps);
  if (o.ns_steps < 1 || o.ns_steps > 99)
    fail(kName, "ns_steps must be from 1 to 99, got ", o.ns_steps);
}

void Muon::check_parameter(const Tensor& parameter) {
  if (parameter.dim() != 2)
    fail<ShapeError>(kName, "parameters must be matrices, got shape ", parameter.shape());
}

Update Muon::update(const ParameterStep& p, const Options& o) const {
  const Tensor gradient(p.gradient);
  Array& buffer = p.state.arrays["momentum_buffer"];
  const Tensor mean = buffer.defined() ? lerp(Tensor(buffer), gradient, 1 - o.momentum)
                                       : gradient * (1 - o.momentum);
  buffer = mean.array();
  const Tensor direction = o.nesterov ? lerp(gradient, mean, o.momentum) : mean;
  const double factor = step_factor(gradient.shape(), o.adjust_lr_fn);
  const Array change = (orthogonalized(direction, o) * factor).array().contiguous();
  const kernels::SGDStep step = {.rate = -o.lr,
                                 .decay = o.weight_decay,
                                 .momentum = 0,
                                 .share = 1,
                                 .nesterov = false,
                                 .maximize = false,
                                 .first = false};
  return detail::element_pass<1>(
      {p.group, p.parameter, p.values, change, p.state}, {nullptr},
      [step](const auto& kernels, auto* x, auto* g, auto& state, std::int64_t count) {
        kernels.sgd(x, g, state[0], count, step);
      });
}

}  // namespace tend::optim
