// The checks that every row of the operation table must pass. op_torch_test.cpp compares the rows
// with PyTorch, and op_table_headers_test.cpp checks that every operation has a row.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <tend/attention/functions/flex_attention.h>
#include <tend/core/threads/parallel.h>

#include "tests/autograd/op_cases.h"
#include "tests/autograd/support.h"
#include "tests/counts.h"
#include "tests/simd_targets.h"

using namespace tend;
using namespace tend::test;

namespace {

using Tensors = std::vector<Tensor>;

// The largest difference. The unit is the rounding error of the largest expected number, or of 1 if
// all numbers are smaller.
double roundings(const Tensor& found, const Tensor& expected, DType precision) {
  const std::vector<double> a = values(found);
  const std::vector<double> b = values(expected);
  double size = 1;
  for (const double each : b) size = std::isfinite(each) ? std::max(size, std::fabs(each)) : size;
  double worst = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    const double error = std::fabs(a[i] - b[i]);
    worst = std::isfinite(error) ? std::max(worst, error) : kInf;
  }
  const double unit = precision == float32 ? std::numeric_limits<float>::epsilon()
                                           : std::numeric_limits<double>::epsilon();
  return worst / (size * unit);
}

Tensors dense(const Tensors& inputs) {
  Tensors copies;
  for (const Tensor& input : inputs) copies.push_back(input.detach().clone());
  return copies;
}

bool is_same(const Tensor& a, const Tensor& b) {
  const std::vector<double> x = values(a);
  const std::vector<double> y = values(b);
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(double)) == 0);
}

bool is_same(const Tensors& a, const Tensors& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Tensor& x, const Tensor& y) { return is_same(x, y); });
}

// The gradients of all outputs with respect to the inputs that require one.
Tensors gradients(const Tensors& outputs, const Tensors& inputs, bool create_graph = false) {
  Tensors results, cotangents, wanted;
  for (const Tensor& output : outputs) {
    if (!output.requires_grad()) continue;
    results.push_back(output);
    cotangents.push_back(cotangent_like(output));
  }
  for (const Tensor& input : inputs) {
    if (input.requires_grad()) wanted.push_back(input);
  }
  if (results.empty() || wanted.empty()) return {};
  return autograd::grad(results, wanted, cotangents,
                        {.retain_graph = true, .create_graph = create_graph, .allow_unused = true});
}

}  // namespace

TEST_CASE("operations give the same results on every layout and do not change their inputs",
          "[table]") {
  const DType real = GENERATE(float32, float64);
  std::set<Layout> layouts;
  for_each_case([&](const Op& op, const Sample& sample, Layout layout) {
    layouts.insert(layout);
    const Case made = make_case(op, sample, layout, real);
    const Tensors inputs = made.arguments();
    const Tensors copies = dense(inputs);
    const Tensors expected = op.call(copies);
    const Tensors found = op.call(inputs);
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      CHECK(found[i].dtype() == expected[i].dtype());
      REQUIRE(found[i].shape() == expected[i].shape());
      // Products and sums may be computed in a different order.
      CHECK(roundings(found[i], expected[i], real) <= op.roundings);
    }
    CHECK(is_same(dense(inputs), copies));
  });
  write_count("layouts", static_cast<std::int64_t>(layouts.size()));
}

TEST_CASE("operations are as precise in float32 as their rows say", "[table]") {
  for_each_case([](const Op& op, const Sample& sample, Layout layout) {
    if (layout != Layout::contiguous) return;
    const Tensors inputs = make_case(op, sample, layout, float32).inputs;
    Tensors wide;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Tensor copy = inputs[i].detach();
      wide.push_back(sample[i].dtype == float64 ? copy.to(float64) : copy);
      if (inputs[i].requires_grad()) wide[i].requires_grad_();
    }
    const Tensors found = op.call(inputs);
    const Tensors reference = op.call(wide);
    for (std::size_t i = 0; i < found.size(); ++i) {
      CHECK(roundings(found[i], reference[i], float32) <= op.roundings);
    }
    const Tensors slopes = gradients(found, inputs);
    const Tensors slope_reference = gradients(reference, wide);
    for (std::size_t i = 0; i < slopes.size(); ++i) {
      if (!slopes[i].defined()) continue;
      // A derivative consists of a few operations of this precision.
      CHECK(roundings(slopes[i], slope_reference[i], float32) <= 4 * op.roundings);
    }
  });
}

// If a fused kernel computes the gradient, create_graph uses the equivalent composed formula.
TEST_CASE("gradients with create_graph equal gradients without it", "[table]") {
  const DType real = GENERATE(float32, float64);
  for_each_case([&](const Op& op, const Sample& sample, Layout layout) {
    const Case made = make_case(op, sample, layout, real);
    const Tensors outputs = made.call()(made.inputs);
    const Tensors plain = gradients(outputs, made.inputs);
    const Tensors recorded = gradients(outputs, made.inputs, true);
    for (std::size_t i = 0; i < plain.size(); ++i) {
      if (!plain[i].defined()) continue;
      CHECK_FALSE(plain[i].requires_grad());
      CHECK(roundings(recorded[i], plain[i], real) <= 2 * op.roundings);
    }
  });
}

// The inputs that require a gradient determine which tensors are saved, and which parts of a
// derivative are computed.
TEST_CASE("the gradient of an input is the same if no other input requires one", "[table]") {
  std::int64_t gradients_alone = 0;
  for_each_case([&](const Op& op, const Sample& sample, Layout layout) {
    if (layout != Layout::contiguous) return;
    const Tensors inputs = make_case(op, sample, layout).inputs;
    const Tensors together = gradients(op.call(inputs), inputs);
    if (together.size() < 2) return;
    std::size_t next = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].requires_grad()) continue;
      const Tensor expected = together[next++];
      Tensors alone = dense(inputs);
      alone[i].requires_grad_();
      for (const bool create_graph : {false, true}) {
        INFO("input " << i << ", create_graph " << create_graph);
        const Tensors found = gradients(op.call(alone), alone, create_graph);
        const bool is_reached = !found.empty() && found[0].defined();
        CHECK(is_reached == expected.defined());
        if (!is_reached || !expected.defined()) continue;
        REQUIRE(found[0].shape() == expected.shape());
        // With create_graph, the composed formula computes the gradient, as above.
        CHECK(roundings(found[0], expected, float64) <= 2 * op.roundings);
        ++gradients_alone;
      }
    }
  });
  CHECK(gradients_alone > 500);  // the loop has checked something
}

TEST_CASE("values and gradients are the same on every SIMD target up to rounding", "[table]") {
  const DType real = GENERATE(float32, float64);
  for (const Op& op : op_table()) {
    // The sample fills many vectors of each target, and its last block is incomplete.
    const Case made = make_case(op, large_sample(op, 1e4), Layout::contiguous, real);
    std::vector<Tensors> first;  // values and gradients of the first target
    test::for_each_simd_target([&](const std::string& target) {
      INFO(op.torch << " on " << target);
      const Tensors outputs = op.call(made.inputs);
      const std::vector<Tensors> found{dense(outputs), gradients(outputs, made.inputs)};
      if (first.empty()) first = found;
      for (std::size_t order = 0; order < found.size(); ++order) {
        for (std::size_t i = 0; i < found[order].size(); ++i) {
          if (!found[order][i].defined()) continue;
          // Derivatives consist of a few operations.
          const double allowed = (order == 0 ? 2 : 4) * op.roundings;
          CHECK(roundings(found[order][i], first[order][i], real) <= allowed);
        }
      }
    });
  }
}

namespace {

// Checks that values and gradients have the same bits on one and on three threads. Returns the
// number of elements of the largest input, output or gradient.
std::int64_t check_thread_counts(const TensorFunction& call, const Tensors& inputs) {
  const int threads = num_threads();
  std::vector<Tensors> results;
  for (const int count : {1, 3}) {
    set_num_threads(count);
    const Tensors outputs = call(inputs);
    results.push_back(dense(outputs));
    results.push_back(gradients(outputs, inputs));
  }
  set_num_threads(threads);
  for (std::size_t i = 2; i < results.size(); ++i) CHECK(is_same(results[i], results[i - 2]));
  std::int64_t most = 0;
  for (const Tensors& tensors : {inputs, results[0], results[1]})
    for (const Tensor& each : tensors) most = std::max(most, each.defined() ? each.numel() : 0);
  return most;
}

// A call whose inputs are large enough for several threads, for an operation whose rows in the
// operation table have small fixed sizes.
struct LargeCall {
  std::string name;
  std::vector<Shape> shapes;
  TensorFunction call;
};

std::vector<LargeCall> large_calls() {
  using In = const Tensors&;
  return {
      {"broadcast_to",
       {{300, 1}},
       [](In x) {
         return broadcast_to(x[0], {300, 300});
       }},
      {"cosine_embedding_loss",
       {{3000, 40}, {3000, 40}},
       [](In x) { return cosine_embedding_loss(x[0], x[1], ones({3000})); }},
      {"diag", {{300}}, [](In x) { return diag(x[0]); }},
      {"diag_embed", {{30, 100}}, [](In x) { return diag_embed(x[0]); }},
      {"expand",
       {{300, 1}},
       [](In x) {
         return x[0].expand({300, 300});
       }},
      {"flex_attention_with_heads",
       {{2, 2, 200, 8}, {2, 2, 200, 8}, {2, 2, 200, 8}},
       [](In x) {
         const auto found = attention::flex_attention_with_heads(x[0], x[1], x[2], {1});
         return Tensors{found.context, found.weights, found.scores, found.log_sum_exp};
       }},
      {"index_copy",
       {{300, 300}, {200, 300}},
       [](In x) { return index_copy(x[0], 0, arange(200), x[1]); }},
      {"kron", {{20, 30}, {25, 20}}, [](In x) { return kron(x[0], x[1]); }},
      {"meshgrid", {{300}, {400}}, [](In x) { return meshgrid(x); }},
      {"outer", {{300}, {400}}, [](In x) { return outer(x[0], x[1]); }},
      {"prelu", {{300, 300}, {300}}, [](In x) { return prelu(x[0] - 0.5, x[1]); }},
      {"select_scatter",
       {{2, 300, 300}, {300, 300}},
       [](In x) { return select_scatter(x[0], x[1], 0, 1); }},
      {"slice_scatter",
       {{300, 300}, {200, 300}},
       [](In x) { return slice_scatter(x[0], x[1], 0, 50, 250); }},
      {"squeeze", {{1, 300, 300}}, [](In x) { return squeeze(x[0]); }},
      {"sum_to_size",
       {{300, 300}},
       [](In x) {
         return x[0].sum_to_size({1, 300});
       }},
      {"triplet_margin_loss",
       {{3000, 40}, {3000, 40}, {3000, 40}},
       [](In x) { return triplet_margin_loss(x[0], x[1], x[2]); }},
      {"unbind", {{2, 300, 300}}, [](In x) { return unbind(x[0]); }},
      {"unfold_backward",
       {{300, 149, 3}},
       [](In x) {
         return unfold_backward(x[0], {300, 300}, 1, 3, 2);
       }},
  };
}

}  // namespace

TEST_CASE("values and gradients have the same bits for every number of threads", "[table]") {
  std::map<std::string, std::int64_t> elements;
  for (const Op& op : op_table()) {
    INFO(op.torch);
    const Case made = make_case(op, large_sample(op), Layout::contiguous);
    std::int64_t& most = elements[op.name];
    most = std::max(most, check_thread_counts(op.call, made.inputs));
  }
  // The operations for which large_sample() is too small for several threads.
  std::set<std::string> small, called;
  for (const auto& [name, most] : elements)
    if (most < 50'000) small.insert(name);
  for (const LargeCall& large : large_calls()) {
    INFO(large.name);
    Tensors inputs;
    Generator generator(1);
    for (const Shape& shape : large.shapes)
      inputs.push_back(rand(shape, float64, generator).requires_grad_());
    CHECK(check_thread_counts(large.call, inputs) >= 50'000);
    called.insert(large.name);
  }
  CHECK(small == called);
}

TEST_CASE("operations refuse bad inputs and say why", "[table]") {
  for (const Op& op : op_table()) {
    for (const Refusal& refusal : op.refusals) {
      INFO(op.torch);
      const Tensors inputs = make_case(op, refusal.inputs, Layout::contiguous).inputs;
      const TensorFunction& call = refusal.call.empty() ? op.call : refusal.call[0];
      CHECK_THROWS_MATCHES(call(inputs), Error, says(refusal.message));
    }
  }
}

namespace {

// Applies the in-place form to wrap(first input), which is part of a graph. The value and the
// gradients must equal the operation's.
template <class Wrap>
void check_in_place(const Op& op, const Case& made, Wrap wrap) {
  Tensors inputs = made.arguments();
  const Tensors expected = op.call(inputs);
  const bool fits = expected[0].dtype() == inputs[0].dtype() &&
                    (op.in_place_reshapes || expected[0].shape() == inputs[0].shape());
  if (!fits) return;
  const Tensors expected_gradients = gradients(expected, made.inputs);
  inputs[0] = wrap(inputs[0]);
  const Tensor first = inputs[0];
  const std::uint32_t version = first.version();
  const Tensor result = op.in_place_forms[0](inputs)[0];
  CHECK(result.impl() == first.impl());
  CHECK(result.version() > version);
  CHECK(result.shape() == expected[0].shape());
  CHECK(roundings(result, expected[0], float64) <= 4);
  const Tensors found = gradients({result}, made.inputs);
  REQUIRE(found.size() == expected_gradients.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CHECK(roundings(found[i], expected_gradients[i], float64) <= 4);
  }
}

}  // namespace

TEST_CASE("in-place forms have the value and gradients of their operations, also through views",
          "[table]") {
  for_each_case([](const Op& op, const Sample& sample, Layout layout) {
    if (op.in_place_forms.empty()) return;
    const Case made = make_case(op, sample, layout);
    check_in_place(op, made, [](const Tensor& x) { return x.clone(); });
    check_in_place(op, made, [](const Tensor& x) { return x.unsqueeze(0).clone()[0]; });
  });
}
