// The work that tend's and libtorch's workers do by the same calls, since tend has PyTorch's names.
//
// A source must first include its library's header, tend.h or torch.h. The header defines Tensor,
// Sizes, InferenceGuard, make_tensor, add_tensor, clear_gradient and gradients. Other functions,
// such as softmax, are found through the namespace of their arguments.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../attention_work.h"
#include "../inputs.h"
#include "../worker.h"

namespace compare {

inline Tensor random_tensor(std::uint64_t seed, Sizes shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return make_tensor(random_values(seed, count), shape);
}

/// Random token ids of shape (batch, length).
inline Tensor random_text(std::uint64_t seed, std::int64_t batch, std::int64_t length,
                          std::int64_t vocabulary) {
  return make_tensor(random_tokens(seed, batch * length, vocabulary), {batch, length});
}

/// Random heads, as attention uses them: a view of (B, T, H * D) as (B, H, T, D).
inline Tensor random_heads(std::uint64_t seed, std::int64_t batch, std::int64_t heads,
                           std::int64_t length, std::int64_t width) {
  return random_tensor(seed, {batch, length, heads, width}).transpose(1, 2);
}

/// Parameters with the names of tend's modules. Their values depend only on the seed and the name.
class Parameters {
 public:
  explicit Parameters(std::uint64_t seed) : seed_(seed) {}

  Tensor matrix(const std::string& name, std::int64_t rows, std::int64_t columns) {
    return make(name, {rows, columns}, rows, columns);
  }
  Tensor vector(const std::string& name, std::int64_t size) { return make(name, {size}, 1, size); }
  const std::vector<Tensor>& all() const { return all_; }
  const std::map<std::string, Tensor>& by_name() const { return by_name_; }

 private:
  Tensor make(const std::string& name, Sizes shape, std::int64_t rows, std::int64_t columns) {
    Tensor tensor = make_tensor(parameter_values(seed_, name, rows, columns), shape);
    all_.push_back(tensor.requires_grad_(true));
    by_name_[name] = tensor;
    return tensor;
  }

  std::uint64_t seed_;
  std::vector<Tensor> all_;
  std::map<std::string, Tensor> by_name_;
};

/// The Task that calls f() without a graph. Each result is freed before the next call, as in a
/// chain of operations.
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
  if (w.kind == "attend_query") {  // keys and values have the layout of a cache
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

/// The call of a module, and its parameters in the order in which their gradients are compared.
struct Module {
  std::function<Tensor(const Tensor&)> call;
  std::vector<Tensor> parameters;
};

// Each library's worker defines these functions.
Module causal_attention(const Work& work, std::uint64_t seed);
Task training_step(const Work& work, std::uint64_t seed);
Task lab_step(const Work& work, std::uint64_t seed);
Task lens_run(const Work& work, std::uint64_t seed);
Task masked_attention(const Work& work, std::uint64_t seed);
Task generation(const Work& work, std::uint64_t seed);

inline Task attention_forward(const Work& w, std::uint64_t seed) {
  const Tensor x = random_tensor(seed, {w[0], w[1], w[2]});
  return forward_task([module = causal_attention(w, seed), x] { return module.call(x); });
}

inline Task attention_backward(const Work& w, std::uint64_t seed) {
  const Module module = causal_attention(w, seed);
  const Tensor x = random_tensor(seed, {w[0], w[1], w[2]});
  const Tensor cotangent = random_tensor(seed + 1, {w[0], w[1], w[3]});
  const auto both = [module, x, cotangent] {
    for (const Tensor& parameter : module.parameters) clear_gradient(parameter);
    Tensor out = module.call(x);
    out.backward(cotangent);
    return out;
  };
  return make_task(both, [both, module](Result& result) {
    add_tensor(result, both());
    for (const Tensor& parameter : module.parameters) add_tensor(result, parameter.grad());
  });
}

/// The Task of a training step. training->step() does a step and returns the loss.
///
/// The losses of three steps are compared. After the first step, the gradients of
/// training->parameters_by_name() are compared as well.
template <class Training>
Task training_task(const std::shared_ptr<Training>& training) {
  return make_task([training] { training->step(); },
                   [training](Result& result) {
                     add_tensor(result, training->step());
                     for (const auto& [name, parameter] : training->parameters_by_name())
                       if (is_checked(name)) add_tensor(result, parameter.grad());
                     for (int i = 0; i < 2; ++i) add_tensor(result, training->step());
                   });
}

/// The Task that calls run() without a graph. run() returns the logits and attention patterns that
/// are compared.
template <class Run>
Task lens_task(Run run) {
  const auto once = [run] {
    const InferenceGuard guard;
    return run();
  };
  return make_task(once, [once](Result& result) {
    for (const Tensor& each : once()) add_tensor(result, each);
  });
}

using Attend = std::function<Tensor(const HeadInputs&)>;

/// 1 for queries that are tokens, 0 for queries that are padding, which are not compared.
inline Tensor token_queries(const AttentionWork& w) {
  std::vector<float> values;
  for (const std::int64_t length : sequence_lengths(w)) {
    for (std::int64_t i = 0; i < w.queries; ++i) values.push_back(i < length ? 1.0F : 0.0F);
  }
  return make_tensor(values, {w.batch, 1, w.queries, 1});
}

/// The Task that computes the context and, if `w.both`, the gradients of query, key and value.
inline Task attention_task(const AttentionWork& w, std::uint64_t seed, const HeadInputs& inputs,
                           const Attend& attend_once) {
  const Tensor read = w.is_padded() ? token_queries(w) : Tensor();
  const auto as_read = [read](const Tensor& x) { return read.defined() ? x * read : x; };
  if (!w.both) {
    Task task = forward_task([=] { return attend_once(inputs); });
    task.result = [=](Result& result) {
      const InferenceGuard guard;
      add_tensor(result, as_read(attend_once(inputs)));
    };
    return task;
  }
  const std::vector<Tensor> leaves{inputs.query, inputs.key, inputs.value};
  for (Tensor leaf : leaves) leaf.requires_grad_(true);
  const Tensor cotangent = as_read(random_heads(seed + 3, w.batch, w.heads, w.queries, w.width));
  const auto both = [=] {
    Tensor context = attend_once(inputs);
    std::vector<Tensor> found = gradients(context, leaves, cotangent);
    return std::make_pair(std::move(context), std::move(found));
  };
  return make_task(both, [=](Result& result) {
    const auto [context, found] = both();
    add_tensor(result, as_read(context));
    for (const Tensor& gradient : found) add_tensor(result, gradient);
  });
}

/// The Task of any operation.
inline Task prepare(const Work& w, const Setup& setup) {
  const std::uint64_t seed = setup.seed;
  if (w.operation == "gemm") return gemm(w, seed);
  if (w.operation == "scores") return scores(w, seed);
  if (w.operation == "context") return context(w, seed);
  if (w.operation == "mha") return attention_forward(w, seed);
  if (w.operation == "mha_grad") return attention_backward(w, seed);
  if (w.operation == "gpt") return training_step(w, seed);
  if (w.operation.starts_with("lab_")) return lab_step(w, seed);
  if (w.operation.starts_with("lens_")) return lens_run(w, seed);
  if (w.operation.starts_with("attend_")) return masked_attention(w, seed);
  if (w.operation.starts_with("generate_")) return generation(w, seed);
  return elementwise(w, seed);
}

}  // namespace compare
