/// \file
/// Finds parameters that are not trained, or that are trained with wrong derivatives.
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
  /// False for a frozen parameter. The following members then have no meaning.
  bool requires_grad = true;
  /// True if the loss depends on the parameter, both in the model and in the float64 copy.
  bool reached = false;
  /// True if all elements of the parameter's gradient are exactly 0.
  bool is_zero = false;
  /// True if the parameter's gradient is not exactly 0, but in float64 is at most 1e-10 of the loss
  /// or of the largest gradient.
  ///
  /// Such a gradient is mostly rounding: the parameter does not change the loss, like a bias before
  /// BatchNorm or the bias of attention's keys. This is not a fault, but a gradient that has
  /// vanished looks the same.
  bool is_negligible = false;
  /// The error of the first derivative: about 1e-8 if it is right.
  ///
  /// It is the difference between the derivative of the loss in a random direction and central
  /// differences, relative to the gradient's norm. The norm counts as at least 1e-6 of the loss or
  /// of the largest gradient, since rounding makes the differences of smaller gradients useless.
  double first_order = 0;
  /// The error of the second derivative in that direction, relative to the norm of the gradient's
  /// derivative. It is nullopt if the gradient cannot be differentiated.
  std::optional<double> second_order = {};
  /// |g - g64| / |g64|, where g is the model's gradient and g64 the gradient of its float64 copy.
  /// If g64 is negligible, the denominator is the loss or the largest gradient.
  double distance = 0;
};

/// The result of audit().
struct AuditReport {
  double loss = 0;
  std::vector<ParameterAudit> parameters;
  /// The origin of the first NaN or infinity; empty if the loss and all gradients are finite.
  ///
  /// This is the path of the module that computed the NaN or infinity from finite numbers, or
  /// "outside of all modules". If the forward is finite, this is the derivative that computed it,
  /// with the module of the operation, such as "the derivative of sqrt in blocks.0".
  std::string not_finite;
  /// If a parameter's derivative is wrong: the custom functions (autograd::Function) that have
  /// wrong derivatives.
  ///
  /// Examples are "the derivative of MySwishBackward in blocks.0.mlp" and "the second derivative of
  /// ...". If a derivative is wrong and this list is empty, look for hooks, and for values that
  /// leave the graph: detach(), item(), data_ptr(), NoGradGuard.
  std::vector<std::string> wrong_operations;

  /// True if the audit found no fault.
  ///
  /// This means:
  /// - the loss and all gradients are finite;
  /// - every parameter that requires grad has a gradient that is not exactly zero;
  /// - in the float64 copy, the relative error of each derivative is at most 1e-4, or its error is
  ///   at most 1e-10 of the loss or of the largest gradient.
  ///
  /// `distance` does not count. It compares the gradients of the model with the gradients of the
  /// copy. Judge `distance` yourself: if terms cancel, a gradient may be far from right in float32.
  bool passed() const;
};

/// Prints a table with a line for each parameter. The end of a line says in words what is wrong.
std::ostream& operator<<(std::ostream& out, const AuditReport& report);

namespace detail {
/// A model, the paths of its modules, and its loss.
struct Audited {
  ModuleBase& model;
  std::function<Tensor()> loss;
};
AuditReport audit(const Audited& own, const Audited& in_float64);
}  // namespace detail

/// Checks that `loss(model)` trains each parameter of `model`, and with the right derivatives. See
/// ParameterAudit.
///
/// `loss` returns one number. It is called many times with copies of the model, in the model's
/// dtype and in float64. Other tensors that it reads must be converted to the copy's dtype, for
/// example with x.type_as(model.weight). The model itself is not changed.
///
/// Derivatives are compared with central differences for steps of 1e-5, 1e-6 and 1e-7. The step
/// with the smallest error counts, since a difference across a kink, such as relu's, is wrong.
///
/// The default generator has the same state before every call of `loss`, and after the audit. So
/// dropout drops the same elements in every call, except that it drops others in float64. Call
/// model.eval() first, or ignore `distance`.
///
/// Exceptions of `loss` pass through.
///
/// Throws:
///   ShapeError    - the loss has more than one element
///   AutogradError - the loss has no graph, and not all parameters are frozen
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
