#include "operation_cases.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include <tend/autograd/graph/engine.h>
#include <tend/autograd/tensor/grad_mode.h>
#include <tend/core/base/error.h>

namespace compare {
namespace {

using tend::Shape;
using tend::Tensor;
using tend::test::Case;
using tend::test::Input;
using tend::test::Op;
using tend::test::Sample;

using Sizes = std::map<std::int64_t, std::int64_t>;  // from a size of the sample to the grown one

/// The most elements of the results and the most seconds of a call. Both are estimated in advance.
constexpr double kMostElements = 1 << 25;
constexpr double kMostSeconds = 128;

std::int64_t square_side(std::int64_t rows, std::int64_t columns) {
  return std::llround(std::sqrt(static_cast<double>(rows) * static_cast<double>(columns)));
}

/// Maps the sizes of a sample to grown sizes. Equal sizes stay equal.
///
/// Matrices get `rows` and `columns`. If the first matrix is square, it stays square. Vectors get
/// `columns` elements, or rows * columns if there is no matrix. Leading dimensions do not grow.
Sizes grown_sizes(const Sample& sample, std::int64_t rows, std::int64_t columns) {
  Sizes sizes;
  for (const Input& input : sample) {
    const std::int64_t rank = input.shape.rank();
    if (rank < 2) continue;
    const std::int64_t r = input.shape[rank - 2];
    const std::int64_t c = input.shape[rank - 1];
    if (sizes.empty() && r == c) sizes[c] = square_side(rows, columns);
    sizes.emplace(c, columns);
    sizes.emplace(r, rows);
  }
  for (const Input& input : sample) {
    if (input.shape.rank() == 1) {
      sizes.emplace(input.shape[0], sizes.empty() ? rows * columns : columns);
    }
  }
  sizes[0] = 0;
  sizes[1] = 1;
  return sizes;
}

/// True if the input has indices: then the call throws IndexError for a number that is one too
/// large.
bool is_index(const Op& op, std::size_t number) {
  Sample sample = op.samples.at(0);
  Input& input = sample[number];
  if (input.dtype != tend::int64) return false;
  input.low = input.high;
  input.high += 1;
  input.grid(1);  // only this number
  const Case made = make_case(op, sample, tend::test::Layout::contiguous);
  try {
    op.call(made.inputs);
  } catch (const tend::IndexError&) {
    return true;
  } catch (const tend::Error&) {
    return false;
  }
  return false;
}

/// Grows the range of indices. If the range ends at a size of the sample, it ends at the grown size
/// afterwards.
void grow_indices(Input& input, const Sizes& sizes) {
  const auto found = sizes.find(static_cast<std::int64_t>(input.high));
  if (found == sizes.end()) return;
  if (input.low < 0) input.low = -static_cast<double>(found->second);
  input.high = static_cast<double>(found->second);
}

Sample with_sizes(const Op& op, const Sizes& sizes) {
  Sample sample = op.samples.at(0);
  for (std::size_t i = 0; i < sample.size(); ++i) {
    Input& input = sample[i];
    const std::int64_t rank = input.shape.rank();
    for (std::int64_t d = std::max<std::int64_t>(rank - 2, 0); d < rank; ++d) {
      const auto found = sizes.find(input.shape[d]);
      if (found != sizes.end()) input.shape[d] = found->second;
    }
    if (is_index(op, i)) grow_indices(input, sizes);
  }
  return sample;
}

/// Multiplies all sizes above 1 by the same factor.
Sizes by_one_factor(const Sample& sample, std::int64_t rows, std::int64_t columns) {
  double factor = 1e9;
  for (const Input& input : sample) {
    const double rank = static_cast<double>(std::max<std::int64_t>(input.shape.rank(), 1));
    const double count =
        static_cast<double>(std::max<std::int64_t>(tend::element_count(input.shape), 1));
    const double wanted = static_cast<double>(rows) * static_cast<double>(columns);
    factor = std::min(factor, std::floor(std::pow(wanted / count, 1 / std::min(rank, 2.0))));
  }
  Sizes sizes;
  for (const Input& input : sample) {
    for (const std::int64_t size : input.shape) {
      sizes[size] = size > 1 ? size * static_cast<std::int64_t>(factor) : size;
    }
  }
  return sizes;
}

struct Cost {
  double elements = 0;
  double seconds = 0;
};

Cost cost_of(const Op& op, const Sample& sample) {
  const Case made = make_case(op, sample, tend::test::Layout::contiguous, tend::float32);
  const tend::NoGradGuard no_graph;
  const std::vector<Tensor> outputs = op.call(made.inputs);
  Cost cost{1, 1e9};
  for (int i = 0; i < 3; ++i) {  // the least time, since other programs can only slow the call down
    const auto start = std::chrono::steady_clock::now();
    op.call(made.inputs);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    cost.seconds = std::min(cost.seconds, seconds.count());
  }
  for (const Tensor& output : outputs) cost.elements += static_cast<double>(output.numel());
  return cost;
}

/// True if the call works at this size within the limits. The cost is estimated from two smaller
/// sizes.
template <class Grow>
bool is_feasible(const Op& op, Grow grow, std::int64_t rows, std::int64_t columns) {
  try {
    const Cost small = cost_of(op, with_sizes(op, grow(op.samples[0], rows / 32, columns / 16)));
    const Cost large = cost_of(op, with_sizes(op, grow(op.samples[0], rows / 16, columns / 8)));
    // From `small` to `large`, rows and columns double once. From `large` to the full size, the
    // rows double four times and the columns three times.
    const double growth = large.elements / small.elements;
    const double time_growth = std::max(1.0, std::min(large.seconds / small.seconds, 16.0));
    return large.elements * std::pow(growth, 3.5) <= kMostElements &&
           large.seconds * std::pow(time_growth, 3.5) <= kMostSeconds;
  } catch (const tend::Error&) {
    return false;
  }
}

/// A copy that keeps the strides of a transposed tensor.
Tensor copy_of(const Tensor& x) {
  if (x.is_contiguous()) return x.clone();
  Shape reversed;
  for (std::int64_t d = x.dim() - 1; d >= 0; --d) reversed.push_back(d);
  return x.permute(reversed).clone().permute(reversed);
}

/// Prepares the in-place form. Returns false if the row has no in-place form, or if its result does
/// not fit into the first input.
bool prepare_in_place(const Op& op, const std::vector<Tensor>& outputs, PreparedCase& prepared) {
  if (op.in_place_forms.empty() || op.in_place_reshapes) return false;
  for (Tensor& input : prepared.made.inputs) input = input.detach();
  const Tensor& target = prepared.made.inputs[0];
  if (outputs[0].shape() != target.shape() || outputs[0].dtype() != target.dtype()) return false;
  prepared.in_place_form = op.in_place_forms[0];
  prepared.original = copy_of(target);
  return true;
}

void run_in_place(PreparedCase& prepared) {
  constexpr int kCalls = 8;
  const tend::NoGradGuard no_graph;
  Tensor& target = prepared.made.inputs[0];
  if (prepared.calls++ % kCalls == 0) target.copy_(prepared.original);
  prepared.outputs = (*prepared.in_place_form)(prepared.made.inputs);
}

/// The row's first sample, with the last two dimensions of its first input grown to `rows` x
/// `columns`. Other sizes grow accordingly. Returns nullopt if the row cannot grow.
///
/// If `rows` is 0, the sample must have fixed sizes, and is returned as it is.
std::optional<Sample> grown_sample(const Op& op, std::int64_t rows, std::int64_t columns) {
  if (op.samples.empty() || op.samples[0].empty()) return std::nullopt;
  if (rows == 0) return op.scales ? std::nullopt : std::optional(op.samples[0]);
  if (!op.scales) return std::nullopt;
  for (const auto grow : {grown_sizes, by_one_factor}) {
    if (is_feasible(op, grow, rows, columns)) {
      return with_sizes(op, grow(op.samples[0], rows, columns));
    }
  }
  return std::nullopt;
}

/// A cotangent that is easy to compute in Python, too: (7919 i mod 201 - 100) / 100 for element i.
Tensor plain_cotangent(const Tensor& output) {
  std::vector<double> values(static_cast<std::size_t>(output.numel()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<double>(static_cast<std::int64_t>(7919 * i % 201) - 100) / 100;
  }
  return Tensor(tend::Array::from<double>(values, output.shape()).to(output.dtype()));
}

}  // namespace

void run_case(PreparedCase& prepared, Pass pass) {
  if (pass == Pass::in_place) return run_in_place(prepared);
  const std::vector<Tensor>& inputs = prepared.made.inputs;
  if (pass == Pass::forward) {
    const tend::NoGradGuard no_graph;
    prepared.outputs = prepared.made.op(inputs);
    return;
  }
  prepared.outputs = prepared.made.op(inputs);
  std::vector<Tensor> tracked;
  for (const Tensor& output : prepared.outputs) {
    if (output.requires_grad()) tracked.push_back(output);
  }
  if (prepared.cotangents.empty()) {
    for (const Tensor& output : tracked) prepared.cotangents.push_back(plain_cotangent(output));
  }
  prepared.gradients =
      tend::autograd::grad(tracked, prepared.wanted, prepared.cotangents, {.allow_unused = true});
}

std::optional<PreparedCase> prepare_case(const OperationCase& wanted) {
  const Op& op = tend::test::op_table().at(static_cast<std::size_t>(wanted.row));
  const std::optional<Sample> sample = grown_sample(op, wanted.rows, wanted.columns);
  if (!sample || (wanted.is_transposed && !op.any_layout)) return std::nullopt;
  const auto layout =
      wanted.is_transposed ? tend::test::Layout::transposed : tend::test::Layout::contiguous;
  PreparedCase prepared{
      make_case(op, *sample, layout, wanted.is_double ? tend::float64 : tend::float32)};
  for (Tensor& input : prepared.made.inputs) {
    if (input.requires_grad()) prepared.wanted.push_back(input);
  }
  if (wanted.pass == Pass::both && prepared.wanted.empty()) return std::nullopt;
  if (wanted.pass != Pass::forward) {
    const std::vector<Tensor> outputs = op.call(prepared.made.inputs);
    const bool is_tracked = std::any_of(outputs.begin(), outputs.end(), [](const Tensor& output) {
      return output.requires_grad();
    });
    if (wanted.pass == Pass::both && !is_tracked) return std::nullopt;
    if (wanted.pass == Pass::in_place && !prepare_in_place(op, outputs, prepared))
      return std::nullopt;
  }
  run_case(prepared, wanted.pass);
  return prepared;
}

}  // namespace compare
