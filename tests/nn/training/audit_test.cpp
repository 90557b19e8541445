// The audit names errors of a model, and nothing if the model is correct.
#include <cmath>
#include <limits>
#include <sstream>

#include "tests/catch.h"

#include <tend/autograd/tools/function.h>
#include <tend/tend.h>

using namespace tend;
using nn::AuditReport;
using nn::ParameterAudit;

namespace {

// Two layers with dropout between them. The second layer may be left out.
class Net : public nn::Module<Net> {
 public:
  Net() : first(3, 4), second(4, 2), dropout(0.5) {}
  Tensor forward(const Tensor& x) const {
    const Tensor middle = tanh(first(x.type_as(first.weight)));
    return uses_second ? second(dropout(middle)) : middle;
  }
  bool uses_second = true;
  TEND_MODULE(nn::Linear, first);
  TEND_MODULE(nn::Linear, second);
  TEND_MODULE(nn::Dropout, dropout);
};

// exp(x) with a wrong derivative. The first derivative is multiplied by a factor, or treated as a
// constant, so that the second derivative is 0.
class WrongExp : public autograd::Function<WrongExp> {
 public:
  explicit WrongExp(double factor, bool is_constant = false)
      : factor_(factor), is_constant_(is_constant) {}
  Tensor forward(autograd::FunctionContext& context, const Tensor& x) const {
    const Tensor y = exp(x);
    context.save_for_backward({y});
    return y;
  }
  Tensor backward(const autograd::FunctionContext& context, const Tensor& grad) const {
    const Tensor y = context.saved(0);
    return grad * (is_constant_ ? y.detach() : y) * factor_;
  }

 private:
  double factor_;
  bool is_constant_;
};

// exp(x) without a second derivative.
class OnceExp : public autograd::Function<OnceExp> {
 public:
  Tensor forward(autograd::FunctionContext& context, const Tensor& x) const {
    const Tensor y = exp(x);
    context.save_for_backward({y});
    return y;
  }
  Tensor backward(const autograd::FunctionContext& context, const Tensor& grad) const {
    if (grad_enabled()) fail<AutogradError>("OnceExp", "has no second derivative");
    return grad * context.saved(0);
  }
};

// Takes the square root of 0, which is finite but has an infinite derivative.
class Root : public nn::Module<Root> {
 public:
  Root() : inner(3, 2), outer(2, 2) {}
  Tensor forward(const Tensor& x) const { return outer(sqrt(inner(x) * 0)); }
  TEND_MODULE(nn::Linear, inner);
  TEND_MODULE(nn::Linear, outer);
};

class InRoot : public nn::Module<InRoot> {
 public:
  Tensor forward(const Tensor& x) const { return first(x.type_as(first.inner.weight)); }
  TEND_MODULE(Root, first);
};

// A layer whose activation has a wrong first or second derivative.
class Activated : public nn::Module<Activated> {
 public:
  explicit Activated(WrongExp wrong) : linear(3, 3), function(wrong) {}
  Tensor forward(const Tensor& x) const { return function.apply(linear(x) * 0.1); }
  TEND_MODULE(nn::Linear, linear);
  WrongExp function;
};

// Writes exp(x) with noise into its input. Its derivative is right.
class NoisyExp : public autograd::Function<NoisyExp> {
 public:
  Tensor forward(autograd::FunctionContext& context, const Tensor& x, const Tensor& scale) const {
    context.mark_dirty({x});
    x.exp_().mul_(scale.type_as(x) * rand(x.shape()).type_as(x));
    context.save_for_backward({x});
    return x;
  }
  std::vector<Tensor> backward(const autograd::FunctionContext& context, const Tensor& grad) const {
    return {grad * context.saved(0), Tensor()};
  }
};

Tensor inputs() {
  return linspace(-1, 1, 15).view({5, 3});
}

const ParameterAudit& entry(const AuditReport& report, const std::string& name) {
  for (const ParameterAudit& each : report.parameters) {
    if (each.name == name) return each;
  }
  FAIL("no parameter " << name);
  return report.parameters.front();
}

}  // namespace

TEST_CASE("a correct model passes the audit and is not changed by it", "[products]") {
  manual_seed(1);
  Net net;
  net.eval();
  const Tensor weight = net.first.weight.detach().clone();
  const auto state = get_rng_state().to_bytes();
  const AuditReport report =
      nn::audit(net, [](const Net& model) { return mean(pow(model(inputs()), 2)); });
  CHECK(report.passed());
  REQUIRE(report.parameters.size() == 4);
  for (const ParameterAudit& each : report.parameters) {
    CHECK(each.reached);
    CHECK_FALSE(each.is_zero);
    CHECK(each.first_order < 1e-6);  // differences with steps of 1e-5 have errors near 1e-9
    CHECK(each.second_order.value() < 1e-6);
    CHECK(each.distance > 0);
    CHECK(each.distance < 1e-5);  // float32 rounds to 6e-8, and sums have up to 20 terms
  }
  CHECK(equal(net.first.weight, weight));
  CHECK_FALSE(net.first.weight.grad().defined());
  CHECK(get_rng_state().to_bytes() == state);
}

TEST_CASE("the audit reports parameters that are frozen or not reached or have no gradient",
          "[products]") {
  manual_seed(3);
  Net net;
  net.uses_second = false;
  net.first.bias.requires_grad_(false);
  const AuditReport report =
      nn::audit(net, [](const Net& model) { return sum(model(inputs()) * 0); });
  CHECK_FALSE(report.passed());
  CHECK_FALSE(entry(report, "first.bias").requires_grad);
  CHECK(entry(report, "first.weight").is_zero);
  CHECK_FALSE(entry(report, "second.weight").reached);
  std::ostringstream text;
  text << report;
  CHECK(text.str().find("its gradient is zero") != std::string::npos);
  CHECK(text.str().find("not reached by the loss") != std::string::npos);
  CHECK(text.str().find("frozen") != std::string::npos);
}

TEST_CASE("the audit skips a second derivative that does not exist", "[products]") {
  manual_seed(4);
  Net net;
  net.eval();
  const AuditReport report =
      nn::audit(net, [](const Net& model) { return sum(OnceExp().apply(model(inputs()))); });
  CHECK(report.passed());
  CHECK_FALSE(entry(report, "first.weight").second_order);
  std::stringstream text;
  text << report;
  std::string line;
  while (std::getline(text, line) && !line.starts_with("first.bias")) continue;
  std::istringstream row(line);
  std::vector<std::string> words;
  for (std::string word; row >> word;) words.push_back(word);
  CHECK(words.size() == 5);  // name, shape, "yes", first order and float32
}

TEST_CASE("the audit finds a wrong derivative", "[products]") {
  manual_seed(4);
  Net net;
  net.eval();
  for (const double factor : {1.0, 1.01}) {
    const AuditReport report = nn::audit(
        net, [factor](const Net& model) { return mean(WrongExp(factor).apply(model(inputs()))); });
    CHECK(report.passed() == (factor == 1.0));
    CHECK(entry(report, "first.weight").reached);
  }
}

TEST_CASE("the audit finds a wrong second derivative", "[products]") {
  manual_seed(6);
  Net net;
  net.eval();
  const AuditReport report = nn::audit(
      net, [](const Net& model) { return mean(WrongExp(1.0, true).apply(model(inputs()))); });
  CHECK_FALSE(report.passed());
  CHECK(entry(report, "first.weight").first_order < 1e-6);
  CHECK(entry(report, "first.weight").second_order.value() > 0.01);
}

TEST_CASE("the audit names the custom functions whose derivatives are wrong", "[products]") {
  using Names = std::vector<std::string>;
  manual_seed(6);
  const auto loss = [](const nn::Sequential& model) {
    const Tensor x = model(inputs().type_as(model.parameters()[0])) * 1;
    return mean(NoisyExp().apply(x, tensor(2.0)));
  };
  const auto wrong = [&](WrongExp first, WrongExp second) {
    return nn::audit(nn::Sequential{Activated(first), nn::Linear(3, 3), Activated(second)}, loss);
  };
  CHECK(wrong(WrongExp(1), WrongExp(1)).passed());
  CHECK(wrong(WrongExp(1), WrongExp(1)).wrong_operations.empty());
  CHECK(wrong(WrongExp(1.001), WrongExp(1)).wrong_operations ==
        Names{"the derivative of WrongExpBackward in 0"});
  const AuditReport report = wrong(WrongExp(1), WrongExp(1, true));
  CHECK(entry(report, "0.linear.weight").first_order < 1e-6);
  CHECK(report.wrong_operations == Names{"the second derivative of WrongExpBackward in 2"});
  const AuditReport both = wrong(WrongExp(1, true), WrongExp(0.9));
  CHECK(both.wrong_operations == Names{"the second derivative of WrongExpBackward in 0",
                                       "the derivative of WrongExpBackward in 2"});
  std::ostringstream text;
  text << both;
  CHECK(text.str().find("\nwrong: the derivative of WrongExpBackward in 2\n") != std::string::npos);
  const AuditReport outside = nn::audit(nn::Linear(3, 2), [](const nn::Linear& m) {
    const Tensor y = m(inputs().type_as(m.weight));
    return mean(WrongExp(2).apply(y) + WrongExp(2).apply(y));
  });
  CHECK(outside.wrong_operations ==
        Names{"the derivative of WrongExpBackward outside of all modules"});
}

TEST_CASE("the audit blames no custom function for a value that left the graph", "[products]") {
  manual_seed(6);
  const AuditReport report = nn::audit(nn::Linear(3, 2), [](const nn::Linear& m) {
    const Tensor y = WrongExp(1).apply(m(inputs().type_as(m.weight)));
    return mean(y * y.detach());
  });
  CHECK_FALSE(report.passed());
  CHECK(report.wrong_operations.empty());
}

TEST_CASE("the audit reports a gradient of mere rounding errors but passes", "[products]") {
  manual_seed(7);
  const nn::Sequential net{nn::Linear(3, 8), nn::BatchNorm1d(8), nn::Tanh(), nn::Linear(8, 2)};
  const Tensor x = randn({20, 3});
  const AuditReport report = nn::audit(net, [&](const nn::Sequential& model) {
    return 1000 * mean(pow(model(x.type_as(model.parameters()[0])), 2));
  });
  std::ostringstream text;
  text << report;
  INFO(text.str());
  CHECK(report.passed());
  for (const ParameterAudit& each : report.parameters) {
    CHECK(each.is_negligible == (each.name == "0.bias"));
    CHECK(each.distance < 1e-5);
  }
  CHECK(text.str().find("(its gradient is below 1e-10 of the largest)\n") != std::string::npos);
}

TEST_CASE("the biases of GPT-2's keys pass the audit", "[products]") {
  manual_seed(8);
  const attention::GPT model({.vocab_size = 11,
                              .context_length = 6,
                              .width = 8,
                              .num_heads = 2,
                              .num_layers = 2,
                              .qkv_bias = true});
  const Tensor tokens = randint(0, 11, {3, 6});
  const AuditReport report = nn::audit(model, [&](const attention::GPT& gpt) {
    return cross_entropy(gpt(tokens).flatten(0, 1), tokens.flatten());
  });
  CHECK(report.passed());
  for (const ParameterAudit& each : report.parameters) {
    INFO(each.name);
    CHECK(each.is_negligible == (each.name.ends_with("W_key.bias")));
  }
}

TEST_CASE("the audit finds a small derivative that is wrong", "[products]") {
  manual_seed(4);
  Net net;
  net.eval();
  for (const double factor : {1.0, 1.01}) {
    const AuditReport report = nn::audit(net, [factor](const Net& model) {
      return 1 + 1e-5 * mean(WrongExp(factor).apply(model(inputs())));
    });
    CHECK(report.passed() == (factor == 1.0));
    CHECK((entry(report, "second.weight").first_order > 1e-3) == (factor != 1.0));
  }
}

TEST_CASE("an infinite gradient does not hide a wrong derivative", "[products]") {
  manual_seed(4);
  Net net;
  net.eval();
  {
    const NoGradGuard no_graph;
    net.second.bias.fill_(0);
  }
  const AuditReport report = nn::audit(net, [](const Net& model) {
    return sum(sqrt(model.second.bias)) + mean(WrongExp(1.01).apply(model(inputs())));
  });
  CHECK_FALSE(entry(report, "first.weight").is_negligible);
  CHECK(entry(report, "first.weight").first_order > 1e-3);
}

TEST_CASE("the audit names the innermost module where NaN or infinity began", "[products]") {
  manual_seed(5);
  Net net;
  net.eval();
  const auto loss = [](const Net& model) { return sum(model(inputs())); };
  {
    const NoGradGuard no_graph;
    net.second.weight[{0, 0}].fill_(std::numeric_limits<double>::infinity());
  }
  const AuditReport report = nn::audit(net, loss);
  CHECK_FALSE(report.passed());
  CHECK(report.not_finite == "second");
  CHECK(nn::audit(net.first, [](const nn::Linear& model) {
          return sum(log(model(inputs().type_as(model.weight)) - 100));
        }).not_finite == "outside of all modules");
}

TEST_CASE("the audit names the operation and the module whose derivative returned the first NaN",
          "[products]") {
  manual_seed(5);
  const InRoot model;
  const AuditReport report = nn::audit(model, [](const InRoot& m) { return sum(m(inputs())); });
  CHECK_FALSE(report.passed());
  CHECK(report.not_finite == "the derivative of sqrt in first");
  std::ostringstream text;
  text << report;
  CHECK(text.str().find("NaN or infinity began in the derivative of sqrt in first\n") !=
        std::string::npos);
  const nn::Linear linear(3, 2);
  const auto root_outside = [](const nn::Linear& m) {
    return sum(sqrt(m(inputs().type_as(m.weight)) * 0));
  };
  CHECK(nn::audit(linear, root_outside).not_finite ==
        "the derivative of sqrt outside of all modules");
  CHECK(nn::audit(Root(), [](const Root& m) {
          return sum(m(inputs().type_as(m.inner.weight)));
        }).not_finite == "the derivative of sqrt in Root");
}

TEST_CASE("the audit refuses a loss of several numbers", "[products]") {
  const Net net;
  CHECK_THROWS_WITH(nn::audit(net, [](const Net& model) { return model(inputs()); }),
                    "[audit] the loss must be one number, but has shape (5, 2)");
}

TEST_CASE("the kinks of relu pass the audit", "[products]") {
  int failed = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    manual_seed(seed);
    const nn::Sequential net{nn::Linear(4, 32), nn::ReLU(), nn::Linear(32, 3)};
    const Tensor x = randn({150, 4}), y = randint(0, 3, {150});
    const AuditReport report = nn::audit(net, [&](const nn::Sequential& model) {
      return cross_entropy(model(x.type_as(model.parameters()[0])), y);
    });
    if (!report.passed()) ++failed;
  }
  // If the audit used only differences with a step of 1e-5, 24 models would fail. A step of 1e-7
  // crosses a hundredth of the kinks.
  CHECK(failed <= 1);
}
