#include "examples/train/run/history.h"

#include <cstdint>
#include <string>
#include <utility>

#include <tend/tend.h>

namespace train {

using tend::Tensor;
using tend::nn::StateDict;

namespace {

constexpr const char* kHistory = "History";

Tensor tensor_of(const std::vector<double>& values) {
  const auto size = static_cast<std::int64_t>(values.size());
  return Tensor(tend::Array::from<double>(values, {size}));
}

/// The numbers of an entry, as rows of `columns` numbers.
std::vector<std::vector<double>> rows_of(const StateDict& state, const std::string& name,
                                         std::int64_t columns) {
  const Tensor& tensor = state.at(name);
  if (!tensor.defined() || tensor.dtype() != tend::float64 || columns < 1 ||
      tensor.numel() % columns != 0)
    tend::fail(kHistory, name, " does not consist of rows of ", columns, " numbers");
  const std::vector<double> numbers = tensor.to_vector<double>();
  std::vector<std::vector<double>> rows;
  for (auto row = numbers.begin(); row != numbers.end(); row += columns)
    rows.emplace_back(row, row + columns);
  return rows;
}

std::uint64_t step_of(double number) {
  if (!(number >= 1 && number <= 1e9)) tend::fail(kHistory, number, " is not a step");
  return static_cast<std::uint64_t>(number);
}

/// (times, heads, numbers). The numbers are the step, the head's shares and its entropy.
Tensor tensor_of(const std::vector<HeadsAtStep>& times) {
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
  return tensor_of(numbers).view({count, heads, -1});
}

std::vector<HeadsAtStep> heads_of(const StateDict& state) {
  const Tensor& tensor = state.at("heads");
  if (!tensor.defined() || tensor.dim() != 3)
    tend::fail(kHistory, "heads do not have three dimensions");
  std::vector<HeadsAtStep> times(static_cast<std::size_t>(tensor.size(0)));
  if (times.empty()) return times;
  if (tensor.numel() == 0 || tensor.size(2) < 3)
    tend::fail(kHistory, "heads must be (times, heads, 3 or more numbers), got ", tensor.shape());
  const auto rows = rows_of(state, "heads", tensor.size(2));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::vector<double>& row = rows[i];
    HeadsAtStep& time = times[i / static_cast<std::size_t>(tensor.size(1))];
    time.step = step_of(row[0]);
    time.heads.push_back({{row.begin() + 1, row.end() - 1}, row.back()});
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
  return {{"losses", tensor_of(losses)},
          {"validations", tensor_of(validated)},
          {"heads", tensor_of(heads)},
          {"checks", tensor_of(checked)},
          {"seconds", tensor_of({seconds, training_seconds})}};
}

void History::load_state_dict(const StateDict& state) {
  History loaded;
  for (const auto& row : rows_of(state, "losses", 1)) loaded.losses.push_back(row[0]);
  for (const auto& v : rows_of(state, "validations", 3))
    loaded.validations.push_back({step_of(v[0]), v[1], v[2]});
  for (const auto& c : rows_of(state, "checks", 2)) loaded.checks.push_back({step_of(c[0]), c[1]});
  loaded.heads = heads_of(state);
  const auto times = rows_of(state, "seconds", 2);
  if (times.size() != 1) tend::fail(kHistory, "seconds are not two numbers");
  loaded.seconds = times[0][0];
  loaded.training_seconds = times[0][1];
  *this = std::move(loaded);
}

}  // namespace train
