#include <tend/autograd/ops/channel_norm.h>

#include <algorithm>

#include <tend/autograd/ops/helpers.h>
#include <tend/core/kernels/elementwise/arithmetic.h>
#include <tend/core/kernels/reduce/reduce.h>

namespace tend {

Tensor per_channel(const Tensor& values, const Tensor& self) {
  Shape shape(static_cast<std::size_t>(self.dim() - 1), 1);
  shape[0] = values.numel();
  return view(values, shape);
}

Tensor flattened(const Tensor& values) {
  return view(values, {values.numel()});
}

namespace {

// All dimensions but that of the channels.
Shape across_channels(const Tensor& x) {
  Shape dims{0};
  for (std::int64_t d = 2; d < x.dim(); ++d) dims.push_back(d);
  return dims;
}

// The number of elements of a channel.
double channel_count(const Tensor& x) {
  return static_cast<double>(x.numel() / std::max<std::int64_t>(x.size(1), 1));
}

}  // namespace

Moments channel_moments(const Tensor& x, double eps) {
  const NoGradGuard no_grad;
  const Shape dims = across_channels(x), kept = reduced_shape(x.shape(), dims, true);
  // Summed in float64 and rounded once; the squares are those of distances from it.
  const Array mean = Array::empty(kept, float64), squares = Array::empty(kept, x.dtype());
  kernels::mean(mean, x.array(), dims);
  Moments found{to(Tensor(mean), x.dtype()), Tensor(squares), {}, {}};
  found.distances = x - found.mean;
  kernels::square_sum(squares, found.distances.array(), dims);
  const auto count = channel_count(x);
  found.rstd = rsqrt(found.squares / count + eps);
  return found;
}

namespace {

// As for layer_norm: the gradients composed of public operations, from the saved self and weight,
// and the same with less work, from the saved mean and rstd.

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
  const Tensor x = d.saved(0), weight = d.saved(1), rstd = d.saved(3), &g = d.grad();
  const Shape dims = across_channels(x);
  const Tensor normal = x - d.saved(2), total = sum(g, dims, true);
  kernels::mul(normal.array(), normal.array(), rstd.array());
  const Tensor along = sum(g * normal, dims, true);
  if (d.needs(1)) d.set(1, flattened(along));
  if (d.needs(2)) d.set(2, flattened(total));
  if (!d.needs(0)) return;
  const auto count = channel_count(x);
  const Array out = normal.array();
  kernels::mul(out, out, (along / count).array());
  kernels::sub(out, g.array(), out);
  kernels::sub(out, out, (total / count).array());
  kernels::mul(out, out, (weight.defined() ? rstd * per_channel(weight, x) : rstd).array());
  d.set(0, normal);
}

}  // namespace

Tensor channel_normal(const Tensor& x, const Tensor& weight, const Tensor& bias,
                      const Moments& moments, double eps) {
  const auto array_of = [&x](const Tensor& each) { return per_channel(each.detach(), x).array(); };
  const Array out = moments.distances.array();
  kernels::mul(out, out, moments.rstd.array());
  if (weight.defined()) kernels::mul(out, out, array_of(weight));
  if (bias.defined()) kernels::add(out, out, array_of(bias));
  return record(
      "NativeBatchNormBackward0", out, {x, weight, bias}, {x, weight, moments.mean, moments.rstd},
      [eps](Derivative& d) {
        if (grad_enabled()) {
          composed_channel_gradients(d, eps);
        } else {
          channel_gradients(d);
        }
      },
      "batch_norm");
}

}  // namespace tend
