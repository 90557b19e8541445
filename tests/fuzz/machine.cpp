#include "tests/fuzz/machine.h"

#include "tests/catch.h"

#include <cmath>

using nlohmann::json;

namespace tend::test {
namespace {

std::vector<double> numbers_of(const Tensor& x) {
  return x.detach().to(float64).to_vector<double>();
}

// An irregular number in [-1, 1], which depends only on the position and on `which`.
double weight(std::int64_t place, std::int64_t which) {
  return static_cast<double>((place * 7919 + which * 104729 + 17) % 201 - 100) / 100;
}

Tensor weights(const Shape& shape, DType dtype, std::int64_t which) {
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < element_count(shape); ++i) numbers.push_back(weight(i, which));
  return Tensor(Array::from<double>(numbers, shape).to(dtype));
}

Tensor weights_like(const Tensor& x, std::int64_t which) {
  return weights(x.shape(), x.dtype(), which);
}

// A tensor with the shape, the dtype and the interval of values of `like`. It is computed from the
// elements of x, which are repeated or cut off as needed.
Tensor fit(const Tensor& x, const Tensor& like) {
  const std::int64_t count = like.numel();
  Tensor flat = x.reshape({-1});
  if (!is_floating(flat.dtype())) flat = flat.to(float64);
  const std::vector<Tensor> copies(static_cast<std::size_t>(count / flat.numel() + 1), flat);
  const Tensor line = cat(copies).narrow(0, 0, count).reshape(like.shape());
  const double low = count > 0 ? like.min().item() : 0, high = count > 0 ? like.max().item() : 0;
  return (sigmoid(line + weights_like(line, 3)) * (high - low) + low).to(like.dtype());
}

Tensor view_of(const Tensor& x, const json& kind) {
  if (kind.is_null()) return x;
  if (kind == "row") return x[0];
  if (kind == "narrow") return x.narrow(0, 0, 1);
  if (kind == "transpose") return x.transpose(0, -1);
  if (kind == "unsqueeze") return x.unsqueeze(0);
  if (kind == "diagonal") return x.diagonal(0, -2, -1);
  REQUIRE(kind == "expand");
  Shape shape = x.shape();
  shape.insert(0, 2);
  return x.expand(shape);
}

const Op& row_of(const std::string& expression) {
  static const std::map<std::string, const Op*> rows = [] {
    std::map<std::string, const Op*> all;
    for (const Op& op : op_table()) all.emplace(op.family + ": " + op.torch, &op);
    return all;
  }();
  INFO(expression << ": if the expression of the row has changed, run tests/fuzz/programs.py");
  REQUIRE(rows.contains(expression));
  return *rows.at(expression);
}

void add_sums(std::vector<double>& sums, const Tensor& x) {
  double sum = 0, magnitude = 0;
  const std::vector<double> numbers = numbers_of(x);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double term = numbers[i] * (1 + weight(static_cast<std::int64_t>(i), 1000) / 2);
    sum += term;
    magnitude += std::fabs(term);
  }
  sums.insert(sums.end(), {sum, magnitude});
}

std::string tuple(const Shape& shape) {
  std::string text;
  for (const std::int64_t size : shape) text += as_text(text.empty() ? "" : ", ", size);
  return as_text('(', text, shape.rank() == 1 ? ",)" : ")");
}

TensorState state_of(const Tensor& x) {
  TensorState state{as_text(x.dtype(), ' ', tuple(x.shape()), x.requires_grad() ? " grad" : "",
                            x.is_leaf() ? " leaf" : ""),
                    {}};
  add_sums(state.sums, x);
  if (x.is_leaf() && x.grad().defined()) add_sums(state.sums, x.grad());
  return state;
}

}  // namespace

std::map<std::string, TensorState> Machine::state() const {
  std::map<std::string, TensorState> all;
  for (const auto& [name, x] : names_) all.emplace(name, state_of(x));
  return all;
}

std::vector<Tensor> Machine::tensors() const {
  std::vector<Tensor> all;
  for (const auto& [name, x] : names_) all.push_back(x);
  return all;
}

void Machine::define(const std::vector<Tensor>& tensors) {
  for (const Tensor& x : tensors) names_.emplace(as_text('v', count_++), x);
}

std::vector<Tensor> Machine::named(const json& names) const {
  std::vector<Tensor> tensors;
  for (const json& name : names) tensors.push_back(names_.at(name));
  return tensors;
}

void Machine::run(const json& step) {
  const std::string kind = step[0];
  if (kind == "leaf") {
    const auto sizes = step[1].get<std::vector<std::int64_t>>();
    const Array values = Array::from<double>(step[3].get<std::vector<double>>(), std::span(sizes));
    leaves_.push_back(as_text('v', count_));
    define({Tensor(values.to(step[2] == "float32" ? float32 : float64)).requires_grad_()});
  } else if (kind == "forget") {
    std::erase_if(names_, [&](const auto& each) {
      return std::find(leaves_.begin(), leaves_.end(), each.first) == leaves_.end();
    });
  } else {
    const bool is_known = run_on_graph(kind, step) || run_on_leaf(kind, step);
    REQUIRE(is_known);
  }
}

bool Machine::run_on_graph(const std::string& kind, const json& step) {
  if (kind == "row") {
    run_row(step);
  } else if (kind == "view") {
    define({view_of(names_.at(step[1]), step[2])});
  } else if (kind == "write") {
    run_write(step);
  } else if (kind == "backward") {
    const std::vector<Tensor> outputs = named(step[1]);
    std::vector<Tensor> cotangents;
    for (const Tensor& x : outputs)
      cotangents.push_back(weights_like(x, 10 + std::ssize(cotangents)));
    backward(outputs, cotangents, step[2].get<bool>());
  } else if (kind == "grad") {
    run_grad(step);
  } else if (kind == "mistake") {
    run_mistake(step[1], names_.at(step[2]));
  } else {
    return false;
  }
  return true;
}

bool Machine::run_on_leaf(const std::string& kind, const json& step) {
  if (kind == "zero_grad") {
    names_.at(step[1]).zero_grad();
  } else if (kind == "set_grad") {
    names_.at(step[1]).set_grad(weights_like(names_.at(step[1]), 7));
  } else if (kind == "requires_grad_") {
    names_.at(step[1]).requires_grad_(step[2].get<bool>());
  } else if (kind == "optimizer") {
    run_optimizer(step);
  } else if (kind == "step") {
    std::visit([](auto& each) { each.step(); }, optimizers_.at(step[1].get<std::size_t>()));
  } else if (kind == "clip") {
    nn::clip_grad_norm_(named(step[1]), step[2].get<double>());
  } else if (kind == "hook") {
    run_hook(step);
  } else if (kind == "remove_hook") {
    hooks_.at(step[1].get<std::size_t>()).remove();
  } else {
    return false;
  }
  return true;
}

void Machine::run_row(const json& step) {
  const std::string expression = step[1];
  const Op& op = row_of(expression);
  std::vector<Tensor> inputs =
      make_case(op, op.samples.at(step[2].get<std::size_t>()), Layout::contiguous).inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const json& name = step[3].at(i);
    const Tensor like = inputs[i].detach();
    inputs[i] = name.is_null() ? like : fit(names_.at(name), like);
  }
  define(op.call(inputs));
}

void Machine::run_write(const json& step) {
  const GradModeGuard guard(!step[5].get<bool>());
  const Tensor x = view_of(names_.at(step[1]), step[2]);
  const Tensor y =
      step[4].is_null() ? Tensor() : fit(names_.at(step[4]), weights(x.shape(), x.dtype(), 5));
  const std::map<std::string, std::function<void()>> writes = {
      {"mul_", [&] { x.mul_(-0.75); }},
      {"add_", [&] { x.add_(y); }},
      {"tanh_", [&] { x.tanh_(); }},
      {"sigmoid_", [&] { x.sigmoid_(); }},
      {"fill_", [&] { x.fill_(0.25); }},
      {"zero_", [&] { x.zero_(); }},
      {"copy_", [&] { x.copy_(y); }},
      {"masked_fill_", [&] { x.masked_fill_(weights_like(x, 6) > 0, 0.125); }}};
  writes.at(step[3])();
}

void Machine::run_grad(const json& step) {
  const std::vector<Tensor> outputs = named(step[1]), inputs = named(step[2]);
  std::vector<Tensor> cotangents;
  for (const Tensor& x : outputs)
    cotangents.push_back(weights_like(x, 20 + std::ssize(cotangents)));
  std::vector<Tensor> found =
      autograd::grad(outputs, inputs, cotangents, {.create_graph = true, .allow_unused = true});
  for (std::size_t i = 0; i < found.size(); ++i)
    found[i] = found[i].defined() ? found[i].clone() : zeros_like(inputs[i]);
  define(found);
}

void Machine::run_optimizer(const json& step) {
  const json& o = step[2];
  if (step[1] == "SGD") {
    optimizers_.emplace_back(optim::SGD(named(step[3]), {.lr = o["lr"],
                                                         .momentum = o["momentum"],
                                                         .weight_decay = o["weight_decay"],
                                                         .nesterov = o["nesterov"].get<bool>()}));
  } else {
    optimizers_.emplace_back(optim::AdamW(named(step[3]), {.lr = o["lr"],
                                                           .betas = {o["betas"][0], o["betas"][1]},
                                                           .eps = o["eps"],
                                                           .weight_decay = o["weight_decay"]}));
  }
}

void Machine::run_hook(const json& step) {
  const bool scales = step[2] == "scale";
  hooks_.push_back(names_.at(step[1]).register_hook(
      [scales](const Tensor& g) { return scales ? g * 2 : weights_like(g, 8); }));
}

void Machine::run_mistake(const std::string& kind, const Tensor& x) {
  Shape shape = x.shape();
  for (std::int64_t& size : shape) size += 2;
  shape.insert(0, 2);
  const Tensor larger = weights(shape, x.dtype(), 9);
  const std::map<std::string, std::function<void()>> mistakes = {
      {"grad of another shape", [&] { Tensor(x).set_grad(larger); }},
      {"write of another shape",
       [&] {
         const NoGradGuard guard;
         x.add_(larger);
       }},
      {"write to a leaf", [&] { x.mul_(2); }},
      {"dimension", [&] { x.transpose(0, 7); }},
      {"no graph", [&] { x.detach().backward(ones_like(x)); }},
      {"frozen value", [&] { Tensor(x).requires_grad_(false); }},
      {"cotangent of another shape", [&] { x.backward(larger); }},
      {"no cotangent", [&] { x.backward(); }},
      {"shapes", [&] { matmul(larger, larger); }},
      {"integers", [&] { x.detach().to(int64).requires_grad_(); }}};
  CHECK_THROWS_AS(mistakes.at(kind)(), Error);
}

}  // namespace tend::test
