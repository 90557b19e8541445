// What the workers of tend and of libtorch do by the same calls, as tend's names are PyTorch's. A
// source includes its library's header first, tend.h or torch.h: that says what Tensor,
// InferenceGuard, random_tensor and add_tensor are, and the calls are found by their arguments.
#pragma once

#include <cstdint>
#include <string>

#include "../attention_work.h"
#include "../worker.h"

namespace compare {

/// Heads as attention has them: (B, H, T, D) seen in (B, T, H * D).
inline Tensor random_heads(std::uint64_t seed, std::int64_t batch, std::int64_t heads,
                           std::int64_t length, std::int64_t width) {
  return random_tensor(seed, {batch, length, heads, width}).transpose(1, 2);
}

/// f() without graph. The result of the last call is not kept, as in a chain of operations.
template <class F>
Task forward_task(F f) {
  return {[f](std::int64_t count) {
            const InferenceGuard guard;
            for (std::int64_t i = 0; i < count; ++i) f();
          },
          [f](Result& result) {
            const InferenceGuard guard;
            add_tensor(result, f());
          }};
}

struct HeadInputs {
  Tensor query, key, value;
};

inline HeadInputs random_inputs(const AttentionWork& w, std::uint64_t seed) {
  if (w.kind == "attend_query") {  // keys and values lie as a cache holds them
    return {random_heads(seed, w.batch, w.heads, w.queries, w.width),
            random_tensor(seed + 1, {w.batch, w.kv_heads, w.keys, w.width}),
            random_tensor(seed + 2, {w.batch, w.kv_heads, w.keys, w.width})};
  }
  return {random_heads(seed, w.batch, w.heads, w.queries, w.width),
          random_heads(seed + 1, w.batch, w.kv_heads, w.keys, w.width),
          random_heads(seed + 2, w.batch, w.kv_heads, w.keys, w.width)};
}

inline Task gemm(const Work& w, std::uint64_t seed) {
  const std::int64_t m = w[2], n = w[3], k = w[4];
  const Tensor a = w[0] != 0 ? random_tensor(seed, {k, m}).t() : random_tensor(seed, {m, k});
  const Tensor b =
      w[1] != 0 ? random_tensor(seed + 1, {n, k}).t() : random_tensor(seed + 1, {k, n});
  return forward_task([a, b] { return matmul(a, b); });
}

inline Tensor heads_of(const Work& w, std::uint64_t seed) {
  return random_heads(seed, w[0], w[1], w[2], w[3]);
}

inline Task scores(const Work& w, std::uint64_t seed) {
  return forward_task([q = heads_of(w, seed), k = heads_of(w, seed + 1).transpose(-2, -1)] {
    return matmul(q, k);
  });
}

inline Task context(const Work& w, std::uint64_t seed) {
  return forward_task([p = random_tensor(seed, {w[0], w[1], w[2], w[2]}),
                       v = heads_of(w, seed + 1)] { return matmul(p, v); });
}

inline Task elementwise(const Work& w, std::uint64_t seed) {
  const Tensor x = random_tensor(seed, {w[0], w[1]});
  const std::string& op = w.operation;
  if (op == "exp") return forward_task([x] { return exp(x); });
  if (op == "gelu") return forward_task([x] { return gelu(x); });
  if (op == "copy") return forward_task([x] { return x.clone(); });
  if (op == "transpose") return forward_task([x] { return x.t().contiguous(); });
  if (op == "sum") return forward_task([x] { return x.sum(1); });
  if (op == "softmax") return forward_task([x, dim = w[2]] { return softmax(x, dim); });
  if (op == "add") {
    return forward_task([x, y = random_tensor(seed + 1, {w[0], w[1]})] { return x + y; });
  }
  if (op == "layer_norm") {
    return forward_task(
        [x, n = w[1], weight = random_tensor(seed + 1, {w[1]}),
         bias = random_tensor(seed + 2, {w[1]})] { return layer_norm(x, {n}, weight, bias); });
  }
  return {};
}

// Each library does these in its own way.
Task attention_forward(const Work& work, std::uint64_t seed);
Task attention_backward(const Work& work, std::uint64_t seed);
Task training_step(const Work& work, std::uint64_t seed);
Task masked_attention(const Work& work, std::uint64_t seed);
Task generation(const Work& work, std::uint64_t seed);

/// The task of any work.
inline Task prepare(const Work& w, std::uint64_t seed) {
  if (w.operation == "gemm") return gemm(w, seed);
  if (w.operation == "scores") return scores(w, seed);
  if (w.operation == "context") return context(w, seed);
  if (w.operation == "mha") return attention_forward(w, seed);
  if (w.operation == "mha_grad") return attention_backward(w, seed);
  if (w.operation == "gpt") return training_step(w, seed);
  if (w.operation.starts_with("attend_")) return masked_attention(w, seed);
  if (w.operation.starts_with("generate_")) return generation(w, seed);
  return elementwise(w, seed);
}

}  // namespace compare
