#include <tend/attention/functions/scaled_dot_product.h>

#include <utility>

#include <tend/attention/functions/composed.h>
#include <tend/attention/functions/fused.h>
#include <tend/attention/functions/mask.h>
#include <tend/attention/functions/scores.h>
#include <tend/autograd/graph/naming.h>
#include <tend/core/base/thread_number.h>

namespace tend::attention {
namespace {

constexpr const char* kName = "scaled_dot_product_attention";

thread_local AttentionPath preferred_path = AttentionPath::automatic;

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
  detail::check_mask(kName, options.attn_mask, scores);
  if (!(options.dropout_p >= 0 && options.dropout_p <= 1)) {
    fail(kName, "dropout_p must lie in [0, 1], got ", options.dropout_p);
  }
}

// Whether to take the fused path; Error where it was asked for and cannot be taken.
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

}  // namespace

AttentionPathGuard::AttentionPathGuard(AttentionPath path) noexcept
    : before_(std::exchange(preferred_path, path)), thread_(thread_number()) {}

AttentionPathGuard::~AttentionPathGuard() {
  if (thread_ == thread_number()) preferred_path = before_;
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
