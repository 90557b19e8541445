// Methods of Tensor: elements chosen by index tensors, orderings and random draws. Each calls the
// free function of its name, which has the documentation.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tend/autograd/tensor/index.h>
#include <tend/core/array/dtype.h>
#include <tend/core/array/scalar.h>
#include <tend/core/array/shape.h>
#include <tend/core/base/strict.h>
#include <tend/core/base/words.h>
#include <tend/core/random/random.h>

namespace tend {

class Tensor;
struct ValuesAndIndices;
struct UniqueElements;
enum class ScatterReduction;

/// What quantile gives between two elements: a number between them in proportion, the smaller, the
/// larger, the nearer one (of even rank if both are equally near), or their mean.
enum class Interpolation { linear, lower, higher, nearest, midpoint };
template <>
inline constexpr std::string_view detail::kWords<Interpolation> =
    "interpolation: linear lower higher nearest midpoint";

namespace methods {

/// A base of Tensor.
class Indexing {
 public:
  // Elements at positions along one dimension.

  Tensor gather(std::int64_t d, const Tensor& positions) const;
  Tensor scatter(std::int64_t d, const Tensor& positions, const Tensor& source) const;
  Tensor scatter(std::int64_t d, const Tensor& positions, const Scalar& value) const;
  Tensor scatter_add(std::int64_t d, const Tensor& positions, const Tensor& source) const;
  Tensor scatter_reduce(std::int64_t d, const Tensor& positions, const Tensor& source,
                        OrWord<ScatterReduction> reduce, Flag include_self = true) const;
  Tensor index_select(std::int64_t d, const Tensor& positions) const;
  Tensor index_add(std::int64_t d, const Tensor& positions, const Tensor& source,
                   const Scalar& alpha = 1) const;
  Tensor slice_scatter(const Tensor& source, std::int64_t d = 0,
                       std::optional<Integer> start = std::nullopt,
                       std::optional<Integer> stop = std::nullopt, std::int64_t step = 1) const;
  Tensor select_scatter(const Tensor& source, std::int64_t d, std::int64_t position) const;
  Tensor quantile(double q, std::optional<Integer> d = std::nullopt, Flag keepdim = false,
                  OrWord<Interpolation> interpolation = Interpolation::linear) const;
  Tensor quantile(const Tensor& q, std::optional<Integer> d = std::nullopt, Flag keepdim = false,
                  OrWord<Interpolation> interpolation = Interpolation::linear) const;
  UniqueElements unique_consecutive(Flag return_inverse = false, Flag return_counts = false,
                                    std::optional<Integer> d = std::nullopt) const;
  Tensor index_copy(std::int64_t d, const Tensor& positions, const Tensor& source) const;
  Tensor index_fill(std::int64_t d, const Tensor& positions, const Scalar& value) const;
  Tensor index_fill(std::int64_t d, const Tensor& positions, const Tensor& value) const;
  Tensor take_along_dim(const Tensor& positions, std::optional<Integer> d = std::nullopt) const;

  // Elements anywhere in the tensor.

  Tensor index_put(Indices indices, const Tensor& values, Flag accumulate = false) const;
  Tensor take(const Tensor& positions) const;
  Tensor masked_select(const Tensor& mask) const;
  Tensor masked_scatter(const Tensor& mask, const Tensor& source) const;
  Tensor nonzero() const;
  std::vector<Tensor> nonzero_numpy() const;

  // Orderings.

  ValuesAndIndices sort(Integer d = -1, Flag descending = false, Flag stable = false) const;
  Tensor argsort(Integer d = -1, Flag descending = false, Flag stable = false) const;
  ValuesAndIndices topk(std::int64_t k, Integer d = -1, Flag largest = true,
                        Flag sorted = true) const;
  UniqueElements unique(Flag sorted = true, Flag return_inverse = false, Flag return_counts = false,
                        std::optional<Integer> d = std::nullopt) const;
  Tensor bincount(std::int64_t minlength = 0) const;
  Tensor bincount(const Tensor& weights, std::int64_t minlength = 0) const;

  // Random draws, with the tensor as probabilities or weights; with p, in its shape.

  Tensor bernoulli(Generator& generator = default_generator()) const;
  Tensor bernoulli(double p, Generator& generator = default_generator()) const;
  Tensor multinomial(std::int64_t samples, Flag replacement = false,
                     Generator& generator = default_generator()) const;

 private:
  const Tensor& self() const;
};

}  // namespace methods
}  // namespace tend
