// Compares gradients with central differences.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tend/autograd/tools/tensor_function.h>

namespace tend {

/// The options of gradcheck and gradgradcheck. An analytic derivative passes if its distance to the
/// numeric one is at most atol + rtol * |numeric|. The defaults are torch.autograd.gradcheck's.
struct GradcheckOptions {
  double eps = 1e-6;  // the step: (f(x + eps) - f(x - eps)) / (2 eps)
  double atol = 1e-5;
  double rtol = 1e-3;
  double nondet_tol = 0;  // the largest allowed difference of two evaluations of f
  /// Jacobians with at most this many elements are compared in full. For larger ones, v^T J u is
  /// compared for `projections` random vectors u and the same number of random vectors v.
  std::int64_t full_jacobian = 1 << 20;
  int projections = 8;
  std::vector<std::string> names = {};  // the names of the inputs in the report
};

/// The worst derivative with respect to one input: the derivative that exceeds its tolerance by the
/// largest factor, or comes nearest to it.
struct GradcheckEntry {
  std::size_t input = 0;  // its index among the inputs
  std::string name;       // options.names[input], or "input 0"
  bool passed = true;
  std::size_t output = 0;     // index of the function's output
  std::int64_t element = -1;  // row-major index in the input; -1 if no single element is wrong
  Shape index;                // the element's index, one number per dimension
  double analytic = 0;
  double numeric = 0;
  double abs_error = 0;  // |analytic - numeric|
  /// abs_error / max(|numeric|, atol / rtol). If |numeric| is smaller than atol / rtol, the
  /// tolerance consists mainly of atol.
  double rel_error = 0;
  double max_abs_error = 0;  // the largest abs_error with respect to this input
  double max_rel_error = 0;
};

struct GradcheckReport {
  bool passed = true;
  std::vector<GradcheckEntry> inputs;  // the inputs that require grad, in order
  std::size_t worst = 0;               // the index of the worst input in `inputs`
  std::string message;                 // a sentence about the worst input

  explicit operator bool() const noexcept { return passed; }
};

/// Compares the derivatives of f from backward with central differences, for each of `inputs` that
/// requires grad.
///
/// The elements of the inputs are changed in place and restored. So f may ignore its arguments if
/// it uses the inputs in another way, for example as parameters of a module. An undefined gradient
/// counts as zero, and so does the gradient of an output without history.
/// Integer outputs are left out. The default generator is not touched.
///
/// Throws:
///   AutogradError - no input requires grad
///   AutogradError - two evaluations of f differ (dropout needs the same mask in each)
///   AutogradError - all derivatives are right, but not linear in the cotangent
///   DTypeError    - an input that requires grad, or a floating output, is not float64
///   Error         - projections is less than 1, eps is not positive and finite, or a tolerance is
///                   negative or not finite
///   ShapeError    - two indices of an input that requires grad share an element
///
/// https://pytorch.org/docs/2.6/generated/torch.autograd.gradcheck.gradcheck.html
GradcheckReport gradcheck(const TensorFunction& f, const std::vector<Tensor>& inputs,
                          const GradcheckOptions& options = {});

/// Checks the second derivatives: it runs gradcheck on the gradients of f.
///
/// It computes the gradients of f with random cotangents, and checks their derivatives with respect
/// to the inputs of f and to the cotangents. In the report, the cotangents follow the inputs. Their
/// names are "cotangent 0", "cotangent 1" and so on.
///
/// https://pytorch.org/docs/2.6/generated/torch.autograd.gradcheck.gradgradcheck.html
GradcheckReport gradgradcheck(const TensorFunction& f, const std::vector<Tensor>& inputs,
                              const GradcheckOptions& options = {});

}  // namespace tend
