// Helpers for the inputs of attention modules: checks, splitting and merging of heads.
// Internal.
#pragma once

#include <tend/autograd/ops/helpers.h>
#include <tend/nn/module/hook_point.h>

namespace tend::attention {

/// Checks that x is (..., T, d_in) with T <= context_length. `module` is the name in messages.
///
/// Throws: ShapeError - x has another shape, or T exceeds context_length
inline void check_tokens(const char* module, const Tensor& x, std::int64_t d_in,
                         std::int64_t context_length) {
  if (x.dim() < 2 || x.size(-1) != d_in) {
    fail<ShapeError>(module, "needs input (..., tokens, ", d_in, "), got ", x.shape());
  }
  if (x.size(-2) > context_length) {
    fail<ShapeError>(module, x.size(-2), " tokens in dimension -2 of ", x.shape(),
                     " exceed the context_length of ", context_length);
  }
}

/// Checks the sizes and the dropout of a module, and returns d_in. Constructors call it before they
/// initialise weights.
///
/// Throws:
///   ShapeError - d_in is below 1, or another size is below 0
///   Error      - dropout is outside [0, 1]
inline std::int64_t checked_d_in(const char* module, std::int64_t d_in, std::int64_t d_out,
                                 std::int64_t context_length, double dropout) {
  if (d_in < 1 || d_out < 0 || context_length < 0) {
    fail<ShapeError>(module, "d_in must be at least 1, d_out and context_length at least 0, got ",
                     d_in, ", ", d_out, " and ", context_length);
  }
  check_dropout(module, dropout);
  return d_in;
}

/// (..., T, heads * head_dim) -> (..., heads, T, head_dim), without a copy.
inline Tensor split_heads(const Tensor& x, std::int64_t heads) {
  return x.unflatten(-1, {heads, -1}).transpose(-3, -2);
}

/// The queries, keys and values that enter attention. Hooks receive them as (..., T, heads,
/// head_dim).
inline constexpr nn::HookPoint kHookQuery("hook_q"), kHookKey("hook_k"), kHookValue("hook_v");

/// Lets hooks read and replace x, which is (..., heads, T, head_dim).
inline Tensor pass_heads(const nn::HookPoint& hook, const Tensor& x) {
  return hook.is_heard() ? hook(x.transpose(-3, -2)).transpose(-3, -2) : x;
}

/// (..., heads, T, head_dim) -> (..., T, heads * head_dim).
inline Tensor merge_heads(const Tensor& x) {
  return x.transpose(-3, -2).contiguous().flatten(-2);
}

}  // namespace tend::attention
