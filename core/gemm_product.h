// What gemm.cpp works on: matrices by pointer and strides, and batches of them.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include <tend/core/array.h>

namespace tend::kernels {

template <class T>
struct Matrix {
  T* data;
  std::int64_t rows, cols;
  std::int64_t row_stride, col_stride;

  T& at(std::int64_t row, std::int64_t col) const {
    return data[row * row_stride + col * col_stride];
  }
  Matrix transposed() const { return {data, cols, rows, col_stride, row_stride}; }
};

// c = alpha * a @ b + beta * c, + bias for every row where there is one
template <class T>
struct Product {
  Matrix<T> c;
  Matrix<const T> a, b;
  T alpha, beta;
  const T* bias = nullptr;

  double work() const {
    return static_cast<double>(c.rows) * static_cast<double>(c.cols) * static_cast<double>(a.cols);
  }
  // For products without bias.
  Product transposed() const {
    return {c.transposed(), b.transposed(), a.transposed(), alpha, beta};
  }
  // The part of the product that makes a block of c.
  Product block(std::int64_t row, std::int64_t rows, std::int64_t col, std::int64_t cols) const {
    Product part = *this;
    part.c.data += row * c.row_stride + col * c.col_stride;
    part.a.data += row * a.row_stride;
    part.b.data += col * b.col_stride;
    part.c.rows = part.a.rows = rows;
    part.c.cols = part.b.cols = cols;
    if (bias) part.bias += col;
    return part;
  }
};

// The batch dimensions of a product, collapsed where they can be; a shared matrix has step 0.
class Batch {
 public:
  Batch(const Array& out, const Array& a, const Array& b) {
    const std::int64_t dims = out.rank() - (a.rank() > 1) - (b.rank() > 1);
    for (std::int64_t d = 0; d < dims; ++d) {
      const auto step = [&](const Array& x) {
        const std::int64_t at = x.rank() - 2 - dims + d;
        return at < 0 || x.shape()[at] == 1 ? 0 : x.strides()[at];
      };
      push({out.shape()[d], out.strides()[d], step(a), step(b)});
    }
  }

  std::int64_t count() const { return count_; }

  template <class T>
  Product<T> item(Product<T> first, std::int64_t number) const {
    for (std::size_t d = rank_; d-- > 0;) {
      const std::int64_t i = number % dims_[d].size;
      number /= dims_[d].size;
      first.c.data += i * dims_[d].c_step;
      first.a.data += i * dims_[d].a_step;
      first.b.data += i * dims_[d].b_step;
    }
    return first;
  }

  // Items that share their right matrix are one product of more rows.
  template <class T>
  void fold_rows(Product<T>& first) {
    if (rank_ == 0) return;
    const Dim& last = dims_[rank_ - 1];
    const bool single = first.c.rows == 1;
    if (last.b_step != 0 || last.a_step == 0 || last.size == 0) return;
    if (!single && (last.a_step != first.a.rows * first.a.row_stride ||
                    last.c_step != first.c.rows * first.c.row_stride)) {
      return;
    }
    if (single) {
      first.a.row_stride = last.a_step;
      first.c.row_stride = last.c_step;
    }
    first.a.rows *= last.size;
    first.c.rows *= last.size;
    count_ /= last.size;
    --rank_;
  }

 private:
  struct Dim {
    std::int64_t size, c_step, a_step, b_step;
  };
  static constexpr std::size_t kMostDims = 64;

  void push(const Dim& dim) {
    count_ *= dim.size;
    if (dim.size == 1) return;
    if (rank_ > 0) {
      Dim& last = dims_[rank_ - 1];
      if (last.c_step == dim.size * dim.c_step && last.a_step == dim.size * dim.a_step &&
          last.b_step == dim.size * dim.b_step) {
        last = {last.size * dim.size, dim.c_step, dim.a_step, dim.b_step};
        return;
      }
    }
    if (rank_ == kMostDims)
      fail<ShapeError>("matmul", "more than ", kMostDims, " batch dimensions");
    dims_[rank_++] = dim;
  }

  std::array<Dim, kMostDims> dims_;
  std::size_t rank_ = 0;
  std::int64_t count_ = 1;
};

template <class T>
Product<T> first_product(const Array& out, const Array& a, const Array& b, const Scalar& alpha,
                         const Scalar& beta) {
  const auto matrix = [](auto* data, const Array& x, bool has_rows, bool has_cols) {
    const std::int64_t row = x.rank() - 1 - has_cols, col = x.rank() - 1;
    return Matrix<std::remove_pointer_t<decltype(data)>>{
        data, has_rows ? x.shape()[row] : 1, has_cols ? x.shape()[col] : 1,
        has_rows ? x.strides()[row] : 1, has_cols ? x.strides()[col] : 1};
  };
  const auto number = [](const Scalar& x) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(x.to<std::int64_t>());
    } else {
      return x.to<T>();
    }
  };
  return {matrix(static_cast<T*>(out.raw()), out, a.rank() > 1, b.rank() > 1),
          matrix(static_cast<const T*>(a.raw()), a, a.rank() > 1, true),
          matrix(static_cast<const T*>(b.raw()), b, true, b.rank() > 1), number(alpha),
          number(beta)};
}

}  // namespace tend::kernels
