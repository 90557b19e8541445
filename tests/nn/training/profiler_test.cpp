// The profiler lists each operation once, with its module, its derivative and its FLOPs.
#include <array>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/catch.h"

#include <tend/autograd/graph/timeline.h>
#include <tend/autograd/tools/checkpoint.h>
#include <tend/autograd/tools/function.h>
#include <tend/tend.h>

#include <nlohmann/json.hpp>

using Catch::Matchers::ContainsSubstring;
using namespace tend;
using nn::Profiler;
using nn::ProfileRow;

namespace {

class Block : public nn::Module<Block> {
 public:
  Block() : norm({8}), up(8, 16, {.bias = false}) {}
  Tensor forward(const Tensor& x) const { return gelu(up(norm(x))); }
  TEND_MODULE(nn::LayerNorm, norm);
  TEND_MODULE(nn::Linear, up);
};

class Pair : public nn::Module<Pair> {
 public:
  Pair() : last(16, 2) {}
  Tensor forward(const Tensor& x) const { return last(first(x)); }
  TEND_MODULE(Block, first);
  TEND_MODULE(nn::Linear, last);
};

// The row with this name; an empty row if no row has it.
ProfileRow row(const std::vector<ProfileRow>& rows, const std::string& name,
               bool is_derivative = false) {
  for (const ProfileRow& each : rows) {
    if (each.name == name && each.is_derivative == is_derivative) return each;
  }
  return {};
}

}  // namespace

TEST_CASE("a profile lists each operation and derivative by name and by module", "[products]") {
  Pair model;
  const Tensor x = randn({5, 8}, {.requires_grad = true});
  Profiler profiler;
  for (int i = 0; i < 3; ++i) model(x).sum().backward();
  CHECK(profiler.by_operation().empty());  // a running profiler has no rows
  profiler.stop();
  relu(x);  // not profiled

  const auto operations = profiler.by_operation();
  CHECK(row(operations, "linear").calls == 6);
  CHECK(row(operations, "linear", true).calls == 6);
  CHECK(row(operations, "gelu").calls == 3);
  CHECK(row(operations, "layer_norm", true).calls == 3);
  CHECK(row(operations, "relu").calls == 0);
  // A product of m x k and k x n has 2 m n k FLOPs. Its backward makes two such products.
  constexpr double kFlops = 3 * 2 * (5 * 8 * 16 + 5 * 16 * 2);
  CHECK(row(operations, "linear").flops == kFlops);
  CHECK(row(operations, "linear", true).flops == 2 * kFlops);
  CHECK(row(operations, "gelu").flops == 0);
  // x and the result, in float32
  CHECK(row(operations, "gelu").bytes == 3 * 2 * 5 * 16 * 4);

  const auto modules = profiler.by_module();
  CHECK(row(modules, "Pair").calls == 3 * 4);
  CHECK(row(modules, "Pair", true).calls == 3 * 4);
  CHECK(row(modules, "Pair.first").calls == 3 * 3);
  CHECK(row(modules, "Pair.first.up").calls == 3);
  CHECK(row(modules, "Pair.first.up", true).flops == 3 * 2 * 2 * 5 * 8 * 16);
  CHECK(row(modules, "", true).calls == 3);  // the derivative of sum

  double seconds = 0;
  for (const ProfileRow& each : operations) {
    CHECK(each.seconds > 0);
    seconds += each.seconds;
  }
  CHECK(seconds <= profiler.seconds());
  for (std::size_t i = 1; i < operations.size(); ++i)
    CHECK(operations[i - 1].seconds >= operations[i].seconds);
}

TEST_CASE("a profile lists in-place writes with and without a graph") {
  const Tensor x = ones({4}), whole = zeros({4}, int64);
  Profiler profiler;
  x.add_(x);
  x.mul_(ones({4}));
  whole.copy_(ones({4}, int64));
  x.exp_();
  profiler.stop();
  for (const char* name : {"add_", "mul_", "copy_", "exp_"}) {
    INFO(name);
    CHECK(row(profiler.by_operation(), name).calls == 1);
  }
}

TEST_CASE("a derivative is one row of a profile even if it calls several operations") {
  const Tensor x = randn({4, 4}, {.requires_grad = true});
  Profiler profiler;
  const Tensor gradient = autograd::grad(exp(x).sum(), x, {.create_graph = true});
  autograd::checkpoint([](const Tensor& y) { return sin(y); }, x).sum().backward();
  profiler.stop();
  const auto operations = profiler.by_operation();
  CHECK(row(operations, "exp", true).calls == 1);
  CHECK(row(operations, "mul").calls == 0);  // a part of exp's derivative
  CHECK(row(operations, "sin").calls == 1);  // the second sin is a part of the derivative
}

namespace {

// exp(x), whose derivative runs a backward of another graph.
struct Nested : autograd::Function<Nested> {
  static Tensor forward(autograd::FunctionContext& context, const Tensor& x) {
    context.save_for_backward({x});
    return exp(x);
  }
  static Tensor backward(const autograd::FunctionContext& context, const Tensor& grad) {
    const GradModeGuard graph(true);
    const Tensor x = context.saved(0).detach().requires_grad_();
    return grad * autograd::grad(exp(x).sum(), x);
  }
};

}  // namespace

TEST_CASE("a backward within a derivative is a part of that derivative") {
  const Tensor x = randn({4}, {.requires_grad = true});
  const Tensor y = Nested().apply(x).sum();
  Profiler profiler;
  y.backward();
  profiler.stop();
  std::int64_t derivatives = 0;
  for (const ProfileRow& each : profiler.by_operation()) {
    CHECK(each.is_derivative);
    derivatives += each.calls;
  }
  CHECK(derivatives == 2);  // the derivatives of sum and of the function, but not of exp
}

TEST_CASE("operations without derivatives and attention and products are profiled", "[products]") {
  manual_seed(1);
  const Tensor x = randn({3, 4}), q = randn({2, 3, 16, 8}, {.requires_grad = true});
  Profiler profiler;
  const Tensor mask = x > 0;
  argmax(x);
  rand({3});
  x.to(int64).sum();
  einsum("ij,kj->ik", {x, x});
  scaled_dot_product_attention(q, q, q, {.is_causal = true}).sum().backward();
  profiler.stop();
  const auto operations = profiler.by_operation();
  for (const char* name : {"gt", "argmax", "rand", "to", "sum"}) {
    CAPTURE(name);
    CHECK(row(operations, name).calls >= 1);
  }
  double products = 0;
  for (const ProfileRow& each : operations) {
    if (each.flops > 0 && !each.is_derivative) products += each.flops;
  }
  // Each of 16 x 17 / 2 visible pairs needs two products of depth 8 in each of 6 heads. einsum
  // multiplies x by its transpose.
  constexpr double kPairs = 6 * 16 * 17 / 2;
  CHECK(products == 2 * kPairs * (8 + 8) + 2 * 3 * 3 * 4);
  // The scores again, and four products for the gradients.
  CHECK(row(operations, "scaled_dot_product_attention", true).flops == 2 * kPairs * (5 * 8));
}

TEST_CASE("a named part of the program has its own row in a profile") {
  const Tensor x = randn({4});
  Profiler profiler;
  {
    const autograd::ProfiledPart part("read");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    exp(x);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  exp(x);
  profiler.stop();
  const auto operations = profiler.by_operation();
  CHECK(row(operations, "read").calls == 1);
  CHECK(row(operations, "read").seconds >= 0.002);
  CHECK(row(operations, "exp").calls == 2);
  CHECK(row(operations, "exp").seconds >= 0.002);  // includes the time since the part began
}

TEST_CASE("the step of an optimizer counts the bytes of gradients, parameters and states") {
  const Tensor p = ones({100}).requires_grad_(), alone = ones({7}).requires_grad_();
  optim::AdamW optimizer({p, alone}, 0.1);
  p.sum().backward();
  Profiler profiler;
  optimizer.step();
  profiler.stop();
  // The gradient is read; the parameter and two averages are read and written. The other parameter
  // has no gradient and adds nothing.
  CHECK(row(profiler.by_operation(), "AdamW.step").bytes == 7 * 100 * 4);
}

TEST_CASE("one thread has one profiler at a time, and other threads are not profiled") {
  const Tensor x = randn({4});
  {
    Profiler profiler;
    CHECK_THROWS_WITH(Profiler(), ContainsSubstring("profiled already"));
    std::thread([&] {
      Profiler own;
      cos(x);
      own.stop();
      CHECK(row(own.by_operation(), "cos").calls == 1);
    }).join();
    CHECK(profiler.by_operation().empty());
    profiler.stop();
    Profiler next;
    sin(x);
    next.stop();
    CHECK(row(next.by_operation(), "sin").calls == 1);
  }
}

TEST_CASE("an error ends its operation or derivative in a profile") {
  const Tensor x = randn({4}, {.requires_grad = true});
  const Tensor y = exp(x);
  Profiler profiler;
  CHECK_THROWS_AS(matmul(x, randn({3})), ShapeError);
  Tensor hooked = y * 2;
  {
    const autograd::NodeHook hook([](const Node&, std::span<Tensor>) { throw 1; });
    CHECK_THROWS_AS(hooked.sum().backward(), int);
  }
  sin(x).sum().backward();
  profiler.stop();
  CHECK(row(profiler.by_operation(), "sin").calls == 1);
  CHECK(row(profiler.by_operation(), "sin", true).calls == 1);
}

TEST_CASE("the event of a module in a trace encloses the events within the module", "[products]") {
  const auto names_in = [](const nlohmann::json& events) {
    std::string names;
    for (const auto& event : events) names += event.at("name").get<std::string>() + '\n';
    return names;
  };
  Pair model;
  const Tensor x = randn({5, 8}), weights = ones({5, 2});
  Profiler profiler;
  model(x).sum().backward();
  profiler.stop();
  const auto trace = nlohmann::json::parse(profiler.trace()).at("traceEvents");
  CHECK(names_in(trace) ==
        "Pair\nPair.first\nPair.first.norm\nlayer_norm\nPair.first.up\nlinear\ngelu\nPair."
        "last\nlinear\n"
        "sum\nsum\nPair, backward\nPair.last, backward\nlinear\nPair.first, backward\ngelu\n"
        "Pair.first.up, backward\nlinear\nPair.first.norm, backward\nlayer_norm\n");
  // Each module's event ends with the last operation within it.
  const auto end_of = [&](std::size_t i) {
    return trace.at(i).at("ts").get<double>() + trace.at(i).at("dur").get<double>();
  };
  for (const auto& [module, first, last] :
       std::vector<std::array<std::size_t, 3>>{{0, 3, 8}, {1, 3, 6}, {4, 5, 5}, {11, 13, 19}}) {
    CAPTURE(module);
    CHECK(trace.at(module).at("cat") == "module");
    CHECK(trace.at(module).at("ts") == trace.at(first).at("ts"));
    CHECK(end_of(module) == Approx(end_of(last)));
  }
  // A derivative directly after its operation is a separate event.
  const nn::Linear layer(8, 2);
  Profiler again;
  layer(x).backward(weights);
  again.stop();
  CHECK(names_in(nlohmann::json::parse(again.trace()).at("traceEvents")) ==
        "Linear\nlinear\nLinear, backward\nlinear\n");
}

TEST_CASE("a profile is printed as two tables, and as a trace for Chrome", "[products]") {
  Pair model;
  Profiler profiler;
  model(randn({5, 8})).sum().backward();
  profiler.stop();
  const auto trace = nlohmann::json::parse(profiler.trace()).at("traceEvents");
  auto operations = nlohmann::json::array();
  double end = 0;
  for (const auto& event : trace) {
    CHECK(event.at("ph") == "X");
    if (event.at("cat") == "module") continue;
    CHECK(event.at("ts").get<double>() >= end - 1e-6);
    end = event.at("ts").get<double>() + event.at("dur").get<double>();
    operations.push_back(event);
  }
  REQUIRE(operations.size() == 11);  // randn, then five operations forward and backward
  const auto& linear = operations.at(2);
  CHECK(linear.at("name") == "linear");
  CHECK(linear.at("args").at("module") == "Pair.first.up");
  CHECK(linear.at("args").at("flops") == 2 * 5 * 8 * 16);
  // GFLOP/s are FLOPs per nanosecond; `dur` is in microseconds.
  CHECK(linear.at("args").at("GFLOP/s").get<double>() * linear.at("dur").get<double>() * 1e3 ==
        Approx(2 * 5 * 8 * 16));
  CHECK_FALSE(operations.at(1).at("args").contains("GFLOP/s"));
  CHECK(operations.at(6).at("cat") == "backward");

  std::ostringstream out;
  out << profiler;
  for (const char* part : {"operation ", "GFLOP/s", "layer_norm, backward", "Pair.first.up ",
                           "outside of modules", "ms outside of operations"}) {
    CHECK_THAT(out.str(), ContainsSubstring(part));
  }
}
