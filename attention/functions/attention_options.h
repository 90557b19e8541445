/// \file
/// How attention is computed, and what it gives.
#pragma once

#include <cstdint>
#include <optional>

#include <tend/autograd/tensor/tensor.h>

namespace tend::attention {

/// A context vector for each query, and the weights that made it.
struct AttentionOutput {
  Tensor context;  ///< (..., queries, value_dim)
  Tensor weights;  ///< (..., queries, keys), after dropout
};

/// How attention is computed. Both ways give the same numbers but for rounding, where inputs are
/// finite (a mask's -inf aside); NaN and infinities may spread in different ways.
enum class AttentionPath {
  automatic,  ///< the faster one
  fused,      ///< in tiles, without ever holding the weights: memory grows with T, not with T * S
  composed    ///< of public operations
};

/// While it lives, AttentionPath::automatic means `path` on this thread. Destroy it on the thread
/// that made it.
class AttentionPathGuard {
 public:
  [[nodiscard]] explicit AttentionPathGuard(AttentionPath path) noexcept;
  ~AttentionPathGuard();
  AttentionPathGuard(const AttentionPathGuard&) = delete;
  AttentionPathGuard& operator=(const AttentionPathGuard&) = delete;

 private:
  AttentionPath before_;
};

/// How queries see keys, in the order of PyTorch's arguments.
struct AttentionOptions {  // NOLINT(clang-analyzer-optin.performance.Padding): in this order
  /// Undefined; or bool, true where a query may attend; or floating, added to the scaled scores
  /// (-inf hides). It broadcasts to (..., queries, keys).
  Tensor attn_mask = {};
  /// Probability with which a weight is dropped; drawn whenever it is not 0, so pass 0 outside of
  /// training.
  double dropout_p = 0.0;
  /// Query i sees keys 0 to i (aligned top-left, as in PyTorch). May be combined with a mask.
  Flag is_causal = false;
  /// Factor of the scores; 1 / sqrt(head_dim) when not given.
  std::optional<double> scale = {};
  /// Each head of key and value serves several consecutive heads of the query.
  Flag enable_gqa = false;
  AttentionPath path = AttentionPath::automatic;
  /// Under is_causal, query i sees keys 0 to query_offset + i. Error for a negative one.
  std::int64_t query_offset = 0;
};

}  // namespace tend::attention
