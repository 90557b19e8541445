// In-place twins of autograd/ops/indexing.h; those of advanced_indexing.h stand with their
// operations.
#include <tend/autograd/inplace.h>
#include <tend/autograd/ops.h>

namespace tend::methods {

const Tensor& InPlace::scatter_(std::int64_t d, const Tensor& positions,
                                const Tensor& source) const {
  return in_place("scatter_", self(), {source},
                  [&](const Tensor& self) { return tend::scatter(self, d, positions, source); });
}

const Tensor& InPlace::scatter_(std::int64_t d, const Tensor& positions,
                                const Scalar& value) const {
  return in_place("scatter_", self(), {},
                  [&](const Tensor& self) { return tend::scatter(self, d, positions, value); });
}

const Tensor& InPlace::scatter_add_(std::int64_t d, const Tensor& positions,
                                    const Tensor& source) const {
  return in_place("scatter_add_", self(), {source}, [&](const Tensor& self) {
    return tend::scatter_add(self, d, positions, source);
  });
}

}  // namespace tend::methods
