/// \file
/// The options of attention functions, and the results that they return.
#pragma once

#include <cstdint>
#include <optional>

#include <tend/autograd/tensor/tensor.h>

namespace tend::attention {

/// A context vector for each query, and the attention weights that produced it.
struct AttentionOutput {
  Tensor context;  ///< (..., queries, value_dim)
  Tensor weights;  ///< (..., queries, keys), after dropout
};

/// How attention is computed.
///
/// If all inputs are finite (a mask may contain -inf), both paths give the same numbers up to
/// rounding. NaN and infinities in the inputs may spread differently.
enum class AttentionPath {
  automatic,  ///< chooses the faster path
  fused,      ///< computes tiles and stores no weights, so memory grows linearly with the tokens
  composed    ///< uses public operations, and stores the weights
};

/// While the guard exists, AttentionPath::automatic means `path` on this thread. Destroy it on the
/// thread that created it.
class AttentionPathGuard {
 public:
  [[nodiscard]] explicit AttentionPathGuard(AttentionPath path) noexcept;
  ~AttentionPathGuard();
  AttentionPathGuard(const AttentionPathGuard&) = delete;
  AttentionPathGuard& operator=(const AttentionPathGuard&) = delete;

 private:
  AttentionPath before_;
};

/// The options of scaled_dot_product_attention, in the order of PyTorch's arguments.
struct AttentionOptions {  // NOLINT(clang-analyzer-optin.performance.Padding): in this order
  /// The mask, which broadcasts to (..., queries, keys). bool: true where a query may attend to a
  /// key. Floating: added to the scaled scores, so that -inf hides a key. Undefined: no mask.
  Tensor attn_mask = {};
  /// The probability that a weight is dropped. Dropout is applied whenever this is not 0, so pass 0
  /// outside of training.
  double dropout_p = 0.0;
  /// Query i sees keys 0 to i (aligned at the top left, as in PyTorch). is_causal may be combined
  /// with a mask.
  Flag is_causal = false;
  /// The factor of the scores. The default is 1 / sqrt(head_dim).
  std::optional<double> scale = {};
  /// Several consecutive heads of the query share one head of key and value.
  Flag enable_gqa = false;
  AttentionPath path = AttentionPath::automatic;
  /// With is_causal, query i sees keys 0 to query_offset + i. A negative offset is an Error.
  std::int64_t query_offset = 0;
};

}  // namespace tend::attention
