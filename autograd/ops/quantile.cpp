#include <tend/autograd/ops/quantile.h>

#include <algorithm>
#include <cmath>

#include <tend/autograd/ops/helpers.h>

namespace tend {
namespace {

// Sorts the elements along one dimension, and computes quantiles of them.
class Ascending {
 public:
  Ascending(const Tensor& self, std::optional<Integer> dim, bool keepdim) {
    check_floating("quantile", self);
    const std::int64_t count = self.numel();
    dim_ = dim ? wrap_dim("quantile", *dim, self.dim()) : 0;
    const Tensor lines = dim && self.dim() > 0 ? self : reshape(self, {count});
    length_ = lines.size(dim_);
    if (lines.numel() == 0) fail<ShapeError>("quantile", "no elements in shape ", self.shape());
    sorted_ = sort(lines, dim_).values;
    if (dim) {
      shape_ = self.dim() == 0 ? Shape() : reduced_shape(self.shape(), {dim_}, keepdim);
    } else if (keepdim) {
      shape_ = Shape::filled(self.shape().size(), 1);
    }
  }

  /// Computes the quantile q. If q came from a tensor with a history, `share` is this tensor. Only
  /// linear interpolation has a derivative with respect to `share`.
  Tensor quantile(double q, Interpolation interpolation, const Tensor& share = {}) const {
    if (!(q >= 0 && q <= 1)) fail("quantile", "q must be in [0, 1], got ", q);
    // The rank is rounded in the dtype of the elements, as in PyTorch.
    const auto last = static_cast<double>(length_ - 1);
    double rank = sorted_.dtype() == float32
                      ? static_cast<double>(static_cast<float>(q) * static_cast<float>(last))
                      : q * last;
    rank = std::min(rank, last);  // rounding to float32 may make the rank too large
    if (interpolation == Interpolation::lower) rank = std::floor(rank);
    if (interpolation == Interpolation::higher) rank = std::ceil(rank);
    if (interpolation == Interpolation::nearest) rank = std::nearbyint(rank);
    const Tensor below = at(std::floor(rank)), above = at(std::ceil(rank));
    double weight = rank - std::floor(rank);
    if (interpolation == Interpolation::midpoint) weight = 0.5;
    // The other modes return an element itself. Interpolating with weight 0 would give NaN for an
    // infinite element, which is subtracted from itself.
    const bool is_between =
        interpolation == Interpolation::linear || interpolation == Interpolation::midpoint;
    const Tensor largest = at(last), has_nan = isnan(largest);
    Tensor found = below;
    if (share.defined() && interpolation == Interpolation::linear) {
      // Where the result is NaN, the elements are replaced by 0. Otherwise the gradient of the
      // share would be NaN there.
      found = lerp(masked_fill(below, has_nan, 0), masked_fill(above, has_nan, 0),
                   (share - share.detach()) * last + weight);
    } else if (is_between) {
      found = lerp(below, above, weight);
    }
    return reshape(where(has_nan, largest, found), shape_);
  }

 private:
  Tensor at(double rank) const { return select(sorted_, dim_, static_cast<std::int64_t>(rank)); }

  Tensor sorted_;
  Shape shape_;  // the result's shape
  std::int64_t dim_ = 0, length_ = 0;
};

}  // namespace

Tensor quantile(const Tensor& self, double q, std::optional<Integer> dim, Flag keepdim,
                OrWord<Interpolation> interpolation) {
  return Ascending(self, dim, keepdim).quantile(q, interpolation);
}

Tensor quantile(const Tensor& self, const Tensor& q, std::optional<Integer> dim, Flag keepdim,
                OrWord<Interpolation> interpolation) {
  check_one_dtype("quantile", self, q);
  if (q.dim() > 1) fail<ShapeError>("quantile", "q must be 0-d or 1-d, got shape ", q.shape());
  const Ascending elements(self, dim, keepdim);
  std::vector<Tensor> found;
  const Tensor shares = tracks({q}) ? q.reshape({-1}) : Tensor();
  for (const double share : q.detach().to(float64).to_vector<double>())
    found.push_back(elements.quantile(share, interpolation,
                                      shares.defined() ? shares[std::ssize(found)] : Tensor()));
  if (q.dim() == 0) return found[0];
  if (!found.empty()) return stack(found, 0);
  return narrow(unsqueeze(elements.quantile(0, interpolation), 0), 0, 0, 0);
}

}  // namespace tend
