#include <tend/core/kernels/attention/rotary.h>

#include <algorithm>

#include <tend/core/kernels/attention/attention_head.h>
#include <tend/core/kernels/elementwise/loops.h>
#include <tend/core/kernels/simd/for_types.h>
#include <tend/core/threads/parallel.h>

#include <tend/core/kernels/simd/simd_targets.h>
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/attention/rotary.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>
#include <tend/core/kernels/simd/simd_loop.h>

namespace tend::kernels {
#ifndef TEND_CORE_KERNELS_ROTARY_ROW
#define TEND_CORE_KERNELS_ROTARY_ROW
template <class T>
struct RotaryRow {
  std::size_t pairs;
  const T *x, *cosines, *sines;
  T direction;  // 1, or -1 to rotate back
  T* out;
};

template <class T>
struct RotaryKernels {
  void (*halves)(const RotaryRow<T>& row);
  void (*interleaved)(const RotaryRow<T>& row);
};
#endif
}  // namespace tend::kernels

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {
namespace {

// Each product and each sum is rounded separately, as in the formula.
template <class D, class V, class T>
HWY_INLINE void rotate(D d, const RotaryRow<T>& row, std::size_t i, V& a, V& b) {
  const V cosine = hn::LoadU(d, row.cosines + i);
  const V sine = hn::Mul(hn::Set(d, row.direction), hn::LoadU(d, row.sines + i));
  const V first = hn::Sub(hn::Mul(a, cosine), hn::Mul(b, sine));
  b = hn::Add(hn::Mul(b, cosine), hn::Mul(a, sine));
  a = first;
}

template <class T>
void rotate_halves(const RotaryRow<T>& row) {
  for_vectors(hn::ScalableTag<T>(), row.pairs, [&](auto d, std::size_t i) HWY_ATTR {
    auto a = hn::LoadU(d, row.x + i), b = hn::LoadU(d, row.x + row.pairs + i);
    rotate(d, row, i, a, b);
    hn::StoreU(a, d, row.out + i);
    hn::StoreU(b, d, row.out + row.pairs + i);
  });
}

template <class T>
void rotate_interleaved(const RotaryRow<T>& row) {
  const hn::ScalableTag<T> d;
  std::size_t i = for_whole_vectors(d, 0, row.pairs, [&](auto tag, std::size_t at) HWY_ATTR {
    hn::Vec<decltype(tag)> a, b;
    hn::LoadInterleaved2(tag, row.x + 2 * at, a, b);
    rotate(tag, row, at, a, b);
    hn::StoreInterleaved2(a, b, tag, row.out + 2 * at);
  });
  const hn::CappedTag<T, 1> one;
  for (; i < row.pairs; ++i) {
    auto a = hn::LoadU(one, row.x + 2 * i), b = hn::LoadU(one, row.x + 2 * i + 1);
    rotate(one, row, i, a, b);
    hn::StoreU(a, one, row.out + 2 * i);
    hn::StoreU(b, one, row.out + 2 * i + 1);
  }
}

const ForTypes<RotaryKernels>& find_rotary_kernels() {
  static constexpr ForTypes<RotaryKernels> kAll = {{rotate_halves, rotate_interleaved},
                                                   {rotate_halves, rotate_interleaved}};
  return kAll;
}

}  // namespace
}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {

HWY_EXPORT(find_rotary_kernels);

void rotate_pairs(const Array& out, const Array& x, const Array& cosines, const Array& sines,
                  bool interleaved, bool inverse) {
  const std::int64_t width = x.size(-1), pairs = cosines.size(-1);
  if (out.numel() == 0) return;
  visit_floating("rotary", x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto& kernels = HWY_DYNAMIC_DISPATCH(find_rotary_kernels)().of<T>();
    const auto rotate = interleaved ? kernels.interleaved : kernels.halves;
    // head_of returns matrices, so unsqueeze makes each row a matrix with one row.
    const auto rows_of = [](const Array& a) { return a.unsqueeze(-2); };
    const Array from = rows_of(x), cosine = rows_of(cosines), sine = rows_of(sines);
    parallel_for(0, out.numel() / width, 1 + kStreamGrain / width,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i) {
                     const T* row = head_of<const T>(from, i).data;
                     T* const to = out.data<T>() + i * width;
                     rotate({static_cast<std::size_t>(pairs), row, head_of<const T>(cosine, i).data,
                             head_of<const T>(sine, i).data, inverse ? T(-1) : T(1), to});
                     std::copy(row + 2 * pairs, row + width, to + 2 * pairs);
                   }
                 });
  });
}

}  // namespace tend::kernels
#endif  // HWY_ONCE
