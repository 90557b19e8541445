// How reductions are called; their loop is in reduce_loop.cpp. Here "sum" means the result of any
// reduction.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <tend/core/array/array.h>
#include <tend/core/base/function_ref.h>

namespace tend::kernels {

/// The type Acc of an operation's intermediate results.
///
/// The operation has three static functions: `Acc identity()`, `Acc load(element)` and `Acc
/// combine(Acc, Acc)`. combine is associative except for rounding.
template <class Op>
using Accumulator = decltype(Op::identity());

/// An index as wide as an element of 4 or 8 bytes, so that vectors of both have the same number of
/// lanes.
template <class T>
using Index = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;

/// Operations that do not round, such as extremes. The order of their elements affects only the
/// sign of a zero.
template <class Op>
concept Exact = requires {
  requires Op::kExact;
};

/// Operations that reduce even a few elements in blocks. They have no `load`.
template <class Op>
concept InBlocks = requires {
  requires Op::kInBlocks;
};

/// Computes block[j] for each j below `width`.
///
/// block[j] is the reduction of the `count` elements from[i * down + j * across]. `down` or
/// `across` is 1 if the strides allow it. The results may also be `width` blocks of one sum, which
/// are `across` elements apart.
template <class Op, class T>
using ReduceBlock = void (*)(Accumulator<Op>* block, const T* from, std::int64_t count,
                             std::int64_t down, std::int64_t width, std::int64_t across);

namespace detail {

inline constexpr std::int64_t kInOrder = 16;  // fewer elements are reduced from left to right
inline constexpr std::int64_t kBlock = 1024;  // contiguous elements that are reduced in lanes
/// The largest number of results that a call of a ReduceBlock computes.
template <class Acc>
inline constexpr std::int64_t kStripWidth = sizeof(Acc) <= 8 ? 256 : 64;
/// The largest number of bytes that the results of such a call need.
inline constexpr std::size_t kStripBytes = 2048;
/// The number of blocks of one sum that are reduced in one call.
inline constexpr std::int64_t kTogether = 16;

/// An operation on elements of one type. Its functions hide the types, so that the loop is compiled
/// only once. `sums` are contiguous accumulators.
struct ReduceFunctions {
  std::int64_t element_size, sum_size, strip_width;
  bool is_exact;
  void (*set_identity)(void* sums, std::int64_t width);
  /// later[j] = earlier[j] combined with later[j]
  void (*combine)(const void* earlier, void* later, std::int64_t width);
  /// Combines the `count` elements of a ReduceBlock into sums[j], from left to right; nullptr for
  /// operations that are InBlocks.
  void (*add)(void* sums, const void* from, std::int64_t count, std::int64_t down,
              std::int64_t width, std::int64_t across);
};

template <class Op, class T>
void add_in_order(void* sums, const void* from, std::int64_t count, std::int64_t down,
                  std::int64_t width, std::int64_t across) {
  auto* const result = static_cast<Accumulator<Op>*>(sums);
  const T* const elements = static_cast<const T*>(from);
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t j = 0; j < width; ++j)
      result[j] = Op::combine(result[j], Op::load(elements[i * down + j * across]));
  }
}

template <class Op, class T>
constexpr ReduceFunctions reduce_functions() {
  using Acc = Accumulator<Op>;
  static_assert(kStripWidth<Acc> * sizeof(Acc) <= kStripBytes && kTogether <= kStripWidth<Acc>);
  // The loop moves sums as bytes.
  static_assert(std::is_trivially_copyable_v<Acc> && alignof(Acc) <= alignof(std::max_align_t));
  ReduceFunctions functions = {
      .element_size = sizeof(T),
      .sum_size = sizeof(Acc),
      .strip_width = kStripWidth<Acc>,
      .is_exact = Exact<Op>,
      .set_identity =
          [](void* sums, std::int64_t width) {
            std::fill_n(static_cast<Acc*>(sums), width, Op::identity());
          },
      .combine =
          [](const void* earlier, void* later, std::int64_t width) {
            const Acc* const a = static_cast<const Acc*>(earlier);
            Acc* const b = static_cast<Acc*>(later);
            for (std::int64_t j = 0; j < width; ++j) b[j] = Op::combine(a[j], b[j]);
          },
      .add = nullptr,
  };
  if constexpr (!InBlocks<Op>) functions.add = add_in_order<Op, T>;
  return functions;
}

/// See ReduceBlock.
using BlockFunction = FunctionRef<void(void* block, const void* from, std::int64_t count,
                                       std::int64_t down, std::int64_t width, std::int64_t across)>;
/// Stores `width` results in the output. The first one is stored `to` elements after the output's
/// first element, and the others follow `step` elements apart.
using StoreFunction =
    FunctionRef<void(std::int64_t to, std::int64_t step, const void* sums, std::int64_t width)>;

void reduce(const Array& out, const Array& a, const Shape& dims, const ReduceFunctions& op,
            BlockFunction reduce_block, StoreFunction store);

}  // namespace detail

/// Reduces `a`, which has elements T, over `dims` with Op, and calls store(offset, result) for each
/// element of `out`.
///
/// `offset` is the offset of the element from the first one of `out`, in elements. `reduce_block`
/// reduces the blocks of Op. Only shapes and strides decide which elements are reduced together,
/// and in which order.
template <class Op, class T, class Store>
void reduce_to(const Array& out, const Array& a, const Shape& dims, ReduceBlock<Op, T> reduce_block,
               Store store) {
  using Acc = Accumulator<Op>;
  static constexpr detail::ReduceFunctions kFunctions = detail::reduce_functions<Op, T>();
  const auto reduce_any_block = [reduce_block](void* block, const void* from, std::int64_t count,
                                               std::int64_t down, std::int64_t width,
                                               std::int64_t across) {
    reduce_block(static_cast<Acc*>(block), static_cast<const T*>(from), count, down, width, across);
  };
  const auto store_all = [&store](std::int64_t to, std::int64_t step, const void* sums,
                                  std::int64_t width) {
    for (std::int64_t j = 0; j < width; ++j) store(to + j * step, static_cast<const Acc*>(sums)[j]);
  };
  assert(a.dtype() == dtype_of<T>());
  detail::reduce(out, a, dims, kFunctions, reduce_any_block, store_all);
}

/// As reduce_to, and stores the results as elements of `out`, of type Out.
template <class Op, class T, class Out>
void reduce(const Array& out, const Array& a, const Shape& dims, ReduceBlock<Op, T> reduce_block) {
  Out* const to = out.data<Out>();
  reduce_to<Op>(out, a, dims, reduce_block,
                [to](std::int64_t offset, const Accumulator<Op>& result) {
                  to[offset] = static_cast<Out>(result);
                });
}

}  // namespace tend::kernels
