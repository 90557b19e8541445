#include <tend/attention/scaled_dot_product.h>

#include <cmath>
#include <limits>

#include <tend/attention/mask.h>

namespace tend::attention {
namespace {

constexpr const char* kName = "scaled_dot_product_attention";
constexpr double kHidden = -std::numeric_limits<double>::infinity();

Shape batch_shape(const Tensor& matrices) {
  return Shape(std::span(matrices.shape()).first(matrices.shape().size() - 2));
}

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
  scores.push_back(query.size(-2));
  scores.push_back(key.size(-2));
  check_mask(kName, options.mask, scores);
  if (!(options.dropout_p >= 0 && options.dropout_p <= 1)) {
    fail(kName, "dropout_p must lie in [0, 1], got ", options.dropout_p);
  }
}

// Weights before dropout. Under the causal rule alone every query sees the first key, so no row
// needs clearing.
Tensor visible_softmax(const Tensor& scores, const AttentionOptions& options) {
  if (!options.is_causal) return masked_softmax(scores, options.mask);
  const Tensor visible = causal_mask(scores.size(-2), scores.size(-1));
  if (!options.mask.defined()) {
    return softmax(masked_fill(scores, logical_not(visible), kHidden), -1);
  }
  if (options.mask.dtype() == boolean) {
    return masked_softmax(scores, logical_and(options.mask, visible));
  }
  return masked_softmax(scores, masked_fill(options.mask, logical_not(visible), kHidden));
}

}  // namespace

Tensor masked_softmax(const Tensor& scores, const Tensor& mask) {
  check_mask("masked_softmax", mask, scores.shape());
  if (!mask.defined()) return softmax(scores, -1);
  const bool additive = mask.dtype() != boolean;
  const Tensor hidden = additive ? mask.detach() == kHidden : logical_not(mask);
  // Rows without any key are computed as if they had all, and cleared afterwards: no NaN comes up
  // on the way.
  const Tensor empty_rows = hidden.sum({-1}, true) == hidden.size(-1);
  const Tensor visible_scores =
      additive ? scores + masked_fill(mask, empty_rows, 0)
               : masked_fill(scores, logical_and(hidden, logical_not(empty_rows)), kHidden);
  return masked_fill(softmax(visible_scores, -1), empty_rows, 0);
}

AttentionOutput attention_with_weights(const Tensor& query, const Tensor& key, const Tensor& value,
                                       const AttentionOptions& options) {
  check(query, key, value, options);
  const double scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
  const Tensor scores = matmul(query, key.transpose(-2, -1)) * scale;
  const Tensor weights =
      dropout(visible_softmax(scores, options), options.dropout_p, /*training=*/true);
  return {matmul(weights, value), weights};
}

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const AttentionOptions& options) {
  return attention_with_weights(query, key, value, options).context;
}

}  // namespace tend::attention
