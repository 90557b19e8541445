#include <tend/nn/optim/lbfgs.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include <tend/autograd/graph/inplace.h>
#include <tend/autograd/ops/arithmetic.h>
#include <tend/autograd/ops/creation.h>
#include <tend/autograd/ops/joining.h>
#include <tend/autograd/ops/linalg.h>
#include <tend/autograd/ops/pieces.h>
#include <tend/nn/optim/state_reader.h>
#include <tend/nn/optim/strong_wolfe.h>

namespace tend::optim {
namespace {

constexpr const char* kLBFGSStep = "LBFGS.step";

double inner(const Tensor& a, const Tensor& b) {
  return dot(a, b).item<double>();
}

double largest(const Tensor& x) {
  return x.abs().max().item<double>();
}

double checked_loss(const Tensor& loss) {
  if (!loss.defined() || loss.numel() != 1)
    fail(kLBFGSStep, "the closure must return a loss of one element");
  return loss.item<double>();
}

// The gradients of all parameters, one after the other; zeros for a parameter without a gradient.
Tensor flat_gradient(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> parts;
  for (const Tensor& parameter : parameters) {
    check_own_grad_fits(kLBFGSStep, *parameter.impl());
    const Tensor gradient = parameter.grad();
    parts.push_back(gradient.defined() ? gradient.detach().reshape({-1})
                                       : zeros({parameter.numel()}, parameter.dtype()));
  }
  return cat(parts, 0);
}

void move(const std::vector<Tensor>& parameters, double t, const Tensor& direction) {
  std::int64_t begin = 0;
  for (const Tensor& parameter : parameters) {
    const std::int64_t end = begin + parameter.numel();
    parameter.add_(direction.slice(0, begin, end).view(parameter.shape()), t);
    begin = end;
  }
}

std::vector<Tensor> values_of(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> values;
  for (const Tensor& parameter : parameters) values.push_back(parameter.detach().clone());
  return values;
}

void restore(const std::vector<Tensor>& parameters, const std::vector<Tensor>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) parameters[i].copy_(values[i]);
}

void check_from_one(const char* option, std::int64_t value) {
  if (value < 1) fail(LBFGS::kName, option, " must be at least 1, got ", value);
}

}  // namespace

void LBFGS::check(const Options& o) {
  detail::check_from_zero(kName, "lr", o.lr);
  detail::check_from_zero(kName, "tolerance_grad", o.tolerance_grad);
  detail::check_from_zero(kName, "tolerance_change", o.tolerance_change);
  check_from_one("max_iter", o.max_iter);
  check_from_one("history_size", o.history_size);
  if (o.max_eval) check_from_one("max_eval", *o.max_eval);
}

void LBFGS::make_step() {
  fail(step_name(), "needs a closure that computes the loss and its gradients");
}

const std::vector<Tensor>& LBFGS::checked_parameters() {
  if (group_count() != 1) fail(kLBFGSStep, "there must be one group, not ", group_count());
  const std::vector<Tensor>& parameters = checked_group(0).parameters;
  check(groups()[0].options);
  const DType dtype = parameters[0].dtype();
  std::int64_t elements = 0;
  for (const Tensor& parameter : parameters) {
    if (parameter.dtype() != dtype)
      fail<DTypeError>(kLBFGSStep, "parameters must have one dtype, not ", dtype, " and ",
                       parameter.dtype());
    check_writable(kLBFGSStep, parameter);
    elements += parameter.numel();
  }
  if (elements == 0) fail(kLBFGSStep, "the parameters have no elements");
  const Tensor& last = memory_.d;
  if (last.defined() && (last.numel() != elements || last.dtype() != dtype))
    fail<ShapeError>(kLBFGSStep, "the parameters must still have ", last.numel(), " elements of ",
                     last.dtype(), " as in earlier steps, but have ", elements, " of ", dtype);
  return parameters;
}

// Computes the next direction: the negative gradient times an approximate inverse of the second
// derivatives. The approximation is computed from the last changes of the gradient.
void LBFGS::turn(const Tensor& gradient, std::int64_t history_size) {
  Memory& m = memory_;
  if (++m.n_iter == 1) {
    m.d = -gradient;
    return;
  }
  const Tensor change = gradient - m.prev_flat_grad, step = m.d * m.t;
  const double curvature = inner(change, step);
  if (curvature > 1e-10) {
    while (static_cast<std::int64_t>(m.old_dirs.size()) >= history_size) {
      m.old_dirs.erase(m.old_dirs.begin());
      m.old_stps.erase(m.old_stps.begin());
      m.ro.erase(m.ro.begin());
    }
    m.old_dirs.push_back(change);
    m.old_stps.push_back(step);
    m.ro.push_back(1 / curvature);
    m.H_diag = curvature / inner(change, change);
  }
  std::vector<double> shares(m.ro.size());
  const Tensor turned = -gradient;
  for (std::size_t i = shares.size(); i-- > 0;) {
    shares[i] = inner(m.old_stps[i], turned) * m.ro[i];
    turned.add_(m.old_dirs[i], -shares[i]);
  }
  m.d = turned * m.H_diag;
  for (std::size_t i = 0; i < shares.size(); ++i)
    m.d.add_(m.old_stps[i], shares[i] - inner(m.old_dirs[i], m.d) * m.ro[i]);
}

Tensor LBFGS::make_step_with(FunctionRef<Tensor()> closure) {
  const NoGradGuard no_grad;
  const std::vector<Tensor>& parameters = checked_parameters();
  Memory& m = memory_;
  const Options o = groups()[0].options;
  const std::int64_t most = m.func_evals + o.max_eval.value_or(o.max_iter + o.max_iter / 4);
  const auto evaluate = [&](Tensor& gradient) {
    Tensor loss = closure();
    checked_loss(loss);
    gradient = flat_gradient(parameters);
    ++m.func_evals;
    return loss;
  };
  Tensor gradient;
  Tensor first = evaluate(gradient);
  double loss = checked_loss(first);
  if (largest(gradient) <= o.tolerance_grad) return first;
  for (std::int64_t n = 1;; ++n) {
    turn(gradient, o.history_size);
    m.prev_flat_grad = gradient;
    m.t = (m.n_iter == 1 ? std::min(1.0, 1 / gradient.abs().sum().item<double>()) : 1) * o.lr;
    const double slope = inner(gradient, m.d), before = loss;
    if (slope > -o.tolerance_change) break;
    if (o.line_search_fn == LineSearch::strong_wolfe) {
      const std::vector<Tensor> here = values_of(parameters);
      const auto at = [&](double t) {
        move(parameters, t, m.d);
        Tensor there;
        const double value = checked_loss(evaluate(there));
        restore(parameters, here);
        return detail::LinePoint{t, value, inner(there, m.d), there};
      };
      const detail::LinePoint found =
          detail::strong_wolfe(at, {0, loss, slope, gradient}, m.t, largest(m.d));
      m.t = found.t;
      loss = found.loss;
      gradient = found.gradient;
    }
    move(parameters, m.t, m.d);
    if (n == o.max_iter) break;
    if (o.line_search_fn == LineSearch::none) loss = checked_loss(evaluate(gradient));
    if (m.func_evals >= most || largest(gradient) <= o.tolerance_grad ||
        largest(m.d * m.t) <= o.tolerance_change || std::abs(loss - before) < o.tolerance_change)
      break;
  }
  return first;
}

nn::StateDict LBFGS::state_dict() {
  const Memory& m = memory_;
  nn::StateDict state{{"n_iter", tensor(m.n_iter)}, {"func_evals", tensor(m.func_evals)}};
  if (m.n_iter > 0) {
    state.emplace_back("d", m.d);
    state.emplace_back("t", tensor(m.t, float64));
    state.emplace_back("H_diag", tensor(m.H_diag, float64));
    state.emplace_back("prev_flat_grad", m.prev_flat_grad);
  }
  if (!m.ro.empty()) {
    state.emplace_back("old_dirs", stack(m.old_dirs, 0));
    state.emplace_back("old_stps", stack(m.old_stps, 0));
    state.emplace_back("ro", tensor(m.ro, float64));
  }
  for (const auto& [key, value] : GroupedOptimizer::state_dict()) state.emplace_back(key, value);
  return state;
}

void LBFGS::load_state_dict(const nn::StateDict& state) {
  nn::StateDict own, options;
  for (const auto& [key, value] : state)
    (std::string_view(key).starts_with("group.") ? options : own).emplace_back(key, value);
  const std::vector<Tensor>& parameters = groups().at(0).parameters;
  std::int64_t elements = 0;
  for (const Tensor& parameter : parameters) elements += parameter.numel();
  const DType dtype = parameters.at(0).dtype();
  detail::StateReader reader("LBFGS::load_state_dict", own);
  const auto read = [&](const char* key, const Shape& shape) {
    return Tensor(reader.take(key, shape, dtype).clone());
  };
  Memory m;
  m.n_iter = reader.take_count("n_iter");
  m.func_evals = reader.take_count("func_evals");
  if (m.n_iter > 0) {
    m.d = read("d", {elements});
    m.t = reader.take_number("t");
    m.H_diag = reader.take_number("H_diag");
    m.prev_flat_grad = read("prev_flat_grad", {elements});
  }
  if (m.n_iter > 0 && reader.has("ro")) {
    const std::int64_t rows = reader.size_of("ro");
    m.ro = reader.take("ro", {rows}, float64).to_vector<double>();
    m.old_dirs = read("old_dirs", {rows, elements}).unbind(0);
    m.old_stps = read("old_stps", {rows, elements}).unbind(0);
  }
  reader.check_all_taken();
  GroupedOptimizer::load_state_dict(options);
  memory_ = std::move(m);
}

}  // namespace tend::optim
