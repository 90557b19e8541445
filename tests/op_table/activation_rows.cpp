// Rows for autograd/ops/activation.h.
#include "tests/op_table/op_table.h"

namespace tend::test {
namespace {

using T = const Tensor&;

void softmax_rows(Rows& rows) {
  for (const std::int64_t d : {0, 1, -1}) {
    const std::string dim = std::to_string(d);
    rows.op("softmax", "torch.softmax(a, " + dim + ")", [d](T a) { return softmax(a, d); })
        .on({{real({2, 3})}, {real({3, 2, 4})}, {real({0, 3})}, {real({3, 0})}})
        .refuses("[softmax] needs float32 or float64, got int64", {integers({2, 2}, 0, 5)});
    rows.op("log_softmax", "torch.log_softmax(a, " + dim + ")",
            [d](T a) { return log_softmax(a, d); })
        .on({{real({2, 3})}, {real({3, 2, 4})}, {real({0, 3})}, {real({3, 0})}})
        .refuses("[log_softmax] needs float32 or float64, got int64", {integers({2, 2}, 0, 5)});
  }
  rows.op("softmax", "torch.softmax(a, 1, dtype=torch.float64)",
          [](T a) { return softmax(a, 1, float64); })
      .on({{real({2, 3})}, {real({2, 3}).as(float32)}, {integers({2, 3}, -2, 3)}});
  rows.op("log_softmax", "torch.log_softmax(a, 1, dtype=torch.float64)",
          [](T a) { return log_softmax(a, 1, float64); })
      .on({{real({2, 3})}, {integers({2, 3}, -2, 3)}});
  rows.op("softmin", "F.softmin(a, 1)", [](T a) { return softmin(a, 1); })
      .on({{real({2, 3})}, {real({3, 2, 4})}})
      .refuses("[softmin] needs float32 or float64, got int64", {integers({2, 2}, 0, 5)});
  rows.op("softmax", "torch.softmax(a, 0) * 1", [](T a) { return softmax(a, 0) * 1; })
      .on({{real({})}, {real({1})}, {real({7})}});
  rows.op("log_softmax", "torch.log_softmax(a, 0) * 1", [](T a) { return log_softmax(a, 0) * 1; })
      .on({{real({})}, {real({1})}, {real({7})}});
}

std::string floats_only(const std::string& name) {
  return "[" + name + "] needs float32 or float64, got int64";
}

// A row for F.NAME(a).
Op& activation(Rows& rows, const std::string& name, Tensor (*f)(T), const Input& like = real({})) {
  return rows.op(name, "F." + name + "(a)", f)
      .on(unary_samples(like))
      .refuses(floats_only(name), {integers({2}, 0, 5)});
}

void rectifier_rows(Rows& rows) {
  rows.op("relu", "torch.relu(a)", relu)
      .on(unary_samples(real({}).off({0})))
      .on({{integers({2, 3}, -4, 5)}})
      .in_place([](T a) { return a.relu_(); })
      .refuses("[relu] needs int64, float32 or float64, got bool", {bools({2})});
  activation(
      rows, "leaky_relu", [](T a) { return leaky_relu(a); }, real({}).off({0}))
      .in_place([](T a) { return a.leaky_relu_(); });
  rows.op("leaky_relu", "F.leaky_relu(a, -0.2)", [](T a) { return leaky_relu(a, -0.2); })
      .on(unary_samples(real({}).off({0})))
      .in_place([](T a) { return a.leaky_relu_(-0.2); });
  // The second derivative jumps at 0.
  activation(
      rows, "elu", [](T a) { return elu(a); }, real({}).off({0}))
      .in_place([](T a) { return a.elu_(); });
  rows.op("elu", "F.elu(a, 1.5)", [](T a) { return elu(a, 1.5); })
      .on(unary_samples(real({}).off({0})))
      .in_place([](T a) { return a.elu_(1.5); });
  rows.op("relu6", "F.relu6(a)", [](T a) { return relu6(a); })
      .on(unary_samples(real({}).in(-2, 8).off({0, 6})))
      .on({{integers({2, 3}, -4, 9)}})
      .in_place([](T a) { return a.relu6_(); })
      .refuses("[relu6] needs int64, float32 or float64, got bool", {bools({2})});
  activation(
      rows, "selu", [](T a) { return selu(a); }, real({}).off({0}))
      .in_place([](T a) { return a.selu_(); });
  rows.op("celu", "F.celu(a, 1.5)", [](T a) { return celu(a, 1.5); })
      .on(unary_samples(real({}).off({0})))
      .in_place([](T a) { return a.celu_(1.5); })
      .refuses("[celu] alpha is 0, not a number above 0", {real({2})},
               [](T a) { return celu(a, 0); })
      .refuses(floats_only("celu"), {integers({2}, 0, 5)});
  rows.op("prelu", "F.prelu(a, b)", [](T a, T b) { return prelu(a, b); })
      .on({{real({2, 3}).off({0}), real({1})},
           {real({2, 3, 2}).off({0}), real({3})},
           {real({4}).off({0}), real({1})},
           {real({}).off({0}), real({1})}})
      .fixed_size()
      .refuses("[prelu] the weight must be 0-d, (1,) or (3,) for the input (2, 3), but is (2,)",
               {real({2, 3}), real({2})})
      .refuses("[prelu] the dtypes differ: float64 and int64", {real({2}), integers({1}, 0, 5)});
  // F.hardsigmoid is not used, because its gradient in float64 is 1/6 rounded to float32.
  rows.op("hardsigmoid", "F.hardtanh(a + 3, 0, 6) / 6", [](T a) { return hardsigmoid(a); })
      .on(unary_samples(real({}).in(-5, 5).off({-3, 3})))
      .in_place([](T a) { return a.hardsigmoid_(); })
      .refuses(floats_only("hardsigmoid"), {integers({2}, 0, 5)});
  activation(
      rows, "hardswish", [](T a) { return hardswish(a); }, real({}).in(-5, 5).off({-3, 3}))
      .in_place([](T a) { return a.hardswish_(); });
  rows.op("hardtanh", "F.hardtanh(a)", [](T a) { return hardtanh(a); })
      .on(unary_samples(real({}).off({-1, 1})))
      .on({{integers({2, 3}, -4, 5)}})
      .in_place([](T a) { return a.hardtanh_(); })
      .refuses("[hardtanh] needs int64, float32 or float64, got bool", {bools({2})});
  rows.op("hardtanh", "F.hardtanh(a, -0.5, 1.5)", [](T a) { return hardtanh(a, -0.5, 1.5); })
      .on(unary_samples(real({}).off({-0.5, 1.5})))
      .on({{integers({2, 3}, -4, 5)}})
      .in_place([](T a) { return a.hardtanh_(-0.5, 1.5); });
}

void smooth_rows(Rows& rows) {
  activation(rows, "gelu", [](T a) { return gelu(a); });
  rows.op("gelu", "F.gelu(a, approximate='tanh')", [](T a) { return gelu(a, GeluKind::tanh); })
      .on(unary_samples());
  activation(rows, "silu", silu).in_place([](T a) { return a.silu_(); });
  activation(rows, "mish", mish).in_place([](T a) { return a.mish_(); });
  activation(rows, "softplus", [](T a) { return softplus(a); });
  // softplus jumps at the threshold.
  rows.op("softplus", "F.softplus(a, 2, 3)", [](T a) { return softplus(a, 2, 3); })
      .on(unary_samples(real({}).off({1.5})));
  activation(rows, "logsigmoid", logsigmoid);
  rows.op("softsign", "F.softsign(a)", softsign)
      .on(unary_samples(real({}).off({0})))
      .on({{integers({2, 3}, -4, 5)}})
      .refuses("[softsign] a bool tensor has no sign", {bools({2})});
}

void glu_rows(Rows& rows) {
  rows.op("glu", "F.glu(a)", [](T a) { return glu(a); })
      .on({{real({2, 4})}, {real({2})}, {real({3, 0})}, {real({0, 2})}, {real({2, 3, 2})}})
      .refuses(floats_only("glu"), {integers({2}, 0, 5)})
      .refuses("[glu] dimension 1 of (2, 3) must have an even size, but has size 3", {real({2, 3})})
      .refuses("[glu] a 0-d tensor has no halves", {real({})});
  rows.op("glu", "F.glu(a, 0)", [](T a) { return glu(a, 0); })
      .on({{real({4, 3})}, {real({4})}, {real({2, 2, 3})}});
}

}  // namespace

std::vector<Op> activation_rows() {
  Rows rows;
  rectifier_rows(rows);
  smooth_rows(rows);
  glu_rows(rows);
  softmax_rows(rows);
  return rows.take();
}

}  // namespace tend::test
