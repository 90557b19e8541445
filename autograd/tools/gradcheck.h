// Compares gradients with central differences.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tend/autograd/tools/tensor_function.h>

namespace tend {

/// The options of gradcheck and gradgradcheck. An analytic derivative passes when
/// |analytic - numeric| <= atol + rtol * |numeric|; the defaults are torch.autograd.gradcheck's.
struct GradcheckOptions {
  double eps = 1e-6;  // the step: (f(x + eps) - f(x - eps)) / (2 eps)
  double atol = 1e-5;
  double rtol = 1e-3;
  double nondet_tol = 0;  // how much two evaluations of f may differ
  /// Jacobians of up to this many elements are compared in full. Of larger ones v^T J u is
  /// compared, for `projections` random vectors u and as many v.
  std::int64_t full_jacobian = 1 << 20;
  int projections = 8;
  std::vector<std::string> names = {};  // of the inputs, for the report
};

/// The worst derivative with respect to one input: the one that exceeds its tolerance by the
/// largest factor, or comes nearest to it.
struct GradcheckEntry {
  std::size_t input = 0;  // its index among the inputs
  std::string name;       // options.names[input], or "input 0"
  bool passed = true;
  std::size_t output = 0;     // index of the function's output
  std::int64_t element = -1;  // row-major index in the input; -1 when no single one is wrong
  Shape index;                // the same, one number per dimension
  double analytic = 0;
  double numeric = 0;
  double abs_error = 0;  // |analytic - numeric|
  /// abs_error / |numeric|, or / (atol / rtol) where that is larger: below it atol decides.
  double rel_error = 0;
  double max_abs_error = 0;  // over all derivatives with respect to this input
  double max_rel_error = 0;
};

struct GradcheckReport {
  bool passed = true;
  std::vector<GradcheckEntry> inputs;  // those that require grad, in their order
  std::size_t worst = 0;               // index in `inputs` of the worst of them
  std::string message;                 // a sentence about it

  explicit operator bool() const noexcept { return passed; }
};

/// Compares the derivatives that backward gives with central differences, with respect to each of
/// `inputs` that requires grad. Their elements are changed in place and restored, so f may also
/// reach them in another way: the parameters of a module can be inputs of a function that ignores
/// its arguments. An undefined gradient counts as zero, and so does that of an output without
/// history. Integer outputs are left out. The default generator is not touched.
///
/// Throws:
///   Error          - projections is below 1, eps is not positive and finite, or a tolerance is
///                    below 0 or not finite
///   AutogradError  - no input requires grad
///   AutogradError  - two evaluations of f differ (dropout needs a mask that stays the same)
///   AutogradError  - all derivatives are right, but not linear in the cotangent
///   DTypeError     - an input that requires grad, or a floating output, is not float64
///   ShapeError     - two indices of an input that requires grad share an element
/// https://pytorch.org/docs/2.6/generated/torch.autograd.gradcheck.gradcheck.html
GradcheckReport gradcheck(const TensorFunction& f, const std::vector<Tensor>& inputs,
                          const GradcheckOptions& options = {});

/// gradcheck of the gradients of f, weighted with random cotangents, with respect to its inputs and
/// to those cotangents, which follow the inputs in the report as "cotangent 0", ...
/// https://pytorch.org/docs/2.6/generated/torch.autograd.gradcheck.gradgradcheck.html
GradcheckReport gradgradcheck(const TensorFunction& f, const std::vector<Tensor>& inputs,
                              const GradcheckOptions& options = {});

}  // namespace tend
