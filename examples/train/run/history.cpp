#include "examples/train/run/history.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include <tend/tend.h>

namespace train {

using tend::Tensor;
using tend::nn::StateDict;

namespace {

constexpr const char* kHistory = "History";

Tensor vector_tensor(const std::vector<double>& values) {
  const auto size = static_cast<std::int64_t>(values.size());
  return Tensor(tend::Array::from<double>(values, {size}));
}

/// An entry of numbers in rows of so many.
Tensor rows_of(const StateDict& state, const std::string& name, std::int64_t columns) {
  const Tensor& tensor = state.at(name);
  if (!tensor.defined() || tensor.dtype() != tend::float64 || tensor.numel() % columns != 0)
    tend::fail(kHistory, name, " has no rows of ", columns, " numbers");
  return tensor.reshape({-1, columns});
}

std::vector<double> row(const Tensor& rows, std::int64_t i) {
  return rows[{i}].to_vector<double>();
}

/// A whole number from 1 to the last step.
std::uint64_t step_of(double number, const std::vector<double>& losses) {
  const bool is_step = number >= 1 && number <= static_cast<double>(losses.size());
  if (!is_step || number != std::floor(number)) tend::fail(kHistory, number, " is no step");
  return static_cast<std::uint64_t>(number);
}

/// A row for each time: the step, then each head's shares and entropy.
Tensor heads_tensor(const std::vector<HeadsAtStep>& times) {
  if (times.empty()) return tend::zeros({0, 1, 1}, tend::float64);
  std::vector<double> numbers;
  for (const HeadsAtStep& time : times) {
    for (const HeadScore& head : time.heads) {
      numbers.push_back(static_cast<double>(time.step));
      numbers.insert(numbers.end(), head.shares.begin(), head.shares.end());
      numbers.push_back(head.entropy);
    }
  }
  const auto count = static_cast<std::int64_t>(times.size());
  const auto heads = static_cast<std::int64_t>(times[0].heads.size());
  return vector_tensor(numbers).view({count, heads, -1});
}

std::vector<HeadsAtStep> heads_from(const Tensor& tensor, const std::vector<double>& losses) {
  if (!tensor.defined() || tensor.dtype() != tend::float64 || tensor.dim() != 3)
    tend::fail(kHistory, "heads have no three dimensions of float64");
  if (tensor.size(0) > 0 && (tensor.size(1) == 0 || tensor.size(2) < 3))
    tend::fail(kHistory, "heads have the shape ", tensor.shape());
  std::vector<HeadsAtStep> times;
  for (std::int64_t i = 0; i < tensor.size(0); ++i) {
    HeadsAtStep& time = times.emplace_back();
    for (std::int64_t head = 0; head < tensor.size(1); ++head) {
      const std::vector<double> numbers = tensor[{i, head}].to_vector<double>();
      time.step = step_of(numbers[0], losses);
      time.heads.push_back({{numbers.begin() + 1, numbers.end() - 1}, numbers.back()});
    }
  }
  return times;
}

}  // namespace

StateDict History::state_dict() const {
  std::vector<double> validated, checked;
  for (const Validation& v : validations)
    validated.insert(validated.end(), {static_cast<double>(v.step), v.loss, v.exact_match});
  for (const Check& c : checks)
    checked.insert(checked.end(), {static_cast<double>(c.step), c.exact_match});
  return {{"losses", vector_tensor(losses)},
          {"validations", vector_tensor(validated)},
          {"heads", heads_tensor(heads)},
          {"checks", vector_tensor(checked)},
          {"seconds", vector_tensor({seconds, training_seconds})}};
}

void History::load_state_dict(const StateDict& state) {
  History loaded;
  loaded.losses = rows_of(state, "losses", 1).flatten().to_vector<double>();
  const Tensor validated = rows_of(state, "validations", 3), checked = rows_of(state, "checks", 2);
  for (std::int64_t i = 0; i < validated.size(0); ++i) {
    const std::vector<double> v = row(validated, i);
    loaded.validations.push_back({step_of(v[0], loaded.losses), v[1], v[2]});
  }
  for (std::int64_t i = 0; i < checked.size(0); ++i) {
    const std::vector<double> c = row(checked, i);
    loaded.checks.push_back({step_of(c[0], loaded.losses), c[1]});
  }
  if (loaded.validations.empty() != loaded.losses.empty())
    tend::fail(kHistory, "there are validations without losses, or losses without");
  loaded.heads = heads_from(state.at("heads"), loaded.losses);
  const Tensor times = rows_of(state, "seconds", 2);
  if (times.size(0) != 1) tend::fail(kHistory, "seconds are not two numbers");
  loaded.seconds = times[{0, 0}].item();
  loaded.training_seconds = times[{0, 1}].item();
  *this = std::move(loaded);
}

}  // namespace train
