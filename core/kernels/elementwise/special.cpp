#include <tend/core/kernels/elementwise/special.h>

#include <tend/core/kernels/elementwise/map_spans.h>
#include <tend/core/kernels/elementwise/special_spans.h>

namespace tend::kernels {

// Found by map_spans.
template <class T>
auto span_of(SpecialFunction function) {
  return [function, map = special_kernels().of<T>().map](std::size_t n, T* out, const T* a) {
    map(function, n, out, a);
  };
}
template <class T>
auto span_of(LogitBackward parameters) {
  return [parameters, backward = special_kernels().of<T>().logit_backward](
             std::size_t n, T* out, const T* grad, const T* a) {
    backward(parameters, n, out, grad, a);
  };
}

void lgamma(const Array& out, const Array& a) {
  map_floating_spans("lgamma", SpecialFunction{.function = Special::lgamma}, out, a);
}

void polygamma(const Array& out, const Array& a, std::int64_t n) {
  map_floating_spans("polygamma", SpecialFunction{.function = Special::polygamma, .number = n}, out,
                     a);
}

void erfinv(const Array& out, const Array& a) {
  map_floating_spans("erfinv", SpecialFunction{.function = Special::erfinv}, out, a);
}

void round_decimals(const Array& out, const Array& a, std::int64_t decimals) {
  map_floating_spans("round", SpecialFunction{.function = Special::round, .number = decimals}, out,
                     a);
}

void logit(const Array& out, const Array& a, double min, double max) {
  map_floating_spans("logit", SpecialFunction{.function = Special::logit, .min = min, .max = max},
                     out, a);
}

void logit_backward(const Array& out, const Array& grad, const Array& a, double min, double max,
                    double outside) {
  map_floating_spans("logit_backward", LogitBackward{min, max, outside}, out, grad, a);
}

}  // namespace tend::kernels
