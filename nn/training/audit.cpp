#include <tend/nn/training/audit.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <ostream>
#include <utility>

#include <tend/autograd/graph/call_scope.h>
#include <tend/autograd/graph/engine.h>
#include <tend/autograd/graph/node.h>
#include <tend/autograd/graph/node_hook.h>
#include <tend/autograd/graph/timeline.h>
#include <tend/autograd/ops/ops.h>
#include <tend/autograd/tensor/grad_mode.h>
#include <tend/autograd/tools/function.h>
#include <tend/autograd/tools/gradcheck.h>
#include <tend/core/random/random.h>

namespace tend::nn {
namespace {

using detail::Audited;

constexpr double kTolerance = 1e-4;
// The error of a derivative is divided by the size of the gradient, but by no less than this share
// of largest_of(). Rounding makes central differences wrong by 1e-11 of the loss. Divided by a
// gradient of 0, such as the gradient of a bias before BatchNorm, this error would be large.
constexpr double kLeastScale = 1e-6;
// The audit does not find errors below this share of the loss or of the largest gradient. So it
// cannot check gradients that are themselves as small.
constexpr double kNegligible = kTolerance * kLeastScale;
constexpr const char* kAudit = "audit";
constexpr const char* kOutside = "outside of all modules";

double norm_of(const Tensor& x) {
  const NoGradGuard no_graph;
  return x.numel() == 0 ? 0 : norm(x.detach().to(float64).flatten()).item();
}

double inner_product(const Tensor& a, const Tensor& b) {
  const NoGradGuard no_graph;
  return sum(a.detach().to(float64) * b.detach().to(float64)).item();
}

// |a - b| relative to `scale`; 0 if a equals b, even if the scale is 0.
double relative(double a, double b, double scale) {
  return a == b ? 0 : std::abs(a - b) / scale;
}

bool is_finite(const Tensor& x) {
  const NoGradGuard no_graph;
  return !is_floating(x.dtype()) || all(isfinite(x.detach())).item<bool>();
}

Tensor loss_of(const Audited& audited) {
  const RngStateGuard same_state;
  const GradModeGuard graph(true);
  Tensor loss = audited.loss();
  if (loss.numel() != 1)
    fail<ShapeError>(kAudit, "the loss must be one number, but has shape ", loss.shape());
  return loss;
}

// The gradients of the loss. A gradient is undefined if its parameter is not reached or is frozen.
std::vector<Tensor> gradients_of(const Tensor& loss, const std::vector<Tensor>& parameters,
                                 bool create_graph = false) {
  std::vector<Tensor> wanted;
  for (const Tensor& each : parameters) {
    if (each.requires_grad()) wanted.push_back(each);
  }
  std::vector<Tensor> gradients(parameters.size());
  if (wanted.empty()) return gradients;
  const GradModeGuard graph(true);
  auto found = autograd::grad({loss.reshape({})}, wanted, {},
                              {.create_graph = create_graph, .allow_unused = true});
  std::size_t next = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].requires_grad()) gradients[i] = std::move(found[next++]);
  }
  return gradients;
}

// Calls f() with `parameter` moved by `step` along `direction`.
template <class F>
auto moved(const Tensor& parameter, const Tensor& direction, double step, F f) {
  const Tensor before = parameter.detach().clone();
  const auto put = [&](const Tensor& values) {
    const NoGradGuard no_graph;
    parameter.detach().copy_(values);
  };
  put(before + direction * step);
  auto result = f();
  put(before);
  return result;
}

// The steps for central differences. A difference across a kink, such as relu's at 0, is wrong.
// Smaller steps avoid most kinks. A wrong derivative differs from the differences of all steps.
constexpr std::array kSteps{1e-5, 1e-6, 1e-7};

// The smallest distance(step) of all steps; NaN if one of them is NaN.
template <class F>
double smallest(F distance) {
  double least = std::numeric_limits<double>::infinity();
  for (const double step : kSteps) {
    const double found = distance(step);
    if (std::isnan(found)) return found;
    least = std::min(least, found);
    if (least <= kTolerance) break;
  }
  return least;
}

// Compares derivatives of the float64 copy along a random direction with central differences.
// `scale` is the result of largest_of() for the copy.
void check_derivatives(const Audited& audited, const Tensor& parameter, double scale,
                       ParameterAudit& found) {
  const Tensor direction = randn(parameter.shape(), {.dtype = float64});
  const auto loss_at = [&](double step) {
    return moved(parameter, direction, step, [&] { return loss_of(audited).item(); });
  };
  const auto gradient_at = [&](double step) {
    return moved(parameter, direction, step,
                 [&] { return gradients_of(loss_of(audited), {parameter})[0]; });
  };
  const Tensor gradient = gradient_at(0);
  const double size = std::max(norm_of(gradient), kLeastScale * scale);
  found.first_order = smallest([&](double step) {
    const double slope = (loss_at(step) - loss_at(-step)) / (2 * step);
    return relative(inner_product(gradient, direction), slope, size);
  });
  try {
    const GradModeGuard graph(true);
    const Tensor first = gradients_of(loss_of(audited), {parameter}, true)[0];
    const Tensor along = sum(first * direction);
    const Tensor second = along.requires_grad() ? gradients_of(along, {parameter})[0] : Tensor();
    found.second_order = smallest([&](double step) {
      const Tensor numeric = (gradient_at(step) - gradient_at(-step)) / (2 * step);
      const Tensor analytic = second.defined() ? second : zeros_like(numeric);
      // The error of a difference is about the rounding error of the gradient divided by the step.
      const double floor = std::max(norm_of(gradient) * 1e-11 / step, kLeastScale * scale);
      return relative(inner_product(analytic, direction), inner_product(numeric, direction),
                      std::max(norm_of(numeric), floor));
    });
  } catch (const AutogradError&) {
    found.second_order = {};
  }
}

// True if the module computes a result that is not finite from finite inputs.
bool spoils(const Audited& audited, ModuleBase& module) {
  bool found = false;
  HookHandle hook = module.register_forward_hook(
      [&](const ModuleBase&, const std::vector<Tensor>& inputs, Tensor& output) {
        found =
            found || (!is_finite(output) && std::all_of(inputs.begin(), inputs.end(), is_finite));
      });
  try {
    loss_of(audited);
  } catch (const Error&) {
    found = false;  // the module does not return a tensor, so it cannot have hooks
  }
  hook.remove();
  return found;
}

// Returns "in first" for a module whose path in CallScope is "Net.first".
std::string place_in(const ModuleBase& model, const std::string& path) {
  if (path.empty()) return kOutside;
  const std::string root = model.type_name() + '.';
  return "in " + (path.starts_with(root) ? path.substr(root.size()) : path);
}

// The operation whose derivative computes the first gradient that is not finite. Empty if all
// gradients are finite.
std::string origin_in_backward(const Audited& audited) {
  // The graph's nodes store the paths of their modules only while an autograd::Timeline exists. A
  // Profiler may have made one already.
  std::optional<autograd::Timeline> timeline;
  if (!autograd::Timeline::is_on()) timeline.emplace();
  std::string origin;
  const autograd::NodeHook hook([&](const Node& node, std::span<Tensor> gradients) {
    const auto is_spoilt = [](const Tensor& x) { return x.defined() && !is_finite(x); };
    if (!origin.empty() || !std::any_of(gradients.begin(), gradients.end(), is_spoilt)) return;
    const std::string module = node.notes() != nullptr ? node.notes()->module : "";
    origin = as_text("the derivative of ", node.operation(), ' ', place_in(audited.model, module));
  });
  gradients_of(loss_of(audited), audited.model.parameters());
  return origin;
}

std::string origin_of_not_finite(const Audited& audited) {
  std::string origin;
  std::ptrdiff_t depth = -1;
  for (const auto& [path, module] : audited.model.named_modules()) {
    const auto own_depth = path.empty() ? 0 : 1 + std::count(path.begin(), path.end(), '.');
    if (own_depth > depth && spoils(audited, *module)) {
      origin = path.empty() ? module->type_name() : path;
      depth = own_depth;
    }
  }
  if (depth >= 0) return origin;
  if (is_finite(loss_of(audited))) origin = origin_in_backward(audited);
  return origin.empty() ? kOutside : origin;
}

// Compares the derivatives of a custom function with central differences, for the inputs of one
// call in the float64 copy. `check` is gradcheck or gradgradcheck. The step with the smallest error
// counts.
template <class Check>
bool is_wrong(Check check, const autograd::FunctionHook::Call& again,
              const std::vector<Tensor>& inputs) {
  std::vector<Tensor> own;
  for (const Tensor& input : inputs) {
    own.push_back(input.defined() ? input.detach().clone() : input);
    if (!input.defined() || !is_floating(input.dtype())) continue;
    own.back() = own.back().to(float64).requires_grad_(input.requires_grad());
  }
  const auto call = [&](const std::vector<Tensor>& x) {
    const RngStateGuard same_state;
    std::vector<Tensor> copies;  // since the function may write to its inputs
    for (const Tensor& each : x) copies.push_back(each.defined() ? each.clone() : each);
    return again(copies);
  };
  return std::all_of(kSteps.begin(), kSteps.end(), [&](double step) {
    // Compares projections only, since the Jacobians of a model's tensors are large.
    const GradcheckReport report =
        check(call, own, {.eps = step, .atol = 1e-7, .rtol = kTolerance, .full_jacobian = 0});
    return !report.passed && std::isfinite(report.inputs[report.worst].numeric);
  });
}

// The custom functions with wrong derivatives, in the order of their calls.
std::vector<std::string> wrong_functions(const Audited& audited) {
  std::vector<std::string> wrong;
  const auto blame = [&](const char* order, const char* name) {
    std::string text =
        as_text(order, " of ", name, ' ', place_in(audited.model, CallScope::current_path()));
    if (std::find(wrong.begin(), wrong.end(), text) == wrong.end())
      wrong.push_back(std::move(text));
  };
  const autograd::FunctionHook hook(
      [&](const char* name, const auto& again, const std::vector<Tensor>& inputs) {
        const auto has_gradient = [](const Tensor& x) { return x.defined() && x.requires_grad(); };
        if (!grad_enabled() || std::none_of(inputs.begin(), inputs.end(), has_gradient)) return;
        try {
          if (is_wrong(gradcheck, again, inputs)) {
            blame("the derivative", name);
          } else if (is_wrong(gradgradcheck, again, inputs)) {
            blame("the second derivative", name);
          }
        } catch (const Error&) {
          // The function cannot be checked, or has no second derivative.
        }
      });
  gradients_of(loss_of(audited), audited.model.parameters());
  return wrong;
}

// The largest of |loss| and the norms of all gradients, as far as they are finite.
double largest_of(const Tensor& loss, const std::vector<Tensor>& gradients) {
  double largest = std::isfinite(loss.item()) ? std::abs(loss.item()) : 0;
  for (const Tensor& each : gradients) {
    const double size = each.defined() ? norm_of(each) : 0;
    if (std::isfinite(size)) largest = std::max(largest, size);
  }
  return largest;
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", value);
  return text;
}

bool has_wrong_derivative(const ParameterAudit& p) {
  return p.requires_grad && p.reached &&
         !(p.first_order <= kTolerance && p.second_order.value_or(0) <= kTolerance);
}

// The fault of a parameter, in words. Empty if the parameter has no fault.
std::string fault_of(const ParameterAudit& p) {
  if (!p.requires_grad) return "";
  if (!p.reached) return "not reached by the loss";
  if (p.is_zero) return "its gradient is zero";
  if (!has_wrong_derivative(p)) return "";
  return p.first_order <= kTolerance ? "its second derivative is wrong" : "its derivative is wrong";
}

std::string remark_of(const ParameterAudit& p) {
  const std::string fault = fault_of(p);
  return fault.empty() && p.is_negligible ? "(its gradient is below 1e-10 of the largest)" : fault;
}

}  // namespace

AuditReport detail::audit(const Audited& own, const Audited& in_float64) {
  const RngStateGuard same_state;
  AuditReport report;
  const auto names = own.model.named_parameters();
  const std::vector<Tensor> parameters = own.model.parameters();
  const std::vector<Tensor> precise = in_float64.model.parameters();
  const Tensor loss = loss_of(own);
  report.loss = loss.item();
  const std::vector<Tensor> gradients = gradients_of(loss, parameters);
  const auto finite = [](const Tensor& x) { return !x.defined() || is_finite(x); };
  if (!is_finite(loss) || !std::all_of(gradients.begin(), gradients.end(), finite)) {
    report.not_finite = origin_of_not_finite(own);
  }
  const Tensor precise_loss = loss_of(in_float64);
  const std::vector<Tensor> references = gradients_of(precise_loss, precise);
  const double scale = largest_of(precise_loss, references);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    ParameterAudit& each = report.parameters.emplace_back();
    each.name = names[i].first;
    each.shape = parameters[i].shape();
    each.requires_grad = parameters[i].requires_grad();
    each.reached = gradients[i].defined() && references[i].defined();
    if (!each.reached) continue;
    each.is_zero = norm_of(gradients[i]) == 0;
    check_derivatives(in_float64, precise[i], scale, each);
    const Tensor difference = gradients[i].detach().to(float64) - references[i];
    const double size = norm_of(references[i]);
    each.is_negligible = size <= kNegligible * scale && !each.is_zero;
    each.distance = relative(norm_of(difference), 0, each.is_negligible ? scale : size);
  }
  if (std::any_of(report.parameters.begin(), report.parameters.end(), has_wrong_derivative)) {
    report.wrong_operations = wrong_functions(in_float64);
  }
  return report;
}

bool AuditReport::passed() const {
  return not_finite.empty() &&
         std::all_of(parameters.begin(), parameters.end(),
                     [](const ParameterAudit& each) { return fault_of(each).empty(); });
}

std::ostream& operator<<(std::ostream& out, const AuditReport& report) {
  std::vector<std::vector<std::string>> rows{
      {"parameter", "shape", "reached", "first order", "second order", "float32", ""}};
  for (const ParameterAudit& each : report.parameters) {
    const bool known = each.requires_grad && each.reached;
    rows.push_back({each.name, as_text(each.shape),
                    !each.requires_grad ? "frozen"
                    : each.reached      ? "yes"
                                        : "no",
                    known ? number(each.first_order) : "",
                    known && each.second_order ? number(*each.second_order) : "",
                    known ? number(each.distance) : "", remark_of(each)});
  }
  std::vector<std::size_t> widths(rows[0].size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i] + std::string(widths[i] - row[i].size() + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  }
  for (const std::string& each : report.wrong_operations) out << "wrong: " << each << '\n';
  if (!report.not_finite.empty()) out << "NaN or infinity began in " << report.not_finite << '\n';
  return out;
}

}  // namespace tend::nn
