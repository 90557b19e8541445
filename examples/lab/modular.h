// Shared by the experiments on addition modulo a prime p: all pairs of numbers, and the Fourier
// basis as a matrix.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include <tend/tend.h>

namespace lab {

/// All pairs (a, b), int64 (p, p, 2). The row is their sum a + b, the column is their difference
/// a - b, both modulo p.
inline tend::Tensor pairs_by_sum(std::int64_t p) {
  const tend::Tensor sum = tend::arange(p).unsqueeze(1), difference = tend::arange(p);
  const std::int64_t half = (p + 1) / 2;  // the inverse of 2
  return tend::stack({(sum + difference) * half % p, (sum - difference) * half % p}, -1);
}

/// The Fourier basis of functions of a number t modulo p, without the constant: float64 ((p - 1) /
/// 2, 2, p). For each frequency k from 1, it has cos(2 pi k t / p) and sin(2 pi k t / p), scaled to
/// be orthonormal.
inline tend::Tensor fourier_basis(std::int64_t p) {
  const tend::Tensor k = tend::arange(1, (p + 1) / 2).unsqueeze(1);
  const tend::Tensor angle =
      (k * tend::arange(p) % p).to(tend::float64) * (2 * std::numbers::pi / static_cast<double>(p));
  return tend::stack({cos(angle), sin(angle)}, 1) * std::sqrt(2 / static_cast<double>(p));
}

/// The power of each frequency in n functions of a number. `x` is (p, n), the result
/// ((p - 1) / 2, n).
inline tend::Tensor fourier_power(const tend::Tensor& x) {
  return matmul(fourier_basis(x.size(0)), x.to(tend::float64)).square().sum(1);
}

/// The share of each frequency, from 1, in the total power of n functions of a number, x (p, n).
inline tend::Tensor spectrum(const tend::Tensor& x) {
  const tend::Tensor power = fourier_power(x).sum(1);
  return power / power.sum();
}

/// Projects functions of pairs onto cos(w (a + b)) and sin(w (a + b)) of some frequencies w.
///
/// `x` (n, m) has the values of m functions at all n = p^2 pairs. `sums` has a + b of each pair.
/// `frequencies` has the indices of the frequencies, from 0.
inline tend::Tensor part_of_sums(const tend::Tensor& x, const tend::Tensor& sums, std::int64_t p,
                                 const tend::Tensor& frequencies) {
  const tend::Tensor basis = fourier_basis(p).index_select(0, frequencies).flatten(0, 1);
  const tend::Tensor mean = tend::zeros({p, x.size(1)}, x.dtype()).index_add(0, sums, x) / p;
  return matmul(basis.t(), matmul(basis, mean)).index_select(0, sums);
}

/// A view of a chart with a bar for each frequency's share.
inline tend::nn::ChartView spectrum_view(const std::string& name, const tend::Tensor& share) {
  tend::nn::Curve bars{"share", {}, share.to_vector<double>()};
  for (std::size_t k = 1; k <= bars.y.size(); ++k) bars.x.push_back(static_cast<double>(k));
  return {name, {bars}};
}

inline std::vector<std::string> number_names(std::int64_t p) {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < p; ++i) names.push_back(std::to_string(i));
  return names;
}

}  // namespace lab
