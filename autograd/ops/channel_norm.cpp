#include <tend/autograd/ops/channel_norm.h>

#include <algorithm>

#include <tend/autograd/ops/helpers.h>
#include <tend/core/kernels/elementwise/arithmetic.h>
#include <tend/core/kernels/reduce/statistics.h>

namespace tend {

Tensor per_channel(const Tensor& values, const Tensor& self) {
  Shape shape = Shape::filled(static_cast<std::size_t>(self.dim() - 1), 1);
  shape[0] = values.numel();
  return view(values, shape);
}

Tensor flattened(const Tensor& values) {
  return view(values, {values.numel()});
}

namespace {

// All dimensions except the channels.
Shape across_channels(const Tensor& x) {
  Shape dims{0};
  for (std::int64_t d = 2; d < x.dim(); ++d) dims.push_back(d);
  return dims;
}

// The number of elements of a channel.
double channel_count(const Tensor& x) {
  return static_cast<double>(x.numel()) / std::max(static_cast<double>(x.size(1)), 1.0);
}

}  // namespace

Moments channel_moments(const Tensor& x, double eps) {
  const NoGradGuard no_grad;
  const Shape dims = across_channels(x), kept = reduced_shape(x.shape(), dims, true);
  const Array mean = Array::empty(kept, x.dtype()), variance = Array::empty(kept, x.dtype());
  kernels::moments(mean, variance, x.array(), dims);
  return {Tensor(mean), Tensor(variance), rsqrt(Tensor(variance) + eps)};
}

namespace {

// There are two forms of the gradients, as for layer_norm. The first is composed of public
// operations and reads the saved self and weight. The second needs less work and also reads the
// saved mean and rstd.

void composed_channel_gradients(Derivative& d, double eps) {
  const Tensor x = d.saved(0), weight = d.saved(1);
  const Shape dims = across_channels(x);
  const Tensor about = x - mean(x, dims, true);
  const Tensor centred = about - mean(about, dims, true);
  const Tensor rstd = rsqrt(mean(centred * centred, dims, true) + eps);
  const Tensor normal = centred * rstd;
  if (d.needs(0)) {
    const Tensor g = weight.defined() ? d.grad() * per_channel(weight, x) : d.grad();
    d.set(0, rstd * (g - mean(g, dims, true) - normal * mean(g * normal, dims, true)));
  }
  if (d.needs(1)) d.set(1, sum(d.grad() * normal, dims));
  if (d.needs(2)) d.set(2, sum(d.grad(), dims));
}

void channel_gradients(Derivative& d) {
  const Tensor x = d.saved(0), weight = d.saved(1), mean = d.saved(2), rstd = d.saved(3);
  const Tensor& g = d.grad();
  const Shape dims = across_channels(x);
  const Tensor scratch = scaled_distance(g, x, mean), total = sum(g, dims, true);
  const Tensor along = sum(scratch, dims, true) * rstd;
  if (d.needs(1)) d.set(1, flattened(along));
  if (d.needs(2)) d.set(2, flattened(total));
  if (!d.needs(0)) return;
  // The gradient of x is rstd weight (g - total / n - along / n (x - mean) rstd).
  const double count = channel_count(x);
  const Array& taken = scratch.array();
  kernels::compute("batch_norm", kernels::TripleFormula::scaled_distance, {}, taken,
                   (rstd * (along / count)).array(), x.array(), mean.array());
  kernels::add(taken, taken, (total / count).array());
  d.set(0, scaled_distance(weight.defined() ? rstd * per_channel(weight, x) : rstd, g, scratch));
}

}  // namespace

Tensor channel_normal(const Tensor& x, const Tensor& weight, const Tensor& bias,
                      const Moments& moments, double eps) {
  const auto constant = [&x](const Tensor& each) { return per_channel(each.detach(), x); };
  const Tensor scale = weight.defined() ? moments.rstd * constant(weight) : moments.rstd;
  const Array out = scaled_distance(scale, x.detach(), moments.mean).array();
  if (bias.defined()) kernels::add(out, out, constant(bias).array());
  return record(
      "NativeBatchNormBackward0", out, {x, weight, bias}, {x, weight, moments.mean, moments.rstd},
      [eps](Derivative& d) {
        const bool is_empty = d.grad().numel() == 0;  // rstd is NaN then, but the gradients are 0
        if (grad_enabled() || is_empty) return composed_channel_gradients(d, eps);
        channel_gradients(d);
      },
      "batch_norm");
}

}  // namespace tend
