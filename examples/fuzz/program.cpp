#include "program.h"

#include <algorithm>
#include <cmath>

#include "catalogue.h"

using namespace tend;

namespace fuzz {
namespace {

constexpr double kLargest = 1e3;  // of values; larger gradients than its square are not compared
constexpr std::int64_t kMaxElements = 400;

// Whether all numbers are finite and none is larger than `limit`.
bool is_tame(const Tensor& tensor, double limit) {
  const std::vector<double> all = numbers(tensor);
  return std::all_of(all.begin(), all.end(), [=](double x) { return std::fabs(x) <= limit; });
}

bool has_nan(const Tensor& tensor) {
  return any(isnan(tensor.detach())).item<bool>();
}

}  // namespace

Program::Program(std::uint64_t seed) : dice(seed), seed_(seed) {
  add_leaves();
  add_steps();
  choose_outputs();
}

void Program::add_leaves() {
  const std::int64_t count = dice.between(1, 3);
  for (std::int64_t i = 0; i < count; ++i) {
    Shape shape;
    for (std::int64_t rank = dice.between(0, 3); rank > 0; --rank) {
      shape.push_back(dice.chance(0.03) ? 0 : dice.between(1, 4));
    }
    leaf(shape, dice.chance(0.15) ? float32 : float64);
  }
}

void Program::add_steps() {
  const std::int64_t steps = dice.between(1, 20);
  for (std::int64_t i = 0; i < steps; ++i) {
    // An entry may find nothing that it fits.
    for (int attempt = 0; attempt < 20; ++attempt) {
      const Entry& entry = dice.of(catalogue());
      if (!entry.add(*this)) continue;
      operations_.push_back(entry.name);
      break;
    }
  }
}

void Program::choose_outputs() {
  for (auto value = values_.rbegin(); value != values_.rend() && outputs_.size() < 2; ++value) {
    outputs_.push_back(value->name);
  }
}

Value Program::any() {
  // Late values are taken more often, so that programs become deep.
  const double place = std::sqrt(dice.uniform());
  return values_[static_cast<std::size_t>(place * static_cast<double>(values_.size()))];
}

Value Program::real() {
  for (int attempt = 0; attempt < 50; ++attempt) {
    Value value = any();
    if (is_floating(value.tensor.dtype())) return value;
  }
  return values_[0];
}

std::optional<Value> Program::exact() {
  for (int attempt = 0; attempt < 10; ++attempt) {
    Value value = real();
    if (value.exact && value.tensor.numel() > 0) return value;
  }
  return std::nullopt;
}

Value Program::partner(const Value& other) {
  for (int attempt = 0; attempt < 6; ++attempt) {
    Value value = real();
    try {
      broadcast_shapes("fuzz", value.tensor.shape(), other.tensor.shape());
      return value;
    } catch (const ShapeError&) {
      continue;
    }
  }
  Shape shape = other.tensor.shape();
  while (!shape.empty() && dice.chance(0.3)) shape.erase(0);
  for (std::int64_t& size : shape) {
    if (dice.chance(0.3)) size = 1;
  }
  return leaf(shape, other.tensor.dtype());
}

Value Program::leaf(const Shape& shape, DType dtype, double low, double high) {
  const std::uint64_t seed = seed_ * 1000 + values_.size();
  Tensor tensor = drawn(seed, shape, dtype, low, high);
  const std::string name = as_text("x", next_++);
  python_ += as_text(name, " = leaf(", seed, ", ", tuple(shape), ", ", dtype_text(dtype), ", ", low,
                     ", ", high, ")\n");
  if (is_floating(dtype)) {
    tensor.requires_grad_();
    leaves_.push_back(name);
    single_ = single_ || dtype == float32;
  }
  values_.push_back({name, tensor, true});
  return values_.back();
}

std::int64_t Program::dim(const Value& value) {
  const std::int64_t rank = std::max<std::int64_t>(value.tensor.dim(), 1);
  return dice.between(-rank, rank - 1);
}

void Program::step(std::string_view python, const Tensor& result, bool is_exact) {
  single_ = single_ || result.dtype() == float32;
  // NaN stays in the program, which is then compared: PyTorch must have it too.
  const bool tame = is_tame(result, kLargest) || has_nan(result);
  if (result.numel() > kMaxElements || !tame) return;
  const std::string name = as_text("v", next_++);
  python_ += as_text(name, " = ", python, '\n');
  values_.push_back({name, result, is_exact});
}

void Program::statement(std::string_view python) {
  python_ += as_text(python, '\n');
  // What shares elements with the tensor that was written is as exact as that is now.
  for (Value& value : values_) value.exact = value.exact && value.tensor.is_leaf();
}

bool Program::writable(const Value& value) {
  const Tensor& tensor = value.tensor;
  if (!is_floating(tensor.dtype()) || tensor.is_leaf()) return false;
  const Ref<TensorImpl>& base = tensor.impl()->base;
  const bool views_leaf = base && Tensor(base).is_leaf();
  return !views_leaf && !tensor.array().may_self_overlap();
}

const Tensor& Program::find(const std::string& name) const {
  return std::find_if(values_.begin(), values_.end(),
                      [&](const Value& value) { return value.name == name; })
      ->tensor;
}

namespace {

// Puts the gradients of `results`, weighted, with respect to `wanted` in their place, and notes
// them in `digests`; false when they are not tame. Results without history are left out.
bool differentiate(std::vector<Tensor>& results, const std::vector<Tensor>& wanted,
                   std::int64_t first_weight, bool create_graph, std::vector<Digest>& digests) {
  std::vector<Tensor> tracked, cotangents;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].defined() || !results[i].requires_grad()) continue;
    tracked.push_back(results[i]);
    cotangents.push_back(weights_like(results[i], first_weight + static_cast<std::int64_t>(i)));
  }
  results.clear();
  if (tracked.empty()) return true;
  results = autograd::grad(tracked, wanted, cotangents,
                           {.create_graph = create_graph, .allow_unused = true});
  for (const Tensor& gradient : results) {
    if (gradient.defined() && !is_tame(gradient, kLargest * kLargest)) return false;
    digests.push_back(digest_of(gradient));
  }
  return true;
}

}  // namespace

Outcome Program::run() const {
  Outcome outcome;
  std::vector<Tensor> results, wanted;
  for (const std::string& name : outputs_) {
    results.push_back(find(name));
    outcome.values.push_back(digest_of(results.back()));
    if (!is_tame(results.back(), kLargest)) return {Outcome::Kind::wild, {}, {}, {}};
  }
  for (const std::string& name : leaves_) wanted.push_back(find(name));
  try {
    const bool tame = differentiate(results, wanted, 1, true, outcome.gradients) &&
                      differentiate(results, wanted, 50, false, outcome.second);
    if (!tame) outcome.kind = Outcome::Kind::wild;
  } catch (const AutogradError&) {
    outcome.kind = Outcome::Kind::refused;
  }
  return outcome;
}

}  // namespace fuzz
