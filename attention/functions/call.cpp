#include <tend/attention/functions/call.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include <tend/attention/functions/composed.h>
#include <tend/attention/functions/fused.h>
#include <tend/autograd/ops/helpers.h>

namespace tend::attention {
namespace {

// 1 / sqrt(head_dim), unless a factor is given.
double scale_of(const Tensor& query, const std::optional<double>& scale) {
  // Heads of no numbers have scores of 0, whatever their scale.
  const std::int64_t dim = std::max<std::int64_t>(1, query.size(-1));
  return scale.value_or(1 / std::sqrt(static_cast<double>(dim)));
}

// How many heads of the query share one of key and value: 1 unless `enable_gqa`. ShapeError where
// the heads do not divide.
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
                     " are no multiple of the ", shared, " heads of key ", key.shape(),
                     " in dimension -3");
  }
  return std::max<std::int64_t>(1, heads / shared);
}

// Whether heads of the query could share those of key, as they do with enable_gqa.
bool could_share_heads(const Tensor& query, const Tensor& key) {
  if (query.dim() < 3 || key.dim() < 3) return false;
  const std::int64_t heads = query.size(-3), shared = key.size(-3);
  return shared > 1 && heads > shared && heads % shared == 0;
}

// The leading dimensions of the weights; ShapeError where those of the inputs do not broadcast.
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
      hint ? "; with enable_gqa, heads of the query share those of key and value" : "");
}

// The shape of the weights, (..., queries, keys), once query, key and value are known to fit.
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

// Whether to take the fused path; Error where it was asked for and cannot be taken.
bool takes_fused(const AttentionCall& call, AttentionPath path, const Tensor& query,
                 const Tensor& key, const Tensor& value) {
  if (path == AttentionPath::automatic) path = preferred_path;
  if (path == AttentionPath::composed) return false;
  if (path == AttentionPath::automatic && !fused_pays(call, query, key, value)) return false;
  const std::string obstacle = fused_obstacle(call, query, key, value);
  if (obstacle.empty()) return true;
  if (path == AttentionPath::fused) {
    fail(call.operation, "the fused path does not do this: ", obstacle);
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

Tensor attend(const AttentionCall& call, AttentionPath path, const Tensor& query, const Tensor& key,
              const Tensor& value, const Tensor& kept) {
  if (takes_fused(call, path, query, key, value)) {
    return fused_attention(call, query, key, value, kept);
  }
  return composed_attention(call, query, key, value, kept.defined() ? kept.array() : Array())
      .context;
}

}  // namespace tend::attention
