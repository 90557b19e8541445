// Joins examples to a batch, as torch.utils.data.default_collate and
// torch.nn.utils.rnn.pad_sequence do.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <tend/autograd/ops/creation.h>
#include <tend/autograd/ops/joining.h>
#include <tend/autograd/tensor/tensor.h>
#include <tend/core/array/scalar.h>
#include <tend/core/base/error.h>
#include <tend/core/base/words.h>

namespace tend::data {

/// The side on which pad_sequence adds padding.
enum class PaddingSide { right, left };

/// Pads n sequences to the same length and stacks them (torch.nn.utils.rnn.pad_sequence).
///
/// The sequences have the shapes (l_i, ...), with equal further dimensions and the same dtype. With
/// t the largest l_i, the result is (t, n, ...), or (n, t, ...) with batch_first. Gradients reach
/// each sequence.
///
/// Throws:
///   ShapeError - there are no sequences, or one has no dimensions
///   ShapeError - the further dimensions differ
///   DTypeError - the dtypes differ
Tensor pad_sequence(const std::vector<Tensor>& sequences, Flag batch_first = false,
                    const Scalar& padding_value = 0, OrWord<PaddingSide> side = PaddingSide::right);

/// The result of PadCollate: the padded sequences, `values` (n, t, ...), and their `lengths`, int64
/// (n,).
struct Padded {
  Tensor values;
  Tensor lengths;
};

namespace detail {
template <class T>
struct IsTuple : std::false_type {};
template <class... T>
struct IsTuple<std::tuple<T...>> : std::true_type {};
template <class A, class B>
struct IsTuple<std::pair<A, B>> : std::true_type {};
template <class T, std::size_t n>
struct IsTuple<std::array<T, n>> : std::true_type {};

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};

/// The element type of a tensor of numbers T: T for bool, float and double, int64 for integers.
template <class T>
using NumberOf =
    std::conditional_t<std::is_same_v<T, bool> || std::is_same_v<T, float>, T,
                       std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>>;

/// The number as an element of a tensor. Throws an IndexError if it is an integer that int64 cannot
/// hold.
template <class T>
NumberOf<T> number(T value) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) return Integer(value);
  return static_cast<NumberOf<T>>(value);
}

/// Element `i` of each tuple.
template <std::size_t i, class T>
auto part_of(const std::vector<T>& tuples) {
  std::vector<std::tuple_element_t<i, T>> parts;
  parts.reserve(tuples.size());
  for (const T& tuple : tuples) parts.push_back(std::get<i>(tuple));
  return parts;
}

/// Element `i` of each vector.
template <class T>
std::vector<T> elements_of(const std::vector<std::vector<T>>& vectors, std::size_t i) {
  std::vector<T> elements;
  for (const std::vector<T>& each : vectors) elements.push_back(each[i]);
  return elements;
}

/// Throws a ShapeError unless the sizes of two vectors are equal.
void check_sizes(std::size_t first, std::size_t other);
}  // namespace detail

/// Joins n examples to a batch, depending on their type. A DataLoader uses it by default.
///
/// - Tensors of one shape and dtype are stacked.
/// - Numbers become one tensor (n,): bool for bool, int64 for integers, float32 for float, float64
///   for double.
/// - Pairs, tuples, arrays and vectors become a pair, tuple, array or vector of batches. For
///   example, pair<Tensor, int> becomes a pair of a tensor (n, ...) and a tensor (n,), and a vector
///   of k numbers becomes a vector of k tensors (n,).
/// - Examples of other types, such as your own structs, become a vector of examples.
///
/// PyTorch: torch.utils.data.default_collate.
///
/// Throws:
///   ShapeError - vectors have different sizes, or tensors different shapes
///   DTypeError - tensors have different dtypes
///   IndexError - int64 cannot hold an integer
template <class T>
auto default_collate(const std::vector<T>& examples) {
  if constexpr (std::is_same_v<T, Tensor>) {
    return stack(examples);
  } else if constexpr (std::is_arithmetic_v<T>) {
    Tensor batch =
        empty({static_cast<std::int64_t>(examples.size())}, dtype_of<detail::NumberOf<T>>());
    auto* next = batch.data_ptr<detail::NumberOf<T>>();
    for (const T value : examples) *next++ = detail::number(value);
    return batch;
  } else if constexpr (detail::IsVector<T>::value) {
    using Part = typename T::value_type;
    std::vector<decltype(default_collate(std::vector<Part>()))> parts;
    const std::size_t size = examples.empty() ? 0 : examples.front().size();
    for (const T& example : examples) detail::check_sizes(size, example.size());
    for (std::size_t i = 0; i < size; ++i)
      parts.push_back(default_collate(detail::elements_of(examples, i)));
    return parts;
  } else if constexpr (detail::IsTuple<T>::value) {
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
      if constexpr (sizeof...(i) == 2 && requires { typename T::first_type; }) {
        return std::pair(default_collate(detail::part_of<i>(examples))...);
      } else if constexpr (requires { typename T::value_type; }) {
        using Part = decltype(default_collate(std::vector<typename T::value_type>()));
        return std::array<Part, sizeof...(i)>{default_collate(detail::part_of<i>(examples))...};
      } else {
        // The type must be explicit: std::tuple(pair) would be a tuple of the pair's two elements.
        using Parts = std::tuple<decltype(default_collate(detail::part_of<i>(examples)))...>;
        return Parts(default_collate(detail::part_of<i>(examples))...);
      }
    }
    (std::make_index_sequence<std::tuple_size_v<T>>());
  } else {
    return examples;
  }
}

/// default_collate as a function object.
struct DefaultCollate {
  template <class T>
  auto operator()(const std::vector<T>& examples) const {
    return default_collate(examples);
  }
};

/// Collates sequences of different lengths into Padded.
///
///     data::DataLoader loader(dataset, options, data::PadCollate{.padding_value = 50256});
///
/// Examples are tensors (l_i, ...) or vectors of numbers. They may also be pairs of such a sequence
/// and another value. Then a batch is a pair of a Padded and the default_collate of the other
/// values.
///
/// Throws: ShapeError, DTypeError - as pad_sequence()
struct PadCollate {
  Scalar padding_value = 0;
  OrWord<PaddingSide> side = PaddingSide::right;

  Padded operator()(const std::vector<Tensor>& sequences) const;
  template <class T>
  requires std::is_arithmetic_v<T> Padded
  operator()(const std::vector<std::vector<T>>& sequences) const {
    std::vector<Tensor> tensors;
    for (const std::vector<T>& sequence : sequences) tensors.push_back(default_collate(sequence));
    return (*this)(tensors);
  }
  template <class A, class B>
  auto operator()(const std::vector<std::pair<A, B>>& examples) const {
    return std::pair((*this)(detail::part_of<0>(examples)),
                     default_collate(detail::part_of<1>(examples)));
  }
};

}  // namespace tend::data

namespace tend::detail {
template <>
inline constexpr std::string_view kWords<data::PaddingSide> = "padding_side: right left";
}  // namespace tend::detail
