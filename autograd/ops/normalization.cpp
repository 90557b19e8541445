#include <tend/autograd/ops/normalization.h>

#include <algorithm>

#include <tend/autograd/grad_mode.h>
#include <tend/autograd/ops/helpers.h>
#include <tend/core/kernels/layer_norm.h>

namespace tend {
namespace {

void check_affine(const char* which, const Tensor& self, const Tensor& affine, const Shape& shape) {
  if (!affine.defined()) return;
  if (affine.shape() != shape) {
    fail<ShapeError>("layer_norm", which, ' ', affine.shape(), " for normalized_shape ", shape);
  }
  if (affine.dtype() != self.dtype()) {
    fail<DTypeError>("layer_norm", which, " is ", affine.dtype(), ", the input ", self.dtype());
  }
}

// The shape (rows, elements of a row) in which the kernels see the input.
Shape check_layer_norm(const Tensor& self, const Shape& shape, const Tensor& weight,
                       const Tensor& bias) {
  if (shape.empty()) fail<ShapeError>("layer_norm", "normalized_shape has no dimensions");
  const Shape& from = self.shape();
  if (from.size() < shape.size() ||
      !std::equal(shape.begin(), shape.end(), from.end() - shape.rank())) {
    fail<ShapeError>("layer_norm", "input ", from, " does not end with normalized_shape ", shape);
  }
  check_affine("weight", self, weight, shape);
  check_affine("bias", self, bias, shape);
  const Shape rows(std::span(from.begin(), from.size() - shape.size()));
  return {element_count(rows), element_count(shape)};
}

Array flat(const Tensor& tensor) {
  return tensor.defined() ? tensor.array().reshape({tensor.numel()}).contiguous() : Array();
}

// What it means: the gradients of self, weight and bias in public operations, from the saved self
// and weight.
void composed_layer_norm_gradients(Derivative& d, std::int64_t normalized_dims, double eps) {
  const Tensor x = d.saved(0), weight = d.saved(1);
  Shape dims;
  for (std::int64_t i = -normalized_dims; i < 0; ++i) dims.push_back(i);
  const Tensor centred = x - mean(x, dims, true);
  const Tensor rstd = rsqrt(mean(centred * centred, dims, true) + eps);
  const Tensor normal = centred * rstd;
  if (d.needs(0)) {
    const Tensor g = weight.defined() ? d.grad() * weight : d.grad();
    d.set(0, rstd * (g - mean(g, dims, true) - normal * mean(g * normal, dims, true)));
  }
  if (d.needs(1)) d.set(1, d.grad() * normal);
  if (d.needs(2)) d.set(2, d.grad());
}

// The same by one kernel, from the saved mean and rstd.
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
  const Shape matrix = check_layer_norm(self, normalized_shape, weight, bias);
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

}  // namespace tend
