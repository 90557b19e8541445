// Reductions over any set of dimensions.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include <tend/core/array.h>

namespace tend {

class Tensor;
struct ValuesAndIndices;
struct Extremes;

/// The dimensions to reduce over: one, or a list in braces. They may count from the end; an empty
/// list means all of them.
struct Dims : Shape {
  Dims() = default;
  Dims(std::initializer_list<std::int64_t> dims) : Shape(dims) {}
  Dims(const Shape& dims) : Shape(dims) {}
  template <std::integral T>
  requires(!std::same_as<T, bool>) Dims(T dim) : Shape{static_cast<std::int64_t>(dim)} {}
};

// With keepdim the reduced dimensions stay, of size 1.

/// Sum; bool and int64 give int64. The sum of nothing is 0.
Tensor sum(const Tensor& self, const Dims& dims = {}, bool keepdim = false);

/// Mean; DTypeError unless floating. The mean of nothing is NaN.
Tensor mean(const Tensor& self, const Dims& dims = {}, bool keepdim = false);

/// Product; bool and int64 give int64. The product of nothing is 1.
Tensor prod(const Tensor& self, const Dims& dims = {}, bool keepdim = false);

/// The sum of squared distances to the mean, over n - correction: 1 gives the unbiased variance of
/// a sample, 0 that of a population. NaN or infinite where n <= correction; DTypeError unless
/// floating. https://pytorch.org/docs/2.6/generated/torch.var.html
Tensor var(const Tensor& self, const Dims& dims = {}, double correction = 1, bool keepdim = false);
/// The square root of var.
Tensor std(const Tensor& self, const Dims& dims = {}, double correction = 1, bool keepdim = false);

// The largest and the smallest element. NaN counts as both; ShapeError where there are none.

/// Of all elements; where several are equal each has the same share of the gradient.
Tensor max(const Tensor& self);
Tensor min(const Tensor& self);
/// Along `dim`, with the index of the first of them, to which the gradient goes.
ValuesAndIndices max(const Tensor& self, std::int64_t dim, bool keepdim = false);
ValuesAndIndices min(const Tensor& self, std::int64_t dim, bool keepdim = false);
/// Over any dimensions; equal ones share the gradient.
Tensor amax(const Tensor& self, const Dims& dims = {}, bool keepdim = false);
Tensor amin(const Tensor& self, const Dims& dims = {}, bool keepdim = false);
/// The index (int64) of the first along `dim`; without one, among all elements in row-major order.
Tensor argmax(const Tensor& self, std::optional<std::int64_t> dim = std::nullopt,
              bool keepdim = false);
Tensor argmin(const Tensor& self, std::optional<std::int64_t> dim = std::nullopt,
              bool keepdim = false);

/// The smallest and the largest along `dim`, or of all elements; equal ones share the gradient.
Extremes aminmax(const Tensor& self, std::optional<std::int64_t> dim = std::nullopt,
                 bool keepdim = false);

/// The element in the middle of all in order, the lower one of two; NaN where there is one (and of
/// nothing, as in PyTorch). Elements equal to it share the gradient.
Tensor median(const Tensor& self);
/// Along `dim`, with the index it has there, to which the gradient goes; ShapeError along an empty
/// dimension. https://pytorch.org/docs/2.6/generated/torch.median.html
ValuesAndIndices median(const Tensor& self, std::int64_t dim, bool keepdim = false);

/// log(sum(exp(self))) without overflow; integers become float32. That of nothing, and of -inf
/// alone, is -inf. The gradient is that of a softmax; NaN where the result is infinite, as in
/// PyTorch. https://pytorch.org/docs/2.6/generated/torch.logsumexp.html
Tensor logsumexp(const Tensor& self, const Dims& dims, bool keepdim = false);

/// The norm of vectors: (sum |x|^p)^(1/p), for p = inf (-inf) the largest (smallest) |x|, for p = 0
/// the number of elements that are not zero. DTypeError unless floating; ShapeError for the norm of
/// nothing where p is negative or inf. The gradient is 0 at zero, and shared by equal |x| for p =
/// +-inf. https://pytorch.org/docs/2.6/generated/torch.linalg.vector_norm.html
Tensor norm(const Tensor& self, double p = 2, const Dims& dims = {}, bool keepdim = false);

// Bool; an element is true when it is not zero (NaN is true).

Tensor any(const Tensor& self, const Dims& dims = {}, bool keepdim = false);
Tensor all(const Tensor& self, const Dims& dims = {}, bool keepdim = false);

/// out[i] = self[0] + ... + self[i] along `dim`; bool and int64 give int64.
Tensor cumsum(const Tensor& self, std::int64_t dim);

/// out[i] = self[0] * ... * self[i] along `dim`; bool and int64 give int64. The gradient is made
/// without divisions: it is right where there are zeros.
Tensor cumprod(const Tensor& self, std::int64_t dim);

/// self summed down to `shape`, which must broadcast to self's: the transpose of expand.
Tensor sum_to_size(const Tensor& self, const Shape& shape);

}  // namespace tend
