// A checked call of attention, and the choice of its path. Internal.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <tend/attention/expressions/trace.h>
#include <tend/attention/functions/attention_options.h>

namespace tend::attention {

/// The arguments of an attention, checked, for either path.
struct AttentionCall {
  const char* operation;
  const char* grad_fn = nullptr;  // of the fused path
  double scale = 1;
  double dropout_p = 0;
  bool is_causal = false;
  std::int64_t query_offset = 0;  // of query 0 among the keys, for is_causal
  Tensor mask = {};               // bool or floating, or undefined
  std::shared_ptr<const TracedFunction> score_function = {}, mask_function = {};  // or nullptr
  std::int64_t heads_per_key_head = 1;  // heads of the query for each head of key and value
  Shape weights = {};                   // (..., queries, keys)

  bool has_functions() const noexcept { return score_function || mask_function; }
};

/// The leading dimensions of a stack of matrices, the last of them (heads) multiplied.
Shape batch_shape(const Tensor& matrices, std::int64_t heads_per_head = 1);

/// A call with what these arguments say; the rest is to be filled in. ShapeError and DTypeError
/// where query, key and value do not fit, Error for dropout_p outside of [0, 1].
AttentionCall attention_call(const char* operation, const Tensor& query, const Tensor& key,
                             const Tensor& value, double dropout_p,
                             const std::optional<double>& scale, bool enable_gqa);

/// Heads in a batch, given the shape of the weights.
inline std::int64_t heads_of(const Shape& weights) {
  return weights.rank() > 2 ? weights[weights.rank() - 3] : 1;
}

/// The leading dimensions of the query in a call, and those of key and value.
Shape query_leading(const AttentionCall& call);
Shape key_leading(const AttentionCall& call);

/// Which weights dropout keeps (draw_kept); undefined where none are dropped, or there are none, as
/// then no random numbers are drawn.
Tensor draw_kept_weights(const AttentionCall& call);

/// Computes the context on the path that is asked for (Error if that path cannot), or on the faster
/// one. Dropout keeps the weights in `kept` (draw_kept), or draws them if `kept` is undefined.
Tensor attend(const AttentionCall& call, AttentionPath path, const Tensor& query, const Tensor& key,
              const Tensor& value, const Tensor& kept = Tensor());

}  // namespace tend::attention
