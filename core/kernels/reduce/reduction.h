// The innermost loops of reductions, with vectors or in a form that compilers vectorise. The file
// is compiled for every SIMD target that Highway offers, and the order of operations is the same on
// each. Only kernel sources include it, after <hwy/foreach_target.h>.

#if defined(TEND_CORE_KERNELS_REDUCTION_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TEND_CORE_KERNELS_REDUCTION_H
#undef TEND_CORE_KERNELS_REDUCTION_H
#else
#define TEND_CORE_KERNELS_REDUCTION_H
#endif

#include <hwy/highway.h>
#include <tend/core/kernels/reduce/reduce_loop.h>
#include <tend/core/kernels/reduce/reduce_ops.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Combines row[j * step] into acc[j].
template <class Op, class T>
void reduce_row(Accumulator<Op>* acc, const T* row, std::int64_t width, std::int64_t step) {
  if (step == 1) {
    for (std::int64_t j = 0; j < width; ++j) acc[j] = Op::combine(acc[j], Op::load(row[j]));
  } else {
    for (std::int64_t j = 0; j < width; ++j) acc[j] = Op::combine(acc[j], Op::load(row[j * step]));
  }
}

/// Combines four rows, which are `down` elements apart, in pairs. Then combines their result
/// into acc.
template <class Op, class T>
void reduce_four_rows(Accumulator<Op>* acc, const T* row, std::int64_t down, std::int64_t width) {
  const T *second = row + down, *third = second + down, *fourth = third + down;
  for (std::int64_t j = 0; j < width; ++j) {
    acc[j] = Op::combine(acc[j], Op::combine(Op::combine(Op::load(row[j]), Op::load(second[j])),
                                             Op::combine(Op::load(third[j]), Op::load(fourth[j]))));
  }
}

inline constexpr std::int64_t kLanes = 64;

#if HWY_TARGET != HWY_SCALAR
// The operations of reduce_ops.h on vectors.

template <class T, class V>
HWY_INLINE V combine_vectors(Sum<T>, V a, V b) {
  return hn::Add(a, b);
}
template <class T, class V>
HWY_INLINE V combine_vectors(Product<T>, V a, V b) {
  return hn::Mul(a, b);
}
// Only for numbers; reduce_run handles NaN.
template <class T, bool kLargest, class V>
HWY_INLINE V combine_vectors(Extreme<T, kLargest>, V a, V b) {
  return kLargest ? hn::Max(a, b) : hn::Min(a, b);
}

template <class D, class Op>
HWY_INLINE hn::Vec<D> load_vector(D d, Op, const hn::TFromD<D>* from) {
  return hn::LoadU(d, from);
}
template <class D, class T>
HWY_INLINE hn::Vec<D> load_vector(D d, SquareSum<T>, const T* from) {
  const auto x = hn::LoadU(d, from);
  return hn::Mul(x, x);
}
template <class D, class T>
HWY_INLINE hn::Vec<D> load_vector(D d, AbsoluteSum<T>, const T* from) {
  return hn::Abs(hn::LoadU(d, from));
}
template <class D, class T, bool kLargest>
HWY_INLINE hn::Vec<D> load_vector(D d, ExtremeMagnitude<T, kLargest>, const T* from) {
  return hn::Abs(hn::LoadU(d, from));
}
template <class D, class T>
HWY_INLINE hn::Vec<D> load_vector(D d, NonzeroCount<T>, const T* from) {
  const auto is_zero = hn::Eq(hn::LoadU(d, from), hn::Zero(d));
  return hn::IfThenZeroElse(is_zero, hn::Set(d, T(1)));
}
template <class D>
HWY_INLINE hn::Vec<D> load_vector(D d, Sum<double>, const float* from) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), from));
}
template <class D, class T, class From>
HWY_INLINE hn::Vec<D> load_vector(D d, NumberSum<T>, const From* from) {
  const auto x = load_vector(d, Sum<T>(), from);
  return hn::IfThenElseZero(hn::Eq(x, x), x);
}

/// Reduces the lanes of a vector in a tree: combines its lower half with its upper half, and so on.
template <class Op, class D, class V>
HWY_INLINE hn::TFromD<D> reduce_vector(D d, V v) {
  if constexpr (hn::MaxLanes(d) == 1) {
    return hn::GetLane(v);
  } else {
    const hn::Half<D> half;
    return reduce_vector<Op>(half,
                             combine_vectors(Op(), hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

/// Reduces `count` contiguous elements in kLanes lanes, and then the lanes in a tree.
template <class Op, class T>
requires std::is_floating_point_v<Accumulator<Op>> Accumulator<Op> reduce_run(const T* from,
                                                                              std::int64_t count) {
  const hn::CappedTag<Accumulator<Op>, kLanes> d;
  constexpr std::int64_t kWide = hn::MaxLanes(d), kVectors = kLanes / kWide;
  hn::Vec<decltype(d)> vectors[kVectors];
  for (auto& v : vectors) v = hn::Set(d, Op::identity());
  [[maybe_unused]] auto is_nan = hn::IsNaN(hn::Zero(d));
  const auto add = [&](std::int64_t v, const T* place) HWY_ATTR {
    const auto x = load_vector(d, Op(), place);
    if constexpr (Exact<Op>) is_nan = hn::Or(is_nan, hn::IsNaN(x));
    vectors[v] = combine_vectors(Op(), vectors[v], x);
  };
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::int64_t v = 0; v < kVectors; ++v) add(v, from + i + v * kWide);
  }
  if (i < count) {
    T rest[kLanes];
    std::fill(std::copy(from + i, from + count, rest), rest + kLanes, T(Op::identity()));
    for (std::int64_t v = 0; v < kVectors; ++v) add(v, rest + v * kWide);
  }
  if constexpr (Exact<Op>) {
    if (!hn::AllFalse(d, is_nan)) return std::numeric_limits<Accumulator<Op>>::quiet_NaN();
  }
  for (std::int64_t half = kVectors / 2; half > 0; half /= 2) {
    for (std::int64_t v = 0; v < half; ++v)
      vectors[v] = combine_vectors(Op(), vectors[v], vectors[v + half]);
  }
  return reduce_vector<Op>(d, vectors[0]);
}
#endif

/// As reduce_run above, for targets and element types without such vectors.
template <class Op, class T>
Accumulator<Op> reduce_run(const T* from, std::int64_t count) {
  Accumulator<Op> lanes[kLanes];
  std::fill_n(lanes, kLanes, Op::identity());
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::int64_t l = 0; l < kLanes; ++l)
      lanes[l] = Op::combine(lanes[l], Op::load(from[i + l]));
  }
  for (std::int64_t l = 0; l < count - i; ++l)
    lanes[l] = Op::combine(lanes[l], Op::load(from[i + l]));
  for (std::int64_t width = kLanes / 2; width > 0; width /= 2) {
    for (std::int64_t l = 0; l < width; ++l) lanes[l] = Op::combine(lanes[l], lanes[l + width]);
  }
  return lanes[0];
}

/// See ReduceBlock.
template <class Op, class T>
void reduce_block(Accumulator<Op>* block, const T* from, std::int64_t count, std::int64_t down,
                  std::int64_t width, std::int64_t across) {
  if (down == 1 && count >= detail::kInOrder) {
    for (std::int64_t j = 0; j < width; ++j) block[j] = reduce_run<Op>(from + j * across, count);
    return;
  }
  std::fill_n(block, width, Op::identity());
  std::int64_t i = 0;
  for (; across == 1 && i + 4 <= count; i += 4)
    reduce_four_rows<Op>(block, from + i * down, down, width);
  for (; i < count; ++i) reduce_row<Op>(block, from + i * down, width, across);
}

}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
