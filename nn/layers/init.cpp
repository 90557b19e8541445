#include <tend/nn/layers/init.h>

#include <cmath>

#include <tend/autograd/graph/inplace.h>
#include <tend/autograd/tensor/grad_mode.h>
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

// In PyTorch's order of rounding: the last bit of a weight depends on it.
double kaiming_std(const char* operation, const Tensor& tensor, double slope, Fan fan) {
  const Fans sizes = fans(operation, tensor);
  return std::sqrt(2.0 / (1 + slope * slope)) / std::sqrt(fan == Fan::in ? sizes.in : sizes.out);
}

double xavier_std(const char* operation, const Tensor& tensor, double gain) {
  const Fans sizes = fans(operation, tensor);
  return gain * std::sqrt(2.0 / (sizes.in + sizes.out));
}

// Calls write(elements), which may be those of a leaf that requires grad.
template <class Write>
void write_elements(const char* operation, const Tensor& tensor, Write write) {
  const NoGradGuard no_graph;
  check_writable(operation, tensor);
  write(tensor.array());
  tensor.array().storage()->bump_version(operation);
}

}  // namespace

void uniform_(const Tensor& tensor, double low, double high) {
  write_elements("uniform_", tensor, [=](const Array& a) { kernels::uniform(a, low, high); });
}

void normal_(const Tensor& tensor, double mean, double std) {
  write_elements("normal_", tensor, [=](const Array& a) { kernels::normal(a, mean, std); });
}

void constant_(const Tensor& tensor, double value) {
  write_elements("constant_", tensor, [=](const Array& a) { a.fill(value); });
}

void zeros_(const Tensor& tensor) {
  write_elements("zeros_", tensor, [](const Array& a) { a.fill(0.0); });
}

void ones_(const Tensor& tensor) {
  write_elements("ones_", tensor, [](const Array& a) { a.fill(1.0); });
}

void kaiming_uniform_(const Tensor& tensor, double slope, Fan fan) {
  const double bound = std::sqrt(3.0) * kaiming_std("kaiming_uniform_", tensor, slope, fan);
  uniform_(tensor, -bound, bound);
}

void kaiming_normal_(const Tensor& tensor, double slope, Fan fan) {
  normal_(tensor, 0.0, kaiming_std("kaiming_normal_", tensor, slope, fan));
}

void xavier_uniform_(const Tensor& tensor, double gain) {
  const double bound = std::sqrt(3.0) * xavier_std("xavier_uniform_", tensor, gain);
  uniform_(tensor, -bound, bound);
}

void xavier_normal_(const Tensor& tensor, double gain) {
  normal_(tensor, 0.0, xavier_std("xavier_normal_", tensor, gain));
}

}  // namespace tend::nn::init
