// Inputs of flex_attention, and its results on both paths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/catch.h"

#include <tend/tend.h>

namespace tend::test {

using attention::AttentionPath;
using attention::FlexOptions;

struct FlexInputs {
  Tensor query, key, value;

  FlexInputs(const Shape& heads, std::int64_t queries, std::int64_t keys, DType dtype = float64) {
    const auto make = [&](std::int64_t rows, std::int64_t columns) {
      Shape shape = heads;
      shape.push_back(rows);
      shape.push_back(columns);
      return randn(shape, {.dtype = dtype, .requires_grad = true});
    };
    query = make(queries, 8);
    key = make(keys, 8);
    value = make(keys, 5);
  }
};

// The result, and the gradients of query, key, value and tables.
inline std::vector<Tensor> flex_results(const FlexInputs& in, FlexOptions options,
                                        AttentionPath path,
                                        const std::vector<Tensor>& tables = {}) {
  options.path = path;
  manual_seed(3);
  const Tensor out = flex_attention(in.query, in.key, in.value, options);
  manual_seed(4);
  const Tensor cotangent = randn(out.shape(), out.dtype());
  std::vector<Tensor> inputs{in.query, in.key, in.value};
  inputs.insert(inputs.end(), tables.begin(), tables.end());
  std::vector<Tensor> all = autograd::grad({out}, inputs, {cotangent}, {.allow_unused = true});
  // If a table is read only in conditions, one path gives no gradient and the other gives zeros.
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].defined()) all[i] = zeros_like(inputs[i]);
  }
  all.push_back(out.detach());
  return all;
}

// The tolerance of sums of up to some hundred terms of size 1, each rounded a few times.
inline double flex_tolerance(DType dtype) {
  return dtype == float64 ? 5e-14 : 3e-5;
}

// The tolerance of the gradients of tables, which are sums of up to some ten thousand terms.
inline double table_tolerance(DType dtype) {
  return dtype == float64 ? 2e-12 : 2e-4;
}

inline void check_paths(const FlexInputs& in, const FlexOptions& options,
                        const std::vector<Tensor>& tables = {}) {
  const auto composed = flex_results(in, options, AttentionPath::composed, tables);
  const auto fused = flex_results(in, options, AttentionPath::fused, tables);
  const DType dtype = in.query.dtype();
  for (std::size_t i = 0; i < composed.size(); ++i) {
    const bool is_table = i > 2 && i + 1 < composed.size();
    const double within = is_table ? table_tolerance(dtype) : flex_tolerance(dtype);
    CAPTURE(i, in.query.shape(), in.key.shape());
    CHECK(fused[i].shape() == composed[i].shape());
    CHECK(allclose(fused[i], composed[i], within, within));
  }
}

}  // namespace tend::test
