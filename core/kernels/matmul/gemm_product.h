// The arguments of the matrix kernels: matrices by pointer and strides, and batches of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <tend/core/array/array.h>
#include <tend/core/array/collapsed_dims.h>

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

// The product c = alpha * a @ b + beta * c. The bias is added to every row unless it is null.
template <class T>
struct MatrixProduct {
  Matrix<T> c;
  Matrix<const T> a, b;
  T alpha, beta;
  const T* bias = nullptr;

  double work() const {
    return static_cast<double>(c.rows) * static_cast<double>(c.cols) * static_cast<double>(a.cols);
  }
  // Only for products without bias.
  MatrixProduct transposed() const {
    return {c.transposed(), b.transposed(), a.transposed(), alpha, beta};
  }
  // The part of the product that computes a block of c.
  MatrixProduct block(std::int64_t row, std::int64_t rows, std::int64_t col,
                      std::int64_t cols) const {
    MatrixProduct part = *this;
    part.c.data += row * c.row_stride + col * c.col_stride;
    part.a.data += row * a.row_stride;
    part.b.data += col * b.col_stride;
    part.c.rows = part.a.rows = rows;
    part.c.cols = part.b.cols = cols;
    if (bias) part.bias += col;
    return part;
  }
};

// The batch dimensions of a product, collapsed where possible. A matrix that all items share has
// step 0.
class Batch {
 public:
  Batch(const Array& out, const Array& a, const Array& b) {
    const std::int64_t dims = out.rank() - (a.rank() > 1) - (b.rank() > 1);
    for (std::int64_t d = 0; d < dims; ++d) {
      const auto step = [&](const Array& x) {
        const std::int64_t at = x.rank() - 2 - dims + d;
        return at < 0 || x.shape()[at] == 1 ? 0 : x.strides()[at];
      };
      dims_.push("matmul", {out.shape()[d], {out.strides()[d], step(a), step(b)}});
    }
  }

  std::int64_t count() const { return dims_.count(); }

  template <class T>
  MatrixProduct<T> item(MatrixProduct<T> first, std::int64_t number) const {
    const Dims::Steps at = dims_.offset(number);
    first.c.data += at[kC];
    first.a.data += at[kA];
    first.b.data += at[kB];
    return first;
  }

  // Turns items that share their right matrix into one product with more rows.
  template <class T>
  void flatten_rows(MatrixProduct<T>& first) {
    if (dims_.rank() == 0) return;
    const Dims::Dim last = dims_[dims_.rank() - 1];
    const bool single = first.c.rows == 1;
    if (last.step[kB] != 0 || last.step[kA] == 0 || last.size == 0) return;
    if (!single && (last.step[kA] != first.a.rows * first.a.row_stride ||
                    last.step[kC] != first.c.rows * first.c.row_stride)) {
      return;
    }
    if (single) {
      first.a.row_stride = last.step[kA];
      first.c.row_stride = last.step[kC];
    }
    first.a.rows *= last.size;
    first.c.rows *= last.size;
    dims_.pop();
  }

 private:
  using Dims = CollapsedDims<3>;
  static constexpr std::size_t kC = 0, kA = 1, kB = 2;
  Dims dims_;
};

template <class T>
MatrixProduct<T> first_product(const Array& out, const Array& a, const Array& b,
                               const Scalar& alpha, const Scalar& beta) {
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
