#include <tend/autograd/ops/normalization.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include <tend/autograd/graph/inplace.h>
#include <tend/autograd/ops/channel_norm.h>
#include <tend/autograd/ops/helpers.h>
#include <tend/autograd/tensor/grad_mode.h>
#include <tend/core/kernels/rows/layer_norm.h>

namespace tend {
namespace {

// Checks weight or bias: unless undefined, it must have the input's dtype and `shape`. Errors call
// it `which`, and call the shape `wanted`.
void check_affine(const char* operation, const char* which, const Tensor& self,
                  const Tensor& affine, const char* wanted, const Shape& shape) {
  if (!affine.defined()) return;
  if (affine.shape() != shape) {
    fail<ShapeError>(operation, which, " must have the shape ", shape, " (", wanted, "), but has ",
                     affine.shape());
  }
  if (affine.dtype() != self.dtype()) {
    fail<DTypeError>(operation, which, " must have the input's dtype ", self.dtype(), ", but is ",
                     affine.dtype());
  }
}

// Checks an input and its affine parameters. Returns the shape (rows, elements of a row) that the
// kernels use for the input.
Shape check_rows(const char* operation, const Tensor& self, const Shape& shape,
                 const Tensor& weight, const Tensor& bias) {
  if (shape.empty()) fail<ShapeError>(operation, "normalized_shape has no dimensions");
  const Shape& from = self.shape();
  if (from.size() < shape.size() ||
      !std::equal(shape.begin(), shape.end(), from.end() - shape.rank())) {
    fail<ShapeError>(operation, "input ", from, " does not end with normalized_shape ", shape);
  }
  check_affine(operation, "weight", self, weight, "normalized_shape", shape);
  check_affine(operation, "bias", self, bias, "normalized_shape", shape);
  const Shape rows(std::span(from.begin(), from.size() - shape.size()));
  return {element_count(rows), element_count(shape)};
}

// Returns the number of elements in each of `parts` equal parts of `total` elements.
std::int64_t shared_among(std::int64_t parts, std::int64_t total) {
  return parts == 0 ? 0 : total / parts;
}

Shape last_dims(std::int64_t count) {
  Shape dims;
  for (std::int64_t i = -count; i < 0; ++i) dims.push_back(i);
  return dims;
}

// Checks an input (N, C, ...) and its weight and bias for the channels.
void check_channels(const char* operation, const Tensor& self, const Tensor& weight,
                    const Tensor& bias) {
  check_floating(operation, self);
  if (self.dim() < 2) {
    fail<ShapeError>(operation, "the input needs channels in dimension 1, but has shape ",
                     self.shape());
  }
  check_affine(operation, "weight", self, weight, "channels", {self.size(1)});
  check_affine(operation, "bias", self, bias, "channels", {self.size(1)});
}

Tensor channel_affine(Tensor self, const Tensor& weight, const Tensor& bias) {
  if (weight.defined()) self = self * per_channel(weight, self);
  if (bias.defined()) self = self + per_channel(bias, self);
  return self;
}

Array flat(const Tensor& tensor) {
  return tensor.defined() ? tensor.array().reshape({tensor.numel()}).contiguous() : Array();
}

// Computes the gradients of self, weight and bias from the saved self and weight. They are composed
// of public operations, so they can be differentiated again.
void composed_layer_norm_gradients(Derivative& d, std::int64_t normalized_dims, double eps) {
  const Tensor x = d.saved(0), weight = d.saved(1);
  const Shape dims = last_dims(normalized_dims);
  const Tensor about = x - mean(x, dims, true);
  const Tensor centred = about - mean(about, dims, true);  // corrects rounding, as the kernel does
  const Tensor rstd = rsqrt(mean(centred * centred, dims, true) + eps);
  const Tensor normal = centred * rstd;
  if (d.needs(0)) {
    const Tensor g = weight.defined() ? d.grad() * weight : d.grad();
    d.set(0, rstd * (g - mean(g, dims, true) - normal * mean(g * normal, dims, true)));
  }
  if (d.needs(1)) d.set(1, d.grad() * normal);
  if (d.needs(2)) d.set(2, d.grad());
}

// Computes the same gradients in one kernel, from the saved mean and rstd.
void fused_layer_norm_gradients(Derivative& d, const Shape& matrix, const Shape& shape) {
  const Tensor x = d.saved(0), weight = d.saved(1);
  const auto room = [&](std::size_t i, const Shape& wanted) {
    return d.needs(i) ? Array::empty(wanted, x.dtype()) : Array();
  };
  const Array grad_x = room(0, matrix);
  const Array grad_weight = room(1, {matrix[1]}), grad_bias = room(2, {matrix[1]});
  const auto rows = [&](const Tensor& t) { return t.array().reshape(matrix).contiguous(); };
  kernels::layer_norm_backward(grad_x, grad_weight, grad_bias, rows(d.grad()), rows(x),
                               d.saved(2).array(), d.saved(3).array(), flat(weight));
  if (d.needs(0)) d.set(0, Tensor(grad_x.view(x.shape())));
  if (d.needs(1)) d.set(1, Tensor(grad_weight.view(shape)));
  if (d.needs(2)) d.set(2, Tensor(grad_bias.view(shape)));
}

}  // namespace

Tensor layer_norm(const Tensor& self, const Shape& normalized_shape, const Tensor& weight,
                  const Tensor& bias, double eps) {
  check_floating("layer_norm", self);
  const Shape matrix = check_rows("layer_norm", self, normalized_shape, weight, bias);
  const DType dtype = self.dtype();
  Array out = Array::empty(self.shape(), dtype);
  const Tensor mean = empty({matrix[0]}, dtype), rstd = empty({matrix[0]}, dtype);
  kernels::layer_norm(out.view(matrix), mean.array(), rstd.array(),
                      self.array().reshape(matrix).contiguous(), flat(weight), flat(bias), eps);
  return record("NativeLayerNormBackward0", std::move(out), {self, weight, bias},
                {self, weight, mean, rstd}, [matrix, normalized_shape, eps](Derivative& d) {
                  if (grad_enabled()) {
                    composed_layer_norm_gradients(d, normalized_shape.rank(), eps);
                  } else {
                    fused_layer_norm_gradients(d, matrix, normalized_shape);
                  }
                });
}

namespace {

// As for layer_norm, one function composes the gradients of public operations, from the saved self
// and weight. The other computes the same gradients in one kernel, from the saved rstd.

void composed_rms_norm_gradients(Derivative& d, std::int64_t normalized_dims, double eps) {
  const Tensor x = d.saved(0), weight = d.saved(1);
  const Shape dims = last_dims(normalized_dims);
  const Tensor rstd = rsqrt(mean(square(x), dims, true) + eps);
  const Tensor normal = x * rstd;
  if (d.needs(0)) {
    const Tensor g = weight.defined() ? d.grad() * weight : d.grad();
    d.set(0, rstd * (g - normal * mean(g * normal, dims, true)));
  }
  if (d.needs(1)) d.set(1, d.grad() * normal);
}

void fused_rms_norm_gradients(Derivative& d, const Shape& matrix, const Shape& shape) {
  const Tensor x = d.saved(0);
  const Array grad_x = d.needs(0) ? Array::empty(matrix, x.dtype()) : Array();
  const Array grad_weight = d.needs(1) ? Array::empty({matrix[1]}, x.dtype()) : Array();
  const auto rows = [&](const Tensor& t) { return t.array().reshape(matrix).contiguous(); };
  kernels::rms_norm_backward(grad_x, grad_weight, rows(d.grad()), rows(x), d.saved(2).array(),
                             flat(d.saved(1)));
  if (d.needs(0)) d.set(0, Tensor(grad_x.view(x.shape())));
  if (d.needs(1)) d.set(1, Tensor(grad_weight.view(shape)));
}

}  // namespace

Tensor rms_norm(const Tensor& self, const Shape& normalized_shape, const Tensor& weight,
                std::optional<double> eps) {
  check_floating("rms_norm", self);
  const Shape matrix = check_rows("rms_norm", self, normalized_shape, weight, {});
  const DType dtype = self.dtype();
  const double added =
      eps.value_or(dtype == float32 ? static_cast<double>(std::numeric_limits<float>::epsilon())
                                    : std::numeric_limits<double>::epsilon());
  Array out = Array::empty(self.shape(), dtype);
  const Tensor rstd = empty({matrix[0]}, dtype);
  kernels::rms_norm(out.view(matrix), rstd.array(), self.array().reshape(matrix).contiguous(),
                    flat(weight), added);
  return record("RmsNormBackward0", std::move(out), {self, weight}, {self, weight, rstd},
                [matrix, normalized_shape, added](Derivative& d) {
                  if (grad_enabled()) {
                    composed_rms_norm_gradients(d, normalized_shape.rank(), added);
                  } else {
                    fused_rms_norm_gradients(d, matrix, normalized_shape);
                  }
                });
}

namespace {

void check_statistics(const Tensor& self, const Tensor& running_mean, const Tensor& running_var,
                      bool training) {
  const std::pair<const char*, const Tensor&> both[] = {{"running_mean", running_mean},
                                                        {"running_var", running_var}};
  for (const auto& [which, statistics] : both) {
    check_affine("batch_norm", which, self, statistics, "channels", {self.size(1)});
    if (!training && !statistics.defined()) {
      fail("batch_norm", which, " is undefined, which is allowed only in training");
    }
    if (training && statistics.defined()) check_writable("batch_norm", statistics.detach());
  }
  for (const auto& [which, statistics] : both)
    check_constant("batch_norm", which, statistics, self);
  if (training && self.numel() > 0 && self.numel() == self.size(1)) {
    fail<ShapeError>("batch_norm", "input ", self.shape(),
                     " has one value per channel, which is too few for training");
  }
}

// Holds running statistics and their new values after a batch:
// (1 - momentum) running + momentum batch.
class Update {
 public:
  Update(const Tensor& running, const Tensor& batch, double momentum) : running_(running.array()) {
    const NoGradGuard no_grad;
    next_ = (running.detach() * (1 - momentum) + batch.detach() * momentum).array();
  }
  // Does not allocate, so it cannot fail.
  void apply() const {
    running_.copy_from(next_);
    running_.storage()->bump_version("batch_norm");
  }

 private:
  Array running_, next_;
};

}  // namespace

Tensor batch_norm(const Tensor& self, const Tensor& running_mean, const Tensor& running_var,
                  const Tensor& weight, const Tensor& bias, const BatchNormOptions& options) {
  check_channels("batch_norm", self, weight, bias);
  check_statistics(self, running_mean, running_var, options.training);
  if (!options.training) {
    const Tensor centred = self - per_channel(running_mean.detach(), self);
    const Tensor rstd = rsqrt(running_var.detach() + options.eps);
    const Tensor scale = weight.defined() ? rstd * weight : rstd;
    return channel_affine(centred, scale, bias);
  }
  const Moments moments = channel_moments(self.detach(), options.eps);
  Tensor result = channel_normal(self, weight, bias, moments, options.eps);
  std::optional<Update> of_mean, of_var;
  if (self.numel() > 0 && running_mean.defined())
    of_mean.emplace(running_mean, flattened(moments.mean), options.momentum);
  if (self.numel() > 0 && running_var.defined()) {
    const double count = static_cast<double>(shared_among(self.size(1), self.numel()));
    const NoGradGuard no_grad;
    of_var.emplace(running_var, flattened(moments.variance * (count / (count - 1))),
                   options.momentum);
  }
  // All new values are computed, so nothing can fail any more.
  if (of_mean) of_mean->apply();
  if (of_var) of_var->apply();
  return result;
}

Tensor group_norm(const Tensor& self, std::int64_t num_groups, const Tensor& weight,
                  const Tensor& bias, double eps) {
  check_channels("group_norm", self, weight, bias);
  if (num_groups < 1 || self.size(1) % num_groups != 0) {
    fail<ShapeError>("group_norm", num_groups, " groups do not divide dimension 1 of ",
                     self.shape());
  }
  if (self.numel() > 0 && self.numel() == num_groups) {
    fail<ShapeError>("group_norm", "input ", self.shape(),
                     " has one value per group, which is too few");
  }
  // An empty input may have any size(0), so num_groups * size(0) could overflow or need much
  // memory.
  const std::int64_t groups = self.numel() == 0 ? 0 : self.size(0) * num_groups;
  const std::int64_t size = shared_among(groups, self.numel());
  const Tensor normal = layer_norm(reshape(self, {groups, size}), {size}, {}, {}, eps);
  return channel_affine(view(normal, self.shape()), weight, bias);
}

}  // namespace tend
