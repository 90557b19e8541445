#include <tend/attention/functions/mask.h>

#include <tend/autograd/ops/ops.h>

namespace tend::attention {

Tensor causal_mask(std::int64_t queries, std::int64_t keys) {
  return tril(ones({queries, keys}, boolean));
}

Tensor causal_mask_bottom_right(std::int64_t queries, std::int64_t keys) {
  const Tensor all = ones({queries, keys}, boolean);  // throws for a negative size
  return tril(all, keys - queries);
}

Tensor future_mask(std::int64_t length) {
  return triu(ones({length, length}), 1);
}

void check_future_mask(const char* owner, const Tensor& mask) {
  if (!equal(mask.to(float32), future_mask(mask.size(0)))) {
    fail(owner, "the loaded mask of shape ", mask.shape(),
         " must have 1 above the diagonal and 0 elsewhere");
  }
}

void detail::check_mask(const char* operation, const Tensor& mask, const Shape& scores) {
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

}  // namespace tend::attention
