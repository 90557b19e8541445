// What both paths of attention share. Internal.
#pragma once

#include <memory>
#include <optional>

#include <tend/attention/expressions/trace.h>
#include <tend/attention/functions/options.h>

namespace tend::attention {

/// What becomes of the scores, for either path. Its arguments have been checked.
struct AttentionCall {
  const char* operation;
  const char* grad_fn;  // of the fused path
  double scale = 1;
  double dropout_p = 0;
  bool is_causal = false;
  Tensor mask = {};  // bool or floating; undefined for none
  /// A score and a mask function; nullptr for none.
  std::shared_ptr<const TracedFunction> score = {}, visible = {};
  std::int64_t group = 1;  // heads of the query for each head of key and value

  bool has_functions() const noexcept { return score || visible; }
};

/// 1 / sqrt(head_dim), unless a factor is given.
double scale_of(const Tensor& query, const std::optional<double>& scale);

/// How many heads of the query share one of key and value: 1 unless `enable_gqa`. ShapeError where
/// the heads do not divide.
std::int64_t group_of(const char* operation, const Tensor& query, const Tensor& key,
                      const Tensor& value, bool enable_gqa);

/// The leading dimensions of a stack of matrices, the last of them (heads) repeated.
Shape batch_shape(const Tensor& matrices, std::int64_t group = 1);

/// The shape of the weights, (..., queries, keys). ShapeError and DTypeError where query, key and
/// value do not fit, Error for dropout_p outside of [0, 1].
Shape check_inputs(const char* operation, const Tensor& query, const Tensor& key,
                   const Tensor& value, std::int64_t group, double dropout_p);

/// Heads in a batch, given the shape of the weights.
inline std::int64_t heads_of(const Shape& weights) {
  return weights.rank() > 2 ? weights[weights.rank() - 3] : 1;
}

}  // namespace tend::attention
