// Reference reductions for tests, computed number by number, and the allowed errors of kernels.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <tend/core/array/array.h>

namespace tend::test {

/// For each result of a reduction over `dims`, in row-major order, its elements as doubles.
inline std::vector<std::vector<double>> groups_of(const Array& a, const Shape& dims) {
  Shape order;
  std::int64_t count = 1;
  for (std::int64_t d = 0; d < a.rank(); ++d) {
    if (std::find(dims.begin(), dims.end(), d) == dims.end()) order.push_back(d);
  }
  for (const std::int64_t d : dims) {
    order.push_back(d);
    count *= a.size(d);
  }
  const std::vector<double> all = a.permute(order).to(float64).to_vector<double>();
  std::vector<std::vector<double>> groups;
  for (auto at = all.begin(); at != all.end(); at += count) groups.emplace_back(at, at + count);
  return groups;
}

inline double exact_sum(const std::vector<double>& x) {
  long double sum = 0;
  for (const double value : x) sum += value;
  return static_cast<double>(sum);
}

/// The allowed error of a sum. `unit` is the relative error of one rounding.
///
/// Kernels add up to 16 numbers in order, in lanes and blocks. They join these sums in trees and in
/// a binary cascade. The number of roundings is therefore logarithmic in the number of elements.
inline double sum_bound(const std::vector<double>& x, double unit) {
  double size = 0;
  for (const double value : x) size += std::abs(value);
  return (24 + std::log2(static_cast<double>(x.size() + 1))) * unit * size;
}

/// Half the distance between 1 and the next larger number.
inline double unit_of(DType dtype) {
  return dtype == float32 ? 0x1p-24 : dtype == float64 ? 0x1p-53 : 0;
}

/// Every subset of `rank` dimensions.
inline std::vector<Shape> subsets(std::int64_t rank) {
  std::vector<Shape> out;
  for (int bits = 0; bits < 1 << rank; ++bits) {
    Shape dims;
    for (std::int64_t d = 0; d < rank; ++d) {
      if ((bits >> d & 1) != 0) dims.push_back(d);
    }
    out.push_back(dims);
  }
  return out;
}

}  // namespace tend::test
