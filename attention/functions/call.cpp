#include <tend/attention/functions/call.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <tend/attention/functions/composed.h>
#include <tend/attention/functions/fused.h>
#include <tend/attention/functions/masked_softmax.h>
#include <tend/autograd/ops/helpers.h>
#include <tend/nn/module/hook_point.h>

namespace tend::attention {
namespace {

// `scale`, or 1 / sqrt(head_dim) if it is not given.
double scale_of(const Tensor& query, const std::optional<double>& scale) {
  // If heads have size 0, all scores are 0, whatever their scale.
  const std::int64_t dim = std::max<std::int64_t>(1, query.size(-1));
  return scale.value_or(1 / std::sqrt(static_cast<double>(dim)));
}

// How many heads of the query share one head of key and value: 1 without `enable_gqa`. Throws a
// ShapeError if the numbers of heads do not divide.
std::int64_t query_heads_per_key_head(const char* operation, const Tensor& query, const Tensor& key,
                                      const Tensor& value, bool enable_gqa) {
  if (!enable_gqa) return 1;
  if (query.dim() < 3 || key.dim() < 3 || value.dim() < 3) {
    fail<ShapeError>(operation, "enable_gqa needs heads in dimension -3 of query ", query.shape(),
                     ", key ", key.shape(), " and value ", value.shape());
  }
  const std::int64_t heads = query.size(-3), shared = key.size(-3);
  if (value.size(-3) != shared) {
    fail<ShapeError>(operation, "key ", key.shape(), " and value ", value.shape(),
                     " differ in dimension -3, the heads");
  }
  if (heads == shared) return 1;
  if (shared == 0 || heads % shared != 0) {
    fail<ShapeError>(operation, "the ", heads, " heads of query ", query.shape(),
                     " are not a multiple of the ", shared, " heads of key ", key.shape(),
                     " in dimension -3");
  }
  return std::max<std::int64_t>(1, heads / shared);
}

// True if heads of the query could share the heads of key with enable_gqa.
bool could_share_heads(const Tensor& query, const Tensor& key) {
  if (query.dim() < 3 || key.dim() < 3) return false;
  const std::int64_t heads = query.size(-3), shared = key.size(-3);
  return shared > 1 && heads > shared && heads % shared == 0;
}

// The leading dimensions of the weights. Throws a ShapeError if the inputs do not broadcast.
Shape broadcast_leading(const char* operation, const Tensor& query, const Tensor& key,
                        const Tensor& value, std::int64_t heads_per_key_head) try {
  const Shape leading =
      broadcast_shapes(operation, batch_shape(query), batch_shape(key, heads_per_key_head));
  broadcast_shapes(operation, leading, batch_shape(value, heads_per_key_head));
  return leading;
} catch (const ShapeError&) {
  const bool hint = heads_per_key_head == 1 && could_share_heads(query, key);
  fail<ShapeError>(
      operation, "the leading dimensions of query ", query.shape(), ", key ", key.shape(),
      " and value ", value.shape(), " do not broadcast",
      hint ? "; with enable_gqa, heads of the query share the heads of key and value" : "");
}

// Checks query, key and value, and returns the shape of the weights: (..., queries, keys).
Shape checked_weights(const char* operation, const Tensor& query, const Tensor& key,
                      const Tensor& value, std::int64_t heads_per_key_head, double dropout_p) {
  if (query.dim() < 2 || key.dim() < 2 || value.dim() < 2) {
    fail<ShapeError>(operation, "query ", query.shape(), ", key ", key.shape(), " and value ",
                     value.shape(), " need two dimensions or more");
  }
  if (query.dtype() != key.dtype() || query.dtype() != value.dtype() ||
      !is_floating(query.dtype())) {
    fail<DTypeError>(operation, "query ", query.dtype(), ", key ", key.dtype(), " and value ",
                     value.dtype(), " must have one floating dtype");
  }
  if (query.size(-1) != key.size(-1)) {
    fail<ShapeError>(operation, "query ", query.shape(), " and key ", key.shape(),
                     " differ in dimension -1");
  }
  if (key.size(-2) != value.size(-2)) {
    fail<ShapeError>(operation, "key ", key.shape(), " and value ", value.shape(),
                     " differ in dimension -2");
  }
  const Shape leading = broadcast_leading(operation, query, key, value, heads_per_key_head);
  check_dropout(operation, dropout_p);
  return with_matrix(leading, query.size(-2), key.size(-2));
}

thread_local AttentionPath preferred_path = AttentionPath::automatic;

// True if the call uses the fused path. Throws an Error if the path was requested but cannot be
// used.
bool takes_fused(const AttentionCall& call, AttentionPath path, const Tensor& query,
                 const Tensor& key, const Tensor& value) {
  if (path == AttentionPath::automatic) path = preferred_path;
  if (path == AttentionPath::composed) return false;
  if (path == AttentionPath::automatic && !fused_pays(call, query, key, value)) return false;
  const std::string obstacle = fused_obstacle(call, query, key, value);
  if (obstacle.empty()) return true;
  if (path == AttentionPath::fused) {
    fail(call.operation, "the fused path cannot compute this: ", obstacle);
  }
  return false;
}

}  // namespace

Shape batch_shape(const Tensor& matrices, std::int64_t heads_per_head) {
  Shape shape = leading_shape(matrices.shape());
  if (heads_per_head > 1) shape[shape.rank() - 1] *= heads_per_head;
  return shape;
}

AttentionCall attention_call(const char* operation, const Tensor& query, const Tensor& key,
                             const Tensor& value, double dropout_p,
                             const std::optional<double>& scale, bool enable_gqa) {
  const std::int64_t shared = query_heads_per_key_head(operation, query, key, value, enable_gqa);
  const Shape weights = checked_weights(operation, query, key, value, shared, dropout_p);
  return {.operation = operation,
          .scale = scale_of(query, scale),
          .dropout_p = dropout_p,
          .heads_per_key_head = shared,
          .weights = weights};
}

Shape query_leading(const AttentionCall& call) {
  return leading_shape(call.weights);
}

Shape key_leading(const AttentionCall& call) {
  Shape leading = query_leading(call);
  if (call.heads_per_key_head > 1) leading[leading.rank() - 1] /= call.heads_per_key_head;
  return leading;
}

Tensor draw_kept_weights(const AttentionCall& call) {
  const std::int64_t count = element_count(call.weights);
  if (call.dropout_p == 0 || count == 0) return {};
  return Tensor(draw_kept(count, call.dropout_p, default_generator()));
}

AttentionPathGuard::AttentionPathGuard(AttentionPath path) noexcept
    : before_(std::exchange(preferred_path, path)) {}

AttentionPathGuard::~AttentionPathGuard() {
  preferred_path = before_;
}

namespace {

// The points inside attention at which hooks can read and replace tensors.
constexpr nn::HookPoint kScores("hook_attn_scores"), kPattern("hook_pattern"), kZ("hook_z");

Tensor attend_unheard(const AttentionCall& call, AttentionPath path, const Tensor& query,
                      const Tensor& key, const Tensor& value, const Tensor& kept) {
  if (takes_fused(call, path, query, key, value)) {
    return fused_attention(call, query, key, value, kept);
  }
  return composed_attention(call, query, key, value, kept.defined() ? kept.array() : Array())
      .context;
}

// The values for these heads of the query, or for all heads if the list is empty.
Tensor values_of(const AttentionCall& call, const Tensor& value,
                 const std::vector<std::int64_t>& heads) {
  const std::int64_t shared = call.heads_per_key_head;
  if (heads.empty() && shared == 1) return value;
  const Tensor numbers = heads.empty() ? arange(heads_of(call.weights)) : tensor(heads);
  const Tensor all = value.expand(with_matrix(key_leading(call), value.size(-2), value.size(-1)));
  return index_select(all, -3, floor_divide(numbers, shared));
}

// The heads whose scores or weights a hook receives, in ascending order. An empty list means all.
std::vector<std::int64_t> heard_heads(const AttentionCall& call) {
  std::set<std::int64_t> heads;
  for (const nn::HookPoint& point : {kScores, kPattern}) {
    if (!point.is_heard()) continue;
    const std::vector<std::int64_t> wanted = point.heads();
    if (wanted.empty()) return {};
    heads.insert(wanted.begin(), wanted.end());
  }
  const std::int64_t count = call.weights.rank() > 2 ? heads_of(call.weights) : 0;
  for (const std::int64_t head : heads) {
    if (head < 0 || head >= count)
      fail<IndexError>(call.operation, "there is no head ", head, " to hook: there are ", count);
  }
  return {heads.begin(), heads.end()};
}

// Attention with hooks on some heads. These heads use the composed path. The others use the path
// that the call selects.
Tensor attend_heard(const AttentionCall& call, AttentionPath path, const Tensor& query,
                    const Tensor& key, const Tensor& value, Tensor kept) {
  if (!kept.defined() && call.dropout_p < 1) kept = draw_kept_weights(call);
  const std::vector<std::int64_t> heads = heard_heads(call);
  const Tensor scores = kScores(visible_scores(call, query, key, heads), heads);
  const Tensor pattern = kPattern(masked_softmax(scores, {}), heads);
  const Tensor weights =
      with_dropout(call, pattern, heads, kept.defined() ? kept.array() : Array());
  const Tensor context = matmul(weights, values_of(call, value, heads));
  if (heads.empty()) return context;
  const Tensor others = attend_unheard(call, path, query, key, value, kept);
  return index_copy(others, -3, tensor(heads), context);
}

}  // namespace

Tensor attend(const AttentionCall& call, AttentionPath path, const Tensor& query, const Tensor& key,
              const Tensor& value, const Tensor& kept) {
  if (nn::HookListener::current() == nullptr) [[likely]]
    return attend_unheard(call, path, query, key, value, kept);
  const bool is_heard = kScores.is_heard() || kPattern.is_heard();
  const Tensor z = is_heard ? attend_heard(call, path, query, key, value, kept)
                            : attend_unheard(call, path, query, key, value, kept);
  if (z.dim() < 4) return kZ(z);
  // Hooks receive heads after tokens, as in TransformerLens.
  return kZ(z.transpose(-3, -2)).transpose(-3, -2);
}

}  // namespace tend::attention
