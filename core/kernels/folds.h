// The innermost loops of reductions, in a form that compilers vectorise, compiled for every SIMD
// target that Highway offers. Their order of operations is the same on each. Included by kernel
// sources after <hwy/foreach_target.h>; not for others.

#if defined(TEND_CORE_KERNELS_FOLDS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TEND_CORE_KERNELS_FOLDS_H
#undef TEND_CORE_KERNELS_FOLDS_H
#else
#define TEND_CORE_KERNELS_FOLDS_H
#endif

#include <hwy/highway.h>
#include <tend/core/kernels/reduce_loop.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {

/// acc[j] += row[j]
template <class Op, class T>
void fold_row(AccOf<Op>* acc, const T* row, std::int64_t width, std::int64_t step) {
  if (step == 1) {
    for (std::int64_t j = 0; j < width; ++j) acc[j] = Op::combine(acc[j], Op::load(row[j]));
  } else {
    for (std::int64_t j = 0; j < width; ++j) acc[j] = Op::combine(acc[j], Op::load(row[j * step]));
  }
}

/// acc[j] += the sum of four rows
template <class Op, class T>
void fold_four_rows(AccOf<Op>* acc, const T* row, std::int64_t down, std::int64_t width) {
  const T *second = row + down, *third = second + down, *fourth = third + down;
  for (std::int64_t j = 0; j < width; ++j) {
    acc[j] = Op::combine(acc[j], Op::combine(Op::combine(Op::load(row[j]), Op::load(second[j])),
                                             Op::combine(Op::load(third[j]), Op::load(fourth[j]))));
  }
}

/// One number from `count` neighbours, in lanes that the compiler can vectorise.
template <class Op, class T>
AccOf<Op> fold_run(const T* from, std::int64_t count) {
  constexpr std::int64_t kLanes = 32;
  AccOf<Op> lanes[kLanes];
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

/// block[j] = the fold of `count` rows of `width` elements.
template <class Op, class T>
void fold_block(AccOf<Op>* block, const T* from, std::int64_t count, std::int64_t down,
                std::int64_t width, std::int64_t across) {
  if (width == 1 && down == 1 && count >= detail::kInOrder) {
    block[0] = fold_run<Op>(from, count);
    return;
  }
  std::fill_n(block, width, Op::identity());
  std::int64_t i = 0;
  for (; across == 1 && i + 4 <= count; i += 4)
    fold_four_rows<Op>(block, from + i * down, down, width);
  for (; i < count; ++i) fold_row<Op>(block, from + i * down, width, across);
}

}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
