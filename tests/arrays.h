#pragma once

/// Arrays for tests: from literals, from random numbers, and with several layouts.

#include <cstring>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include <tend/core/array/array.h>
#include <tend/core/threads/parallel.h>

namespace tend::test {

/// The dtype with this name, as the test data spell it.
inline DType dtype_named(const std::string& name) {
  for (const DType dtype : {boolean, int64, float32, float64}) {
    if (dtype_name(dtype) == name) return dtype;
  }
  throw Error("no dtype " + name);
}

/// An array with these elements of type T: 1-d, or of `shape`.
template <class T>
Array array_of(std::initializer_list<T> values) {
  // std::vector would not work here: std::vector<bool> has no data().
  return Array::from<T>(std::span(values.begin(), values.size()),
                        {static_cast<std::int64_t>(values.size())});
}
template <class T>
Array array_of(std::initializer_list<T> values, const Shape& shape) {
  return array_of<T>(values).reshape(shape);
}

/// Random numbers between -1 and 1 (floats) or -50 and 50 (int64), or random booleans.
inline Array random_array(const Shape& shape, DType dtype, std::uint32_t seed = 1) {
  Array out = Array::empty(shape, dtype);
  std::mt19937 generator(seed);
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::int64_t i = 0; i < out.numel(); ++i) {
      const double unit = static_cast<double>(generator()) / 4294967296.0 * 2 - 1;
      out.data<T>()[i] = std::is_same_v<T, bool>
                             ? unit > 0
                             : static_cast<T>(is_floating(dtype) ? unit : unit * 50);
    }
  });
  return out;
}

/// Copies of `a` with different strides: row-major, column-major, with gaps between the rows, and
/// with gaps between all elements.
inline std::vector<Array> layouts(const Array& a) {
  std::vector<Array> out{a.clone()};
  Shape reversed;
  for (std::int64_t d = a.rank() - 1; d >= 0; --d) reversed.push_back(d);
  out.push_back(a.permute(reversed).clone().permute(reversed));
  for (const std::int64_t step : {1, 2}) {
    if (a.rank() == 0) break;
    Shape wide = a.shape();
    wide[a.rank() - 1] = step * wide.back() + 3;
    const Array room = Array::full(wide, 77, a.dtype());
    out.push_back(room.slice(-1, 1, 1 + step * a.shape().back(), step));
    out.back().copy_from(a);
  }
  return out;
}

/// True if both arrays have the same shape, dtype and bytes.
inline bool same_bits(const Array& a, const Array& b) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
  const Array x = a.contiguous(), y = b.contiguous();
  return x.numel() == 0 ||
         std::memcmp(x.raw(), y.raw(),
                     static_cast<std::size_t>(x.numel() * item_size(x.dtype()))) == 0;
}

/// True if the result of f() has the same bits with one, two and three threads.
template <class F>
bool same_bits_for_any_thread_count(F f) {
  const int before = num_threads();
  set_num_threads(1);
  const Array expected = f();
  bool same = true;
  for (const int threads : {2, 3}) {
    set_num_threads(threads);
    same = same && same_bits(f(), expected);
  }
  set_num_threads(before);
  return same;
}

/// The lines of `a` along dimension `dim`, as doubles.
inline std::vector<std::vector<double>> lines_of(const Array& a, std::int64_t dim) {
  const Array last = a.to(float64).transpose(dim, -1);
  const std::vector<double> all = last.to_vector<double>();
  std::vector<std::vector<double>> lines;
  for (auto at = all.begin(); at != all.end(); at += a.size(dim))
    lines.emplace_back(at, at + a.size(dim));
  return lines;
}

}  // namespace tend::test
