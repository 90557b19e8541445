/// \file
/// Finding parameters that are not trained, or trained by wrong derivatives.
#pragma once

#include <concepts>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <tend/autograd/tensor/grad_mode.h>
#include <tend/nn/module/module.h>

namespace tend::nn {

/// What audit() found about one parameter.
struct ParameterAudit {
  std::string name;
  Shape shape;
  /// False for a frozen parameter, of which nothing else is known.
  bool requires_grad = true;
  /// Whether the loss depends on it, that of the float64 copy, too.
  bool reached = false;
  /// Whether all elements of its gradient are exactly 0.
  bool is_zero = false;
  /// Whether its gradient is not exactly 0, but in float64 at most 1e-10 of the loss or of the
  /// largest gradient: mostly rounding, where a parameter changes no loss, as a bias before
  /// BatchNorm or a key's bias. It is no fault, though a gradient that has vanished looks the same.
  bool is_negligible = false;
  /// By how much the derivative of the loss in a random direction differs from central differences,
  /// relative to the gradient's norm: about 1e-8 where it is right. A gradient below 1e-6 of the
  /// loss or of the largest gradient is compared with that, as rounding spoils its differences.
  double first_order = 0;
  /// The same for the second derivative in that direction, relative to the norm of the gradient's
  /// derivative. Nothing where the gradient cannot be differentiated.
  std::optional<double> second_order = {};
  /// |g - g64| / |g64| of the model's gradient g and that of its float64 copy; where that is
  /// negligible, relative to the loss or the largest gradient.
  double distance = 0;
};

struct AuditReport {
  double loss = 0;
  std::vector<ParameterAudit> parameters;
  /// Where the first NaN or infinity was made from finite numbers: the path of the module, or
  /// "outside of all modules". Where the forward is finite, "the derivative of sqrt in blocks.0":
  /// the operation, and the module that ran it. Empty when the loss and all gradients are finite.
  std::string not_finite;
  /// Where a parameter's derivative is wrong, the custom functions whose own derivatives are:
  /// "the derivative of MySwishBackward in blocks.0.mlp", or "the second derivative of ...". Only
  /// autograd::Function is checked. If a derivative is wrong and this is empty, look for values
  /// that leave the graph (detach(), item(), data_ptr(), NoGradGuard) and for hooks.
  std::vector<std::string> wrong_operations;

  /// Whether all is finite, every parameter that requires grad is reached by a gradient that is not
  /// exactly zero, or negligible, and those of its float64 copy are right to 1e-4 of themselves or
  /// to 1e-10 of the loss or of the largest gradient. The model's own gradients are compared with
  /// the copy's in `distance`, which is for you to judge: what cancels may be far from right in
  /// float32.
  bool passed() const;
};

/// A table with a line for each parameter, what is wrong in words at the end of it.
std::ostream& operator<<(std::ostream& out, const AuditReport& report);

namespace detail {
/// A model, the paths of its modules, and its loss.
struct Audited {
  ModuleBase& model;
  std::function<Tensor()> loss;
};
AuditReport audit(const Audited& own, const Audited& in_float64);
}  // namespace detail

/// Whether each parameter of `model` is trained by `loss(model)`, and by the right derivatives: see
/// ParameterAudit. Differences are taken with steps of 1e-5 to 1e-7, the best of which counts, as
/// one that goes across a kink (that of relu) is wrong by itself. `loss` gives one number, and is
/// called with copies of the model, in its own dtype and in float64, many times; what it reads
/// besides must follow the copy's dtype, as by x.type_as(model.weight). The default generator is in
/// the same state before every call and afterwards, so dropout drops the same weights, but in
/// float64 it draws others: call model.eval() first, or leave `distance` out of account. The model
/// itself is not changed.
///
/// What `loss` throws comes through. ShapeError for a loss of more than one element, AutogradError
/// for one without a graph unless all parameters are frozen.
template <class M, class Loss>
requires std::derived_from<M, ModuleBase> && std::is_invocable_r_v<Tensor, Loss&, const M&>
    AuditReport audit(const M& model, Loss loss) {
  if (is_empty_function(loss)) fail("audit", "the function that computes the loss is empty");
  const GradModeGuard usual(true);
  M own = model.clone(), in_float64 = model.clone();
  in_float64.to(float64);
  return detail::audit({own, [&] { return loss(std::as_const(own)); }},
                       {in_float64, [&] { return loss(std::as_const(in_float64)); }});
}

}  // namespace tend::nn
