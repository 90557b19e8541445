#include <tend/attention/functions/fused.h>

#include <tend/attention/expressions/derivative.h>
#include <tend/attention/functions/composed.h>
#include <tend/autograd/graph/engine.h>
#include <tend/autograd/ops/helpers.h>
#include <tend/core/kernels/attention/attention_backward.h>

namespace tend::attention {
namespace {

Array expand_leading(const Tensor& x, const Shape& leading) {
  return x.array().expand(with_matrix(leading, x.size(-2), x.size(-1)));
}

// An uninitialised array (..., heads, T, D) with the layout of `like`. If `like` is a view of (...,
// T, heads, D), so is the result. The heads of the result can then be merged without a copy.
Array empty_like_heads(const Tensor& like, const Shape& shape) {
  const Shape& strides = like.array().strides();
  const std::int64_t rank = like.dim();
  const bool split = rank >= 3 && rank == shape.rank() && strides[rank - 3] < strides[rank - 2];
  if (!split) return Array::empty(shape, like.dtype());
  Shape memory = shape;
  std::swap(memory[rank - 3], memory[rank - 2]);
  return Array::empty(memory, like.dtype()).transpose(-3, -2);
}

// The programs of a call's functions, for scores of one dtype.
struct Programs {
  std::optional<kernels::TileProgram> score, mask;

  Programs(const AttentionCall& call, DType dtype) {
    if (call.score_function) score = call.score_function->program(dtype);
    if (call.mask_function) mask = call.mask_function->program(dtype);
  }
};

kernels::AttentionRule rule_of(const AttentionCall& call, const Tensor& query,
                               const Programs& programs, const Array& kept) {
  return {.scale = call.scale,
          .is_causal = call.is_causal,
          .position = call.query_offset,
          .mask = call.mask.defined() ? call.mask.array().expand(call.weights) : Array(),
          .kept = kept,
          .keep_factor = kept_factor(query.dtype(), call.dropout_p),
          .heads_per_key_head = call.heads_per_key_head,
          .functions = {programs.score ? &*programs.score : nullptr,
                        programs.mask ? &*programs.mask : nullptr}};
}

// Indices of the saved tensors. The tables of the score function follow, then the tables of the
// mask function.
constexpr std::size_t kQuery = 0, kKey = 1, kValue = 2, kMask = 3, kContext = 4, kLogSums = 5,
                      kKept = 6, kTables = 7;
// The index of the first table among the inputs. The inputs before it are query, key and value.
constexpr std::size_t kTableInputs = 3;

// A copy of the function in which replace(table) replaces each table.
template <class F>
std::shared_ptr<const TracedFunction> with_tables(
    const std::shared_ptr<const TracedFunction>& function, F replace) {
  if (!function) return {};
  TracedFunction own = *function;
  for (Tensor& table : own.tables) table = replace(table);
  own.sizes.clear();  // already checked; the entries would keep the tables alive
  return std::make_shared<const TracedFunction>(std::move(own));
}

// The call without its tensors, which the graph saves by itself.
AttentionCall without_tensors(AttentionCall call) {
  const auto none = [](const Tensor&) { return Tensor(); };
  call.mask = {};
  call.score_function = with_tables(call.score_function, none);
  call.mask_function = with_tables(call.mask_function, none);
  return call;
}

// The call with the saved tensors.
AttentionCall saved_call(const Derivative& d, AttentionCall call) {
  call.mask = d.saved(kMask);
  std::size_t next = kTables;
  const auto saved = [&](const Tensor&) { return d.saved(next++); };
  call.score_function = with_tables(call.score_function, saved);
  call.mask_function = with_tables(call.mask_function, saved);
  return call;
}

void fused_gradients(Derivative& d, const AttentionCall& call) {
  const Tensor query = d.saved(kQuery), key = d.saved(kKey), value = d.saved(kValue);
  const auto empty_for = [&](const Tensor& input, const Shape& leading, std::size_t i) {
    if (!d.needs(i)) return Array();
    return empty_like_heads(input, with_matrix(leading, input.size(-2), input.size(-1)));
  };
  kernels::AttentionGradients gradients = {empty_for(query, query_leading(call), kQuery),
                                           empty_for(key, key_leading(call), kKey),
                                           empty_for(value, key_leading(call), kValue)};
  const Programs programs(call, query.dtype());
  std::optional<kernels::ScoreDerivative> derivative;
  if (call.score_function) {
    const TracedDerivative traced = differentiate(*call.score_function);
    derivative = {traced.function.program(query.dtype()), traced.lookups};
    for (std::size_t i = 0; i < call.score_function->tables.size(); ++i) {
      const Shape& shape = call.score_function->tables[i].shape();
      gradients.tables.push_back(d.needs(kTableInputs + i) ? Array::empty(shape, float64)
                                                           : Array());
    }
  }
  const Tensor kept = d.saved(kKept);
  kernels::attention_backward(
      gradients, d.grad().array(), d.saved(kContext).array(), d.saved(kLogSums).array(),
      expand_leading(query, query_leading(call)), expand_leading(key, key_leading(call)),
      expand_leading(value, key_leading(call)),
      rule_of(call, query, programs, kept.defined() ? kept.array() : Array()),
      derivative ? &*derivative : nullptr);
  if (d.needs(kQuery)) d.set(kQuery, Tensor(gradients.query));
  if (d.needs(kKey)) d.set(kKey, Tensor(gradients.key));
  if (d.needs(kValue)) d.set(kValue, Tensor(gradients.value));
  for (std::size_t i = 0; i < gradients.tables.size(); ++i) {
    if (d.needs(kTableInputs + i)) d.set(kTableInputs + i, Tensor(gradients.tables[i]));
  }
}

// Computes the gradients by public operations, so that they can be differentiated again.
void composed_gradients(Derivative& d, AttentionCall call) {
  // Two inputs may be the same tensor. Each input has its own gradient, so it needs its own handle.
  std::vector<Tensor> inputs;
  const auto own = [&inputs](const Tensor& x) { return inputs.emplace_back(x.view(x.shape())); };
  const Tensor query = own(d.saved(kQuery)), key = own(d.saved(kKey)), value = own(d.saved(kValue));
  call.score_function = with_tables(call.score_function, own);
  const Tensor kept = d.saved(kKept);
  const Tensor context =
      composed_attention(call, query, key, value, kept.defined() ? kept.array() : Array()).context;
  std::vector<Tensor> wanted;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (d.needs(i)) wanted.push_back(inputs[i]);
  }
  const std::vector<Tensor> gradients =
      autograd::grad({context}, wanted, {d.grad()}, {.create_graph = true, .allow_unused = true});
  std::size_t next = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (d.needs(i)) d.set(i, gradients[next++]);
  }
}

// The scaled score at a row-major position of the weights.
Tensor score_at(const AttentionCall& call, const Tensor& query, const Tensor& key,
                std::int64_t position) {
  const WeightPlace place = weight_place(call.weights, position);
  const auto row = [](Array stack, std::int64_t index, std::int64_t i) {
    for (std::int64_t d = stack.rank() - 3; d >= 0; --d) {
      const std::int64_t size = stack.size(d);
      stack = stack.select(d, index % size);
      index /= size;
    }
    return Tensor(stack.select(0, i));
  };
  const Tensor q = row(expand_leading(query, query_leading(call)), place.head, place.query);
  const Tensor k =
      row(expand_leading(key, key_leading(call)), place.head / call.heads_per_key_head, place.key);
  return (q * k).sum() * call.scale;
}

bool records_gradient(const Tensor& query, const Tensor& key, const Tensor& value) {
  return grad_enabled() && (query.requires_grad() || key.requires_grad() || value.requires_grad());
}

}  // namespace

std::string fused_obstacle(const AttentionCall& call, const Tensor& query, const Tensor& key,
                           const Tensor& value) {
  if (!broadcasts_to(batch_shape(value, call.heads_per_key_head), query_leading(call))) {
    return as_text("value ", value.shape(), " has more leading dimensions than the weights, ",
                   call.weights);
  }
  if (call.mask.defined() && call.mask.dtype() != boolean) {
    if (call.mask.dtype() != query.dtype()) {
      return as_text("the mask is ", call.mask.dtype(), " but the query is ", query.dtype());
    }
    if (grad_enabled() && call.mask.requires_grad()) return "the mask requires grad";
  }
  if (call.dropout_p == 1) return "dropout_p is 1";
  if (call.query_offset > 0 && records_gradient(query, key, value)) {
    return "there is no gradient with a query_offset";
  }
  return {};
}

// Measurements, as time of composed / time of fused, for one head of size 64, on two cores of a
// Sapphire Rapids Xeon:
//
//     queries   keys   forward   forward and backward
//           3      3       2.0                    1.8
//          15     15       3.1                    1.5
//           1     64       0.8                   0.38
//           1   1024       0.8                    0.4
//          15   1024      0.64                   0.75
//
// On a Zen 5, with a causal mask (benchmarks/attention.cpp), the two quotients are 2.3 and 1.3 for
// 16 tokens, 2.7 and 1.9 for 256, and 3.9 and 2.6 for 1024.
//
// The backward computes 16 queries at a time, and functions are evaluated for 64 at a time, even if
// there are fewer queries. So the fused path does not pay for few queries and many keys. One query
// of 8 heads over 1024 keys with linear biases takes 422 us fused and 81 us composed, on two cores
// of a Zen 4; the results differ by up to 2.4e-7.
//
// A forward without a gradient and without functions is always fused, because the bits of the fused
// result depend neither on the number of queries nor on later keys.
bool fused_pays(const AttentionCall& call, const Tensor& query, const Tensor& key,
                const Tensor& value) {
  return !(records_gradient(query, key, value) || call.has_functions()) || query.size(-2) >= 16 ||
         key.size(-2) <= 4 * query.size(-2);
}

Tensor fused_attention(const AttentionCall& call, const Tensor& query, const Tensor& key,
                       const Tensor& value, Tensor kept) {
  Array context =
      empty_like_heads(query, with_matrix(query_leading(call), query.size(-2), value.size(-1)));
  const Tensor log_sums = empty(with_matrix(query_leading(call), 2, query.size(-2)), query.dtype());
  const Programs programs(call, query.dtype());
  if (!kept.defined()) kept = draw_kept_weights(call);
  const std::int64_t fault = kernels::attention(
      context, log_sums.array(), expand_leading(query, query_leading(call)),
      expand_leading(key, key_leading(call)), expand_leading(value, key_leading(call)),
      rule_of(call, query, programs, kept.defined() ? kept.array() : Array()));
  if (fault >= 0) fail_at_fault(call, score_at(call, query, key, fault), fault);
  if (!grad_enabled()) return Tensor(std::move(context));
  std::vector<TensorRef> inputs{query, key, value};
  std::vector<TensorRef> saved{query, key, value, call.mask, kOutput, log_sums, kept};
  for (const auto& function : {call.score_function, call.mask_function}) {
    if (!function) continue;
    for (const Tensor& table : function->tables) {
      if (function == call.score_function) inputs.emplace_back(table);
      saved.emplace_back(table);
    }
  }
  return record(
      call.grad_fn, std::move(context), std::span<const TensorRef>(inputs),
      std::span<const TensorRef>(saved),
      [call = without_tensors(call)](Derivative& d) {
        if (grad_enabled()) {
          composed_gradients(d, saved_call(d, call));
        } else {
          fused_gradients(d, saved_call(d, call));
        }
      },
      call.operation);
}

}  // namespace tend::attention
