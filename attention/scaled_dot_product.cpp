#include <tend/attention/scaled_dot_product.h>

#include <cmath>
#include <limits>
#include <utility>

#include <tend/attention/mask.h>
#include <tend/attention/paths.h>
#include <tend/autograd/naming.h>
#include <tend/autograd/ops.h>
#include <tend/core/thread_number.h>

namespace tend::attention {
namespace {

constexpr const char* kName = "scaled_dot_product_attention";
constexpr double kHidden = -std::numeric_limits<double>::infinity();

thread_local AttentionPath preferred_path = AttentionPath::automatic;

void check_mask(const char* operation, const Tensor& mask, const Shape& scores) {
  if (!mask.defined()) return;
  if (!broadcasts_to(mask.shape(), scores)) {
    fail<ShapeError>(operation, "mask ", mask.shape(), " does not broadcast to the scores ",
                     scores);
  }
  if (mask.dtype() == int64) {
    fail<DTypeError>(operation,
                     "the mask is int64; it must be bool (true: attend) or floating (added)");
  }
}

void check(const Tensor& query, const Tensor& key, const Tensor& value,
           const AttentionOptions& options) {
  if (query.dim() < 2 || key.dim() < 2 || value.dim() < 2) {
    fail<ShapeError>(kName, "query ", query.shape(), ", key ", key.shape(), " and value ",
                     value.shape(), " need two dimensions or more");
  }
  if (query.dtype() != key.dtype() || query.dtype() != value.dtype() ||
      !is_floating(query.dtype())) {
    fail<DTypeError>(kName, "query ", query.dtype(), ", key ", key.dtype(), " and value ",
                     value.dtype(), " must have one floating dtype");
  }
  if (query.size(-1) != key.size(-1)) {
    fail<ShapeError>(kName, "query ", query.shape(), " and key ", key.shape(),
                     " differ in dimension -1");
  }
  if (key.size(-2) != value.size(-2)) {
    fail<ShapeError>(kName, "key ", key.shape(), " and value ", value.shape(),
                     " differ in dimension -2");
  }
  Shape scores = broadcast_shapes(kName, batch_shape(query), batch_shape(key));
  broadcast_shapes(kName, scores, batch_shape(value));  // throws before dropout draws anything
  scores.push_back(query.size(-2));
  scores.push_back(key.size(-2));
  check_mask(kName, options.mask, scores);
  if (!(options.dropout_p >= 0 && options.dropout_p <= 1)) {
    fail(kName, "dropout_p must lie in [0, 1], got ", options.dropout_p);
  }
}

// True when the fused path is to be taken.
bool takes_fused(const Tensor& query, const Tensor& key, const Tensor& value,
                 const AttentionOptions& options) {
  const AttentionPath path =
      options.path == AttentionPath::automatic ? preferred_path : options.path;
  if (path == AttentionPath::composed) return false;
  if (path == AttentionPath::automatic && !fused_pays(query, key)) return false;
  const std::string obstacle = fused_obstacle(query, key, value, options);
  if (obstacle.empty()) return true;
  if (path == AttentionPath::fused) fail(kName, "the fused path does not do this: ", obstacle);
  return false;
}

AttentionOutput composed_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                   const AttentionOptions& options) {
  const Tensor scores = matmul(query, key.transpose(-2, -1)) * scale_of(query, options);
  AttentionOptions own = options;
  if (own.mask.defined() && own.mask.dtype() != boolean) own.mask = own.mask.to(query.dtype());
  const Tensor weights = dropout(visible_softmax(scores, own), own.dropout_p, /*training=*/true);
  return {matmul(weights, value), weights};
}

}  // namespace

AttentionPathGuard::AttentionPathGuard(AttentionPath path) noexcept
    : before_(std::exchange(preferred_path, path)), thread_(thread_number()) {}

AttentionPathGuard::~AttentionPathGuard() {
  if (thread_ == thread_number()) preferred_path = before_;
}

double scale_of(const Tensor& query, const AttentionOptions& options) {
  return options.scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
}

Shape batch_shape(const Tensor& matrices) {
  return Shape(std::span(matrices.shape()).first(matrices.shape().size() - 2));
}

// Under the causal rule alone every query sees the first key, so no row needs clearing.
Tensor visible_softmax(const Tensor& scores, const AttentionOptions& options) {
  if (!options.is_causal) return masked_softmax(scores, options.mask);
  const std::int64_t queries = scores.size(-2), keys = scores.size(-1);
  if (options.mask.defined() && options.mask.dtype() == boolean) {
    return masked_softmax(scores, logical_and(options.mask, causal_mask(queries, keys)));
  }
  const Tensor hidden = triu(ones({queries, keys}, boolean), 1);
  if (!options.mask.defined()) return softmax(masked_fill(scores, hidden, kHidden), -1);
  return masked_softmax(scores, masked_fill(options.mask, hidden, kHidden));
}

Tensor masked_softmax(const Tensor& scores, const Tensor& mask) try {
  check_mask("masked_softmax", mask, scores.shape());
  if (!mask.defined()) return softmax(scores, -1);
  if (mask.dim() == 0) return masked_softmax(scores, mask.view({1}));
  const bool additive = mask.dtype() != boolean;
  const Tensor hidden = additive ? mask.detach() == kHidden : logical_not(mask);
  // Rows without any key are computed as if they had all, and cleared afterwards: no NaN comes up
  // on the way.
  const Tensor empty_rows = hidden.sum({-1}, true) == hidden.size(-1);
  const Tensor visible_scores =
      additive ? scores + masked_fill(mask, empty_rows, 0)
               : masked_fill(scores, logical_and(hidden, logical_not(empty_rows)), kHidden);
  return masked_fill(softmax(visible_scores, -1), empty_rows, 0);
} catch (const Error&) {
  rename_error("masked_softmax");
}

AttentionOutput attention_with_weights(const Tensor& query, const Tensor& key, const Tensor& value,
                                       const AttentionOptions& options) try {
  check(query, key, value, options);
  if (options.path == AttentionPath::fused) {
    fail("attention_with_weights", "the fused path does not make the weights");
  }
  return composed_attention(query, key, value, options);
} catch (const Error&) {
  rename_error("attention_with_weights");
}

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const AttentionOptions& options) try {
  check(query, key, value, options);
  if (takes_fused(query, key, value, options)) return fused_attention(query, key, value, options);
  return composed_attention(query, key, value, options).context;
} catch (const Error&) {
  rename_error("scaled_dot_product_attention");
}

}  // namespace tend::attention
