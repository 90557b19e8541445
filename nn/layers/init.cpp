#include <tend/nn/layers/init.h>

#include <algorithm>
#include <cmath>

#include <tend/autograd/graph/inplace.h>
#include <tend/autograd/ops/ops.h>
#include <tend/autograd/tensor/grad_mode.h>
#include <tend/core/kernels/elementwise/arithmetic.h>
#include <tend/core/kernels/elementwise/masking.h>
#include <tend/core/kernels/elementwise/special.h>
#include <tend/core/random/distributions.h>

namespace tend::nn::init {
namespace {

struct Fans {
  double in;
  double out;
};

Fans fans(const char* operation, const Tensor& tensor) {
  if (tensor.dim() < 2)
    fail<ShapeError>(operation, "needs 2 dimensions or more, got ", tensor.shape());
  double receptive = 1;
  for (std::int64_t d = 2; d < tensor.dim(); ++d) receptive *= static_cast<double>(tensor.size(d));
  return {static_cast<double>(tensor.size(1)) * receptive,
          static_cast<double>(tensor.size(0)) * receptive};
}

// It rounds in the same order as PyTorch, since the last bit of a weight depends on the order.
double kaiming_std(const char* operation, const Tensor& tensor, double slope, Fan fan,
                   Nonlinearity nonlinearity) {
  const Fans sizes = fans(operation, tensor);
  return calculate_gain(nonlinearity, slope) / std::sqrt(fan == Fan::in ? sizes.in : sizes.out);
}

double xavier_std(const char* operation, const Tensor& tensor, double gain) {
  const Fans sizes = fans(operation, tensor);
  return gain * std::sqrt(2.0 / (sizes.in + sizes.out));
}

void check_matrix(const char* operation, const Tensor& tensor) {
  if (tensor.dim() != 2) fail<ShapeError>(operation, "needs 2 dimensions, got ", tensor.shape());
}

// Calls write(elements). The tensor may be a leaf that requires grad.
template <class Write>
Tensor write_elements(const char* operation, const Tensor& tensor, Write write) {
  const NoGradGuard no_graph;
  check_writable(operation, tensor);
  write(tensor.array());
  tensor.array().storage()->bump_version(operation);
  return tensor;
}

// Makes the rows of `vectors` (k, n), k <= n, orthogonal and of length 1 (Gram and Schmidt).
//
// It subtracts from each row its projections on the rows before it. It does so twice, since after
// the first time rounding leaves a small part of the projections. Giraud et al. 2005,
// https://doi.org/10.1007/s00211-005-0615-4.
void make_orthonormal(const Tensor& vectors) {
  for (std::int64_t i = 0; i < vectors.size(0); ++i) {
    const Tensor vector = vectors.select(0, i), before = vectors.slice(0, 0, i);
    for (int time = 0; time < 2; ++time) vector.sub_(matmul(matmul(before, vector), before));
    vector.div_(vector.norm());
  }
}

}  // namespace

double calculate_gain(OrWord<Nonlinearity> nonlinearity, std::optional<double> slope) {
  switch (nonlinearity) {
    case Nonlinearity::linear:
    case Nonlinearity::sigmoid: return 1;
    case Nonlinearity::tanh: return 5.0 / 3;
    case Nonlinearity::relu: return std::sqrt(2.0);
    case Nonlinearity::leaky_relu: {
      const double a = slope.value_or(0.01);
      return std::sqrt(2.0 / (1 + a * a));
    }
    case Nonlinearity::selu: break;
  }
  return 3.0 / 4;
}

Tensor uniform_(const Tensor& tensor, double low, double high) {
  return write_elements("uniform_", tensor,
                        [=](const Array& a) { kernels::uniform(a, low, high); });
}

Tensor normal_(const Tensor& tensor, double mean, double std) {
  return write_elements("normal_", tensor, [=](const Array& a) { kernels::normal(a, mean, std); });
}

// Applies the inverse of the normal distribution function to uniform random numbers. It rounds in
// the same order as PyTorch.
Tensor trunc_normal_(const Tensor& tensor, double mean, double std, double a, double b) {
  const double root = std::sqrt(2.0);
  const auto below = [&](double x) { return (1 + std::erf((x - mean) / std / root)) / 2; };
  if (!(std >= 0 && a <= b))
    fail("trunc_normal_", "std must be at least 0 and a at most b, got std ", std, ", a ", a,
         " and b ", b);
  return write_elements("trunc_normal_", tensor, [&](const Array& out) {
    const Array scale = Array::scalar(std * root, out.dtype()),
                shift = Array::scalar(mean, out.dtype());
    kernels::uniform(out, 2 * below(a) - 1, 2 * below(b) - 1);
    kernels::erfinv(out, out);
    kernels::mul(out, out, scale);
    kernels::add(out, out, shift);
    kernels::clamp(out, out, a, b);
  });
}

Tensor constant_(const Tensor& tensor, double value) {
  return write_elements("constant_", tensor, [=](const Array& a) { a.fill(value); });
}

Tensor zeros_(const Tensor& tensor) {
  return write_elements("zeros_", tensor, [](const Array& a) { a.fill(0.0); });
}

Tensor ones_(const Tensor& tensor) {
  return write_elements("ones_", tensor, [](const Array& a) { a.fill(1.0); });
}

Tensor eye_(const Tensor& tensor) {
  check_matrix("eye_", tensor);
  return write_elements("eye_", tensor, [](const Array& a) {
    a.copy_from(eye(a.size(0), a.size(1), a.dtype()).array());
  });
}

Tensor dirac_(const Tensor& tensor, std::int64_t groups) {
  if (tensor.dim() < 3 || tensor.dim() > 5)
    fail<ShapeError>("dirac_", "needs 3 to 5 dimensions, got ", tensor.shape());
  if (groups < 1 || tensor.size(0) % groups != 0)
    fail<ShapeError>("dirac_", groups, " groups do not divide dimension 0 of ", tensor.shape());
  return write_elements("dirac_", tensor, [&](const Array& a) {
    const std::int64_t outputs = a.size(0) / groups, channels = std::min(outputs, a.size(1));
    const Array kernel = Array::zeros(a.shape(), a.dtype());
    for (std::int64_t i = 0; i < groups * channels; ++i) {
      Array at = kernel.select(0, i / channels * outputs + i % channels).select(0, i % channels);
      while (at.rank() > 0) at = at.select(0, at.size(0) / 2);
      at.fill(1.0);
    }
    a.copy_from(kernel);
  });
}

Tensor orthogonal_(const Tensor& tensor, double gain) {
  if (tensor.dim() < 2)
    fail<ShapeError>("orthogonal_", "needs 2 dimensions or more, got ", tensor.shape());
  if (tensor.numel() == 0) return tensor;
  return write_elements("orthogonal_", tensor, [&](const Array& a) {
    const std::int64_t rows = a.size(0), columns = a.numel() / rows;
    const Array drawn = Array::empty({rows, columns}, a.dtype());
    kernels::normal(drawn);
    const Tensor matrix = Tensor(drawn).to(float64).clone();
    make_orthonormal(rows < columns ? matrix : matrix.t());
    a.copy_from(matrix.mul(gain).view(a.shape()).array());
  });
}

Tensor sparse_(const Tensor& tensor, double sparsity, double std) {
  check_matrix("sparse_", tensor);
  if (!(sparsity >= 0 && sparsity <= 1))
    fail("sparse_", "sparsity is ", sparsity, ", not in [0, 1]");
  return write_elements("sparse_", tensor, [&](const Array& a) {
    const std::int64_t rows = a.size(0);
    const auto zeros = static_cast<std::int64_t>(std::ceil(sparsity * static_cast<double>(rows)));
    const Array order = Array::empty({rows}, int64);
    kernels::normal(a, 0, std);
    for (std::int64_t column = 0; column < a.size(1); ++column) {
      kernels::randperm(order);
      for (std::int64_t i = 0; i < zeros; ++i)
        a.select(0, order.data<std::int64_t>()[i]).select(0, column).fill(0.0);
    }
  });
}

Tensor kaiming_uniform_(const Tensor& tensor, double slope, OrWord<Fan> fan,
                        OrWord<Nonlinearity> nonlinearity) {
  const double std = kaiming_std("kaiming_uniform_", tensor, slope, fan, nonlinearity);
  if (tensor.numel() == 0) return tensor;
  const double bound = std::sqrt(3.0) * std;
  return uniform_(tensor, -bound, bound);
}

Tensor kaiming_normal_(const Tensor& tensor, double slope, OrWord<Fan> fan,
                       OrWord<Nonlinearity> nonlinearity) {
  const double std = kaiming_std("kaiming_normal_", tensor, slope, fan, nonlinearity);
  if (tensor.numel() == 0) return tensor;
  return normal_(tensor, 0.0, std);
}

Tensor xavier_uniform_(const Tensor& tensor, double gain) {
  const double bound = std::sqrt(3.0) * xavier_std("xavier_uniform_", tensor, gain);
  return uniform_(tensor, -bound, bound);
}

Tensor xavier_normal_(const Tensor& tensor, double gain) {
  return normal_(tensor, 0.0, xavier_std("xavier_normal_", tensor, gain));
}

}  // namespace tend::nn::init
