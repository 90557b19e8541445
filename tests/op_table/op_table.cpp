#include "tests/op_table/op_table.h"
#include "tests/numbers.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <span>

namespace tend::test {
namespace {

// A linear congruential generator (Knuth's MMIX constants): the same numbers everywhere.
class UniformNumbers {
 public:
  explicit UniformNumbers(std::uint64_t seed) : state_(seed * 2 + 1) {}
  // Uniform on [0, 1).
  double operator()() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state_ >> 33) * 0x1p-31;
  }

 private:
  std::uint64_t state_;
};

// Rounds to the grid. The result is the double nearest to a number with at most three decimals.
double on_grid(const Input& input, double value) {
  const double n = std::round((value - input.offset) / input.step);
  return std::round((input.offset + n * input.step) * 1000) / 1000;
}

bool is_allowed(const Input& input, double value) {
  const double last = input.dtype == int64 ? input.high - 1 : input.high;
  if (value < input.low || value > last) return false;
  const auto near = [value](double kink) { return std::fabs(value - kink) < 0.05; };
  return std::none_of(input.kinks.begin(), input.kinks.end(), near);
}

// Distinct elements, for inputs whose interval has too few grid points: shuffled multiples of
// 1/1024 around 0. They are exact in float32, too.
std::vector<double> many_distinct(std::int64_t count, UniformNumbers next) {
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = (static_cast<double>(i) - std::floor(static_cast<double>(count) / 2)) / 1024;
    std::swap(values[i], values[static_cast<std::size_t>(next() * static_cast<double>(i + 1))]);
  }
  return values;
}

std::vector<double> elements(const Input& input, std::uint64_t seed) {
  UniformNumbers next(seed);
  std::vector<double> values;
  std::set<double> taken;
  const std::int64_t count = element_count(input.shape);
  values.reserve(static_cast<std::size_t>(count));
  const double points = (input.high - input.low) / input.step;
  if (input.distinct && static_cast<double>(count) > points) return many_distinct(count, next);
  while (static_cast<std::int64_t>(values.size()) < count) {
    const double value = on_grid(input, input.low + (input.high - input.low) * next());
    if (!is_allowed(input, value)) continue;
    if (input.distinct && !taken.insert(value).second) continue;
    values.push_back(value);
  }
  return values;
}

// The same elements after an offset, with gaps between them. The gaps are NaN, so that a result
// that reads them is NaN, too.
Array with_gaps(const Array& x) {
  Shape wide = x.shape();
  if (wide.empty()) {
    const Array buffer = Array::full({3}, kNaN, x.dtype());
    buffer.select(0, 1).copy_from(x);
    return buffer.select(0, 1);
  }
  const std::int64_t last = wide.rank() - 1;
  wide[last] = 2 * wide[last] + 1;
  Array gaps = Array::full(wide, kNaN, x.dtype()).slice(last, 1, std::nullopt, 2);
  gaps.copy_from(x);
  return gaps;
}

// The same elements with the first dimension innermost in memory.
Array transposed(const Array& x) {
  Shape reversed;
  for (std::int64_t d = x.rank() - 1; d >= 0; --d) reversed.push_back(d);
  return x.permute(reversed).clone().permute(reversed);
}

// The first slice of x along the first dimension whose size is 2 or more. Case::arguments() expands
// this slice again.
Array first_row(const Array& x) {
  for (std::int64_t d = 0; d < x.rank(); ++d) {
    if (x.shape()[d] > 1) return x.narrow(d, 0, 1).clone();
  }
  return x;
}

Array laid_out(const Array& x, Layout layout, const Input& input) {
  switch (layout) {
    case Layout::contiguous: return x;
    case Layout::transposed: return transposed(x);
    case Layout::sliced: return with_gaps(x);
    case Layout::expanded: break;
  }
  return input.distinct ? x : first_row(x);
}

Input shaped(Input like, const Shape& shape) {
  like.shape = shape;
  return like;
}

}  // namespace

std::vector<Sample> unary_samples(const Input& like) {
  std::vector<Sample> samples;
  for (const Shape& shape : {Shape{2, 3}, Shape{}, Shape{0, 3}, Shape{2, 1, 2}}) {
    samples.push_back({shaped(like, shape)});
  }
  return samples;
}

std::vector<Sample> binary_samples(const Input& a, const Input& b) {
  const std::pair<Shape, Shape> shapes[] = {{{2, 3}, {2, 3}}, {{2, 1}, {3}}, {{3}, {2, 1, 3}},
                                            {{}, {2, 2}},     {{}, {}},      {{0, 3}, {3}}};
  std::vector<Sample> samples;
  for (const auto& [left, right] : shapes) {
    samples.push_back({shaped(a, left), shaped(b, right)});
  }
  return samples;
}

const std::vector<Op>& op_table() {
  static const std::vector<Op> table = [] {
    std::vector<Op> all;
    // The rows of family NAME are in NAME_rows.cpp. PyTorch's results are in
    // tests/data/ops/NAME.json.
    const std::pair<const char*, std::vector<Op> (*)()> families[] = {
        {"arithmetic", arithmetic_rows},
        {"math", math_rows},
        {"activation", activation_rows},
        {"compare", compare_rows},
        {"masking", masking_rows},
        {"views", views_rows},
        {"joining", joining_rows},
        {"rearrange", rearrange_rows},
        {"reduce", reduce_rows},
        {"linalg", linalg_rows},
        {"decompositions", decompositions_rows},
        {"einsum", einsum_rows},
        {"indexing", indexing_rows},
        {"advanced_indexing", advanced_indexing_rows},
        {"ordering", ordering_rows},
        {"loss", loss_rows},
        {"normalization", normalization_rows},
        {"network", network_rows},
        {"attention", attention_rows},
        {"flex", flex_rows}};
    for (const auto& [family, rows] : families) {
      for (Op& op : rows()) {
        op.family = family;
        all.push_back(std::move(op));
      }
    }
    return all;
  }();
  return table;
}

std::string_view layout_name(Layout layout) {
  switch (layout) {
    case Layout::contiguous: return "contiguous";
    case Layout::transposed: return "transposed";
    case Layout::sliced: return "sliced";
    case Layout::expanded: break;
  }
  return "expanded";
}

std::vector<Tensor> Case::arguments() const {
  std::vector<Tensor> expanded;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool fits = inputs[i].shape() == shapes[i];
    expanded.push_back(fits ? inputs[i] : inputs[i].expand(shapes[i]));
  }
  return expanded;
}

bool Case::has_gradient() const {
  return std::any_of(inputs.begin(), inputs.end(),
                     [](const Tensor& input) { return input.requires_grad(); });
}

TensorFunction Case::call() const {
  return [self = *this](const std::vector<Tensor>& leaves) {
    return self.op(Case{leaves, self.shapes, self.op}.arguments());
  };
}

Case make_case(const Op& op, const Sample& sample, Layout layout, DType real) {
  Case made{{}, {}, op.call};
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const std::vector<double> values = elements(sample[i], i + 1);
    const DType dtype = sample[i].dtype == float64 ? real : sample[i].dtype;
    const Array dense = Array::from<double>(values, sample[i].shape).to(dtype);
    Tensor& input = made.inputs.emplace_back(laid_out(dense, layout, sample[i]));
    if (sample[i].has_gradient()) input.requires_grad_();
    made.shapes.push_back(sample[i].shape);
  }
  return made;
}

Sample large_sample(const Op& op, double elements) {
  Sample sample = op.samples.at(0);
  if (!op.scales) return sample;
  std::int64_t factor = std::numeric_limits<std::int64_t>::max();
  for (const Input& input : sample) {
    const double rank = static_cast<double>(std::max<std::int64_t>(input.shape.rank(), 1));
    const double count = static_cast<double>(std::max<std::int64_t>(element_count(input.shape), 1));
    factor = std::min(factor, static_cast<std::int64_t>(std::pow(elements / count, 1 / rank)));
  }
  for (Input& input : sample) {
    for (std::int64_t& size : input.shape) {
      if (size > 1) size *= factor;
    }
  }
  return sample;
}

Tensor cotangent_like(const Tensor& output) {
  // The numbers are cached, since computing them takes longer than most operations. The first n
  // numbers are the same for every count. Each thread has its own cache, so that tests need no
  // lock.
  thread_local std::vector<double> cached;
  const auto count = static_cast<std::size_t>(output.numel());
  if (cached.size() < count) cached = elements(real({output.numel()}).in(-1, 1), 99);
  const Array values = Array::from<double>(std::span(cached).first(count), output.shape());
  return Tensor(values.to(output.dtype()));
}

}  // namespace tend::test
