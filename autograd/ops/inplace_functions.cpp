// The in-place twins of functions of each element by itself, arithmetic excepted (inplace.cpp).
#include <tend/autograd/inplace.h>
#include <tend/autograd/ops/helpers.h>

namespace tend::methods {

const Tensor& InPlace::square_() const {
  return in_place("square_", self(), {}, tend::square);
}
const Tensor& InPlace::reciprocal_() const {
  return in_place("reciprocal_", self(), {}, tend::reciprocal);
}
const Tensor& InPlace::neg_() const {
  return in_place("neg_", self(), {}, tend::neg);
}
const Tensor& InPlace::abs_() const {
  return in_place("abs_", self(), {}, tend::abs);
}
const Tensor& InPlace::sign_() const {
  return in_place("sign_", self(), {}, tend::sign);
}
const Tensor& InPlace::exp_() const {
  return in_place("exp_", self(), {}, tend::exp);
}
const Tensor& InPlace::exp2_() const {
  return in_place("exp2_", self(), {}, tend::exp2);
}
const Tensor& InPlace::expm1_() const {
  return in_place("expm1_", self(), {}, tend::expm1);
}
const Tensor& InPlace::log_() const {
  return in_place("log_", self(), {}, tend::log);
}
const Tensor& InPlace::log2_() const {
  return in_place("log2_", self(), {}, tend::log2);
}
const Tensor& InPlace::log10_() const {
  return in_place("log10_", self(), {}, tend::log10);
}
const Tensor& InPlace::log1p_() const {
  return in_place("log1p_", self(), {}, tend::log1p);
}
const Tensor& InPlace::sqrt_() const {
  return in_place("sqrt_", self(), {}, tend::sqrt);
}
const Tensor& InPlace::rsqrt_() const {
  return in_place("rsqrt_", self(), {}, tend::rsqrt);
}
const Tensor& InPlace::sin_() const {
  return in_place("sin_", self(), {}, tend::sin);
}
const Tensor& InPlace::cos_() const {
  return in_place("cos_", self(), {}, tend::cos);
}
const Tensor& InPlace::tan_() const {
  return in_place("tan_", self(), {}, tend::tan);
}
const Tensor& InPlace::asin_() const {
  return in_place("asin_", self(), {}, tend::asin);
}
const Tensor& InPlace::acos_() const {
  return in_place("acos_", self(), {}, tend::acos);
}
const Tensor& InPlace::atan_() const {
  return in_place("atan_", self(), {}, tend::atan);
}
const Tensor& InPlace::sinh_() const {
  return in_place("sinh_", self(), {}, tend::sinh);
}
const Tensor& InPlace::cosh_() const {
  return in_place("cosh_", self(), {}, tend::cosh);
}
const Tensor& InPlace::tanh_() const {
  return in_place("tanh_", self(), {}, tend::tanh);
}
const Tensor& InPlace::sigmoid_() const {
  return in_place("sigmoid_", self(), {}, tend::sigmoid);
}
const Tensor& InPlace::erf_() const {
  return in_place("erf_", self(), {}, tend::erf);
}
const Tensor& InPlace::erfc_() const {
  return in_place("erfc_", self(), {}, tend::erfc);
}
const Tensor& InPlace::floor_() const {
  return in_place("floor_", self(), {}, tend::floor);
}
const Tensor& InPlace::ceil_() const {
  return in_place("ceil_", self(), {}, tend::ceil);
}
const Tensor& InPlace::round_() const {
  return in_place("round_", self(), {}, tend::round);
}
const Tensor& InPlace::trunc_() const {
  return in_place("trunc_", self(), {}, tend::trunc);
}
const Tensor& InPlace::bitwise_not_() const {
  return in_place("bitwise_not_", self(), {}, tend::bitwise_not);
}

const Tensor& InPlace::atan2_(const Tensor& other) const {
  return in_place("atan2_", self(), {other},
                  [&](const Tensor& self) { return tend::atan2(self, other); });
}
const Tensor& InPlace::xlogy_(const Tensor& other) const {
  return in_place("xlogy_", self(), {other},
                  [&](const Tensor& self) { return tend::xlogy(self, other); });
}
const Tensor& InPlace::xlogy_(const Scalar& other) const {
  return in_place("xlogy_", self(), {},
                  [&](const Tensor& self) { return tend::xlogy(self, other); });
}
const Tensor& InPlace::bitwise_and_(const Tensor& other) const {
  return in_place("bitwise_and_", self(), {other},
                  [&](const Tensor& self) { return tend::bitwise_and(self, other); });
}
const Tensor& InPlace::bitwise_or_(const Tensor& other) const {
  return in_place("bitwise_or_", self(), {other},
                  [&](const Tensor& self) { return tend::bitwise_or(self, other); });
}
const Tensor& InPlace::bitwise_xor_(const Tensor& other) const {
  return in_place("bitwise_xor_", self(), {other},
                  [&](const Tensor& self) { return tend::bitwise_xor(self, other); });
}

const Tensor& InPlace::relu_() const {
  return in_place("relu_", self(), {}, tend::relu);
}
const Tensor& InPlace::silu_() const {
  return in_place("silu_", self(), {}, tend::silu);
}
const Tensor& InPlace::mish_() const {
  return in_place("mish_", self(), {}, tend::mish);
}
const Tensor& InPlace::leaky_relu_(double negative_slope) const {
  return in_place("leaky_relu_", self(), {},
                  [&](const Tensor& self) { return tend::leaky_relu(self, negative_slope); });
}
const Tensor& InPlace::elu_(double alpha) const {
  return in_place("elu_", self(), {}, [&](const Tensor& self) { return tend::elu(self, alpha); });
}
const Tensor& InPlace::hardtanh_(const Scalar& min_val, const Scalar& max_val) const {
  return in_place("hardtanh_", self(), {},
                  [&](const Tensor& self) { return tend::hardtanh(self, min_val, max_val); });
}

const Tensor& InPlace::clamp_(const std::optional<Scalar>& lo,
                              const std::optional<Scalar>& hi) const {
  return in_place("clamp_", self(), {},
                  [&](const Tensor& self) { return tend::clamp(self, lo, hi); });
}
const Tensor& InPlace::clamp_(const Tensor& lo, const Tensor& hi) const {
  return in_place("clamp_", self(), {lo, hi},
                  [&](const Tensor& self) { return tend::clamp(self, lo, hi); });
}
const Tensor& InPlace::clamp_min_(const Scalar& lo) const {
  return in_place("clamp_min_", self(), {},
                  [&](const Tensor& self) { return tend::clamp_min(self, lo); });
}
const Tensor& InPlace::clamp_min_(const Tensor& lo) const {
  return in_place("clamp_min_", self(), {lo},
                  [&](const Tensor& self) { return tend::clamp_min(self, lo); });
}
const Tensor& InPlace::clamp_max_(const Scalar& hi) const {
  return in_place("clamp_max_", self(), {},
                  [&](const Tensor& self) { return tend::clamp_max(self, hi); });
}
const Tensor& InPlace::clamp_max_(const Tensor& hi) const {
  return in_place("clamp_max_", self(), {hi},
                  [&](const Tensor& self) { return tend::clamp_max(self, hi); });
}
const Tensor& InPlace::nan_to_num_(double nan, std::optional<double> posinf,
                                   std::optional<double> neginf) const {
  return in_place("nan_to_num_", self(), {},
                  [&](const Tensor& self) { return tend::nan_to_num(self, nan, posinf, neginf); });
}

}  // namespace tend::methods
