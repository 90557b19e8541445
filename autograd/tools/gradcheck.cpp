#include <tend/autograd/tools/gradcheck.h>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>
#include <numeric>

#include <tend/autograd/graph/engine.h>
#include <tend/autograd/ops/ops.h>
#include <tend/autograd/tensor/grad_mode.h>
#include <tend/core/kernels/elementwise/arithmetic.h>
#include <tend/core/random/distributions.h>

namespace tend {

namespace {

using Tensors = std::vector<Tensor>;
using Values = std::vector<double>;

// Directions in a space of `size` dimensions: all unit vectors, or a few random ones.
class Directions {
 public:
  Directions(std::int64_t size, bool all, int few, Generator& generator)
      : size_(size), count_(all ? size : few) {
    if (all) return;
    random_ = Array::empty({count_, size}, float64);
    kernels::normal(random_, 0, 1, generator);
  }

  std::int64_t count() const noexcept { return count_; }
  bool are_units() const noexcept { return !random_.defined(); }
  Array operator[](std::int64_t i) const {
    if (!are_units()) return random_.select(0, i);
    Array unit = Array::zeros({size_}, float64);
    unit.data<double>()[i] = 1;
    return unit;
  }
  // Returns the sum of all directions.
  Array sum() const {
    return are_units() ? Array::full({size_}, 1, float64) : tend::sum(Tensor(random_), 0).array();
  }
  double dot(std::int64_t i, const Values& x) const {
    if (are_units()) return x[static_cast<std::size_t>(i)];
    return std::inner_product(x.begin(), x.end(), random_.data<double>() + i * size_, 0.0);
  }

 private:
  std::int64_t size_;
  std::int64_t count_;
  Array random_;
};

// Moves the elements of an input along a direction. The destructor restores them.
class Mover {
 public:
  explicit Mover(const Array& elements) : elements_(elements), before_(elements.clone()) {}
  ~Mover() { put_back(); }
  Mover(const Mover&) = delete;
  Mover& operator=(const Mover&) = delete;

  void move(const Array& direction, double step) const {
    kernels::add_scaled(elements_, before_, direction.view(elements_.shape()), step);
  }
  void put_back() const { elements_.copy_from(before_); }

 private:
  Array elements_;
  Array before_;
};

// The comparison of an analytic with a numeric derivative of one output along one direction.
struct Difference {
  double analytic = 0;
  double numeric = 0;
  double abs_error = 0;
  double rel_error = 0;
  double excess = -1;  // abs_error divided by the tolerance; more than 1 fails
  std::size_t output = 0;
  std::int64_t cotangent = 0;
  std::int64_t direction = 0;
};

Difference compare(double analytic, double numeric, const GradcheckOptions& options) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Difference out{.analytic = analytic, .numeric = numeric};
  if (analytic == numeric) {
    out.excess = 0;
    return out;
  }
  out.abs_error = std::fabs(analytic - numeric);
  const double floor = options.rtol > 0 ? options.atol / options.rtol : 0;
  out.rel_error = out.abs_error / std::max(std::fabs(numeric), floor);
  out.excess = out.abs_error / (options.atol + options.rtol * std::fabs(numeric));
  if (!std::isfinite(analytic) || !std::isfinite(numeric)) {
    out.abs_error = out.rel_error = out.excess = kInfinity;
  }
  return out;
}

class Check {
 public:
  // Throws if f or its inputs cannot be checked.
  Check(const char* operation, const TensorFunction& f, const Tensors& inputs,
        const GradcheckOptions& options)
      : operation_(operation), f_(f), inputs_(inputs), options_(options) {
    choose_inputs();
    check_deterministic();
    differentiate();
  }

  GradcheckReport run() {
    GradcheckReport report;
    double worst_excess = -1;
    for (std::size_t c = 0; c < checked_.size(); ++c) {
      const Difference worst = check_input(c, report.inputs.emplace_back());
      report.passed = report.passed && worst.excess <= 1;
      if (worst.excess > worst_excess) {
        worst_excess = worst.excess;
        report.worst = c;
      }
    }
    if (report.passed)
      for (const Output& output : outputs_) check_linear(output);
    report.message = describe(report.inputs[report.worst]);
    return report;
  }

 private:
  // A differentiable output: its cotangents, and for each cotangent the gradients of all inputs
  // that require grad. An empty gradient is zero.
  struct Output {
    Directions cotangents;
    std::vector<std::vector<Values>> gradients;
    std::vector<Values> of_sum;  // gradients for kFactor times the sum of all cotangents
  };

  std::string name(std::size_t input) const {
    return input < options_.names.size() ? options_.names[input] : as_text("input ", input);
  }

  void choose_inputs() {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const Tensor& input = inputs_[i];
      if (!input.requires_grad()) continue;
      if (input.dtype() != float64) {
        fail<DTypeError>(operation_, name(i), " is ", input.dtype(),
                         ": central differences need float64");
      }
      if (input.array().may_self_overlap()) {
        fail<ShapeError>(operation_, "two indices of ", name(i),
                         " may share an element, so expand it inside the function: shape ",
                         input.shape(), ", strides ", input.strides());
      }
      checked_.push_back(input);
      positions_.push_back(i);
    }
    if (checked_.empty()) fail<AutogradError>(operation_, "no input requires grad");
  }

  Tensors floating_outputs() const {
    Tensors outputs = f_.call(operation_, inputs_);
    std::erase_if(outputs, [](const Tensor& output) { return !is_floating(output.dtype()); });
    for (const Tensor& output : outputs) {
      if (output.dtype() != float64) {
        fail<DTypeError>(operation_, "an output is ", output.dtype(),
                         ": central differences need float64");
      }
    }
    check_sizes(outputs);
    return outputs;
  }

  // Checks that all evaluations give outputs of the same sizes as the first one.
  void check_sizes(const Tensors& outputs) const {
    std::vector<std::int64_t> sizes;
    for (const Tensor& output : outputs) sizes.push_back(output.numel());
    if (!sizes_) {
      sizes_ = std::move(sizes);
    } else if (sizes != *sizes_) {
      fail<AutogradError>(operation_, "two evaluations differ in the number of floating outputs, ",
                          sizes_->size(), " and ", sizes.size(), ", or in their sizes");
    }
  }

  // Runs f in grad mode, because f may compute gradients itself.
  std::vector<Values> evaluate() const {
    const GradModeGuard recorded(true);
    std::vector<Values> values;
    for (const Tensor& output : floating_outputs()) {
      values.push_back(output.array().to_vector<double>());
    }
    return values;
  }

  void check_deterministic() const {
    const std::vector<Values> first = evaluate();
    const std::vector<Values> second = evaluate();
    for (std::size_t k = 0; k < first.size(); ++k) {
      for (std::size_t j = 0; j < first[k].size(); ++j) {
        const double a = first[k][j];
        const double b = second[k][j];
        if (a == b || std::fabs(a - b) <= options_.nondet_tol) continue;
        if (std::isnan(a) && std::isnan(b)) continue;
        fail<AutogradError>(operation_, "two evaluations differ: element ", j, " of output ", k,
                            " is ", std::setprecision(17), a, " and ", b,
                            "; random numbers, such as a dropout mask, must be the same in both");
      }
    }
  }

  void differentiate() {
    const GradModeGuard recorded(true);
    const Tensors outputs = floating_outputs();
    std::int64_t max_elements = 0;
    for (const Tensor& input : checked_) max_elements = std::max(max_elements, input.numel());
    for (const Tensor& output : outputs) output_elements_ += output.numel();
    for (const Tensor& output : outputs) {
      Directions cotangents(output.numel(), is_small(max_elements), options_.projections,
                            generator_);
      std::vector<std::vector<Values>> gradients;
      for (std::int64_t r = 0; r < cotangents.count(); ++r) {
        gradients.push_back(gradients_of(output, cotangents[r].view(output.shape())));
      }
      std::vector<Values> of_sum;
      if (cotangents.count() > 0) {
        const Tensor sum(cotangents.sum());
        of_sum = gradients_of(output, (sum * kFactor).array().view(output.shape()));
      }
      outputs_.push_back({std::move(cotangents), std::move(gradients), std::move(of_sum)});
    }
  }

  std::vector<Values> gradients_of(const Tensor& output, const Array& cotangent) const {
    std::vector<Values> values(checked_.size());
    if (!output.requires_grad()) return values;
    const Tensors gradients = autograd::grad({output}, checked_, {Tensor(cotangent)},
                                             {.retain_graph = true, .allow_unused = true});
    for (std::size_t c = 0; c < checked_.size(); ++c) {
      if (gradients[c].defined()) values[c] = gradients[c].array().to_vector<double>();
    }
    return values;
  }

  // Checks that the derivative is linear in the cotangent. The comparisons can miss such errors,
  // because they use few cotangents. The elements of unit vectors, for example, are only 0 and 1.
  void check_linear(const Output& output) const {
    for (std::size_t c = 0; c < output.of_sum.size(); ++c) {
      const Values& of_sum = output.of_sum[c];
      for (std::size_t j = 0; j < static_cast<std::size_t>(checked_[c].numel()); ++j) {
        double sum = 0, size = 0;  // rounding errors grow with size, even if terms cancel in sum
        for (const std::vector<Values>& gradients : output.gradients) {
          if (gradients[c].empty()) continue;
          sum += gradients[c][j];
          size += std::fabs(gradients[c][j]);
        }
        const double found = of_sum.empty() ? 0 : of_sum[j];
        const double error = std::fabs(found / kFactor - sum);
        const bool is_near = std::isfinite(sum) && error <= options_.atol + options_.rtol * size;
        // Infinite gradients can pass the comparisons. The sum of inf and -inf is NaN.
        if (is_near || found / kFactor == sum || std::isnan(sum)) continue;
        fail<AutogradError>(operation_, "the derivative is not linear: element ", j,
                            " of the gradient of input ", positions_[c], " must be ", kFactor * sum,
                            ", but is ", found, ", for ", kFactor,
                            " times the sum of the tested gradients of the output");
      }
    }
  }

  bool is_small(std::int64_t input_elements) const {
    return output_elements_ == 0 || input_elements <= options_.full_jacobian / output_elements_;
  }

  // Computes the derivatives of all outputs along a direction in one input.
  std::vector<Values> slopes(const Tensor& input, const Array& direction) const {
    const Mover mover(input.array());
    mover.move(direction, options_.eps);
    std::vector<Values> slopes = evaluate();
    mover.move(direction, -options_.eps);
    const std::vector<Values> behind = evaluate();
    for (std::size_t k = 0; k < slopes.size(); ++k) {
      for (std::size_t j = 0; j < slopes[k].size(); ++j) {
        slopes[k][j] = (slopes[k][j] - behind[k][j]) / (2 * options_.eps);
      }
    }
    return slopes;
  }

  // Returns the worst difference for the c-th input that requires grad, and fills `entry` with it.
  Difference check_input(std::size_t c, GradcheckEntry& entry) {
    const Tensor& input = checked_[c];
    const Directions directions(input.numel(), is_small(input.numel()), options_.projections,
                                generator_);
    Difference worst;
    for (std::int64_t d = 0; d < directions.count(); ++d) {
      const std::vector<Values> numeric = slopes(input, directions[d]);
      for (std::size_t k = 0; k < outputs_.size(); ++k) {
        for (std::int64_t r = 0; r < outputs_[k].cotangents.count(); ++r) {
          const Values& gradient = outputs_[k].gradients[static_cast<std::size_t>(r)][c];
          Difference found = compare(gradient.empty() ? 0 : directions.dot(d, gradient),
                                     outputs_[k].cotangents.dot(r, numeric[k]), options_);
          found.output = k;
          found.cotangent = r;
          found.direction = d;
          entry.max_abs_error = std::max(entry.max_abs_error, found.abs_error);
          entry.max_rel_error = std::max(entry.max_rel_error, found.rel_error);
          if (found.excess > worst.excess) worst = found;
        }
      }
    }
    if (!directions.are_units() && worst.excess > 1) {
      blame_element(c, directions[worst.direction], worst, entry);
    } else if (directions.are_units() && worst.excess >= 0) {
      entry.element = worst.direction;
    }
    fill_entry(c, worst, entry);
    return worst;
  }

  // Finds the wrong element by bisection. Each round continues with the half of the elements that
  // has the larger error.
  void blame_element(std::size_t c, const Array& direction, Difference& worst,
                     GradcheckEntry& entry) const {
    std::int64_t begin = 0;
    std::int64_t end = direction.numel();
    while (end - begin > 1) {
      const std::int64_t middle = begin + (end - begin) / 2;
      const bool first = difference_along(c, direction, begin, middle, worst).abs_error >=
                         difference_along(c, direction, middle, end, worst).abs_error;
      (first ? end : begin) = middle;
    }
    const Array ones = Array::full(direction.shape(), 1, float64);
    const Difference found = difference_along(c, ones, begin, end, worst);
    if (found.excess <= 1) return;  // no single element exceeds the tolerance
    worst = found;
    entry.element = begin;
  }

  // Computes the difference for the output and cotangent of `like`, along the elements [begin, end)
  // of `direction`.
  Difference difference_along(std::size_t c, const Array& direction, std::int64_t begin,
                              std::int64_t end, const Difference& like) const {
    const Array part = Array::zeros(direction.shape(), float64);
    part.slice(0, begin, end).copy_from(direction.slice(0, begin, end));
    const Output& output = outputs_[like.output];
    const Values& gradient = output.gradients[static_cast<std::size_t>(like.cotangent)][c];
    const double analytic =
        std::inner_product(gradient.begin(), gradient.end(), part.data<double>(), 0.0);
    const std::vector<Values> numeric = slopes(checked_[c], part);
    Difference found =
        compare(analytic, output.cotangents.dot(like.cotangent, numeric[like.output]), options_);
    found.output = like.output;
    return found;
  }

  void fill_entry(std::size_t c, const Difference& worst, GradcheckEntry& entry) const {
    entry.input = positions_[c];
    entry.name = name(positions_[c]);
    entry.passed = worst.excess <= 1;
    entry.output = worst.output;
    if (entry.element >= 0) entry.index = unravel_index(entry.element, checked_[c].shape());
    entry.analytic = worst.analytic;
    entry.numeric = worst.numeric;
    entry.abs_error = worst.abs_error;
    entry.rel_error = worst.rel_error;
  }

  std::string describe(const GradcheckEntry& entry) const {
    const std::string place = entry.element < 0
                                  ? std::string("random projection")
                                  : as_text("element ", entry.element, " at ", entry.index);
    return as_text(std::setprecision(9), '[', operation_, "] ", entry.passed ? "passed" : "failed",
                   ", worst: ", entry.name, ", ", place, ", output ", entry.output, ": analytic ",
                   entry.analytic, ", numeric ", entry.numeric, ", absolute error ",
                   entry.abs_error, ", relative error ", entry.rel_error,
                   " (allowed: ", options_.atol, " + ", options_.rtol, " * |numeric|)");
  }

  // The factor is negative and large, to find a wrong sign or power of the cotangent, and clipping.
  static constexpr double kFactor = -1500;

  const char* operation_;
  const TensorFunction& f_;
  const Tensors& inputs_;
  const GradcheckOptions& options_;
  mutable std::optional<std::vector<std::int64_t>> sizes_;  // outputs of the first call
  Generator generator_{0};
  Tensors checked_;                     // the inputs that require grad
  std::vector<std::size_t> positions_;  // their indices in inputs_
  std::vector<Output> outputs_;
  std::int64_t output_elements_ = 0;
};

// Without a direction, nothing would be compared. With a step of 0, all numeric derivatives would
// be NaN. With a tolerance of NaN, every error would pass.
void check_options(const char* operation, const GradcheckOptions& options) {
  if (options.projections < 1)
    fail(operation, "projections must be at least 1, got ", options.projections);
  if (!(options.eps > 0 && std::isfinite(options.eps)))
    fail(operation, "eps must be positive and finite, got ", options.eps);
  for (const double tolerance : {options.atol, options.rtol, options.nondet_tol}) {
    if (!(tolerance >= 0 && std::isfinite(tolerance)))
      fail(operation, "tolerances must be at least 0 and finite, got ", tolerance);
  }
}

}  // namespace

GradcheckReport gradcheck(const TensorFunction& f, const std::vector<Tensor>& inputs,
                          const GradcheckOptions& options) {
  check_options("gradcheck", options);
  const GradModeGuard usual(true);
  return Check("gradcheck", f, inputs, options).run();
}

namespace {

GradcheckReport check_gradients(const TensorFunction& f, const std::vector<Tensor>& inputs,
                                const GradcheckOptions& options) {
  // Checks the function gradients(inputs..., cotangents...), for the outputs with history.
  GradcheckOptions named = options;
  named.names.resize(inputs.size());
  Tensors wanted;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (named.names[i].empty()) named.names[i] = as_text("input ", i);
    if (inputs[i].requires_grad()) wanted.push_back(inputs[i]);
  }
  const auto with_history = [&f, &inputs] {
    Tensors outputs = f.call("gradgradcheck", inputs);
    std::erase_if(outputs, [](const Tensor& output) { return !output.requires_grad(); });
    return outputs;
  };
  const auto gradients = [&](const Tensors& all) {
    const bool again = grad_enabled();
    const GradModeGuard recorded(true);
    const Tensors cotangents(all.begin() + static_cast<std::ptrdiff_t>(inputs.size()), all.end());
    Tensors out = autograd::grad(with_history(), wanted, cotangents,
                                 {.create_graph = again, .allow_unused = true});
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (!out[i].defined()) out[i] = zeros(wanted[i].shape(), wanted[i].dtype());
    }
    return out;
  };
  Tensors all = inputs;
  Generator generator(1);
  const GradModeGuard recorded(true);
  for (const Tensor& output : with_history()) {
    named.names.push_back(as_text("cotangent ", all.size() - inputs.size()));
    Tensor cotangent = empty(output.shape(), output.dtype());
    kernels::normal(cotangent.array(), 0, 1, generator);
    all.push_back(cotangent.requires_grad_());
  }
  return Check("gradgradcheck", gradients, all, named).run();
}

}  // namespace

GradcheckReport gradgradcheck(const TensorFunction& f, const std::vector<Tensor>& inputs,
                              const GradcheckOptions& options) {
  check_options("gradgradcheck", options);
  const GradModeGuard usual(true);
  return check_gradients(f, inputs, options);
}

}  // namespace tend
