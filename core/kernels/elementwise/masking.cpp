#include <tend/core/kernels/elementwise/masking.h>

#include <algorithm>
#include <cassert>
#include <concepts>
#include <cstring>
#include <limits>

#include <tend/core/kernels/elementwise/arithmetic.h>
#include <tend/core/kernels/elementwise/copy.h>
#include <tend/core/kernels/elementwise/formulas.h>
#include <tend/core/kernels/elementwise/loops.h>
#include <tend/core/threads/parallel.h>

#include <tend/core/kernels/simd/simd_targets.h>
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/elementwise/masking.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>
#include <tend/core/kernels/simd/lanes.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {

// Loads the bools at `from` as a mask for lanes of 1, 4 or 8 bytes.
template <class D>
HWY_INLINE hn::Mask<D> load_truths(D d, const std::uint8_t* from) {
  using T = hn::TFromD<D>;
  const hn::Rebind<std::uint8_t, D> bytes;
  const auto truths = hn::LoadU(bytes, from);
  if constexpr (sizeof(T) == 1) {
    return hn::Ne(truths, hn::Zero(d));
  } else if constexpr (sizeof(T) == 4) {
    return hn::Ne(hn::PromoteTo(d, truths), hn::Zero(d));
  } else {
    const hn::Rebind<std::uint32_t, D> words;
    return hn::Ne(hn::PromoteTo(d, hn::PromoteTo(words, truths)), hn::Zero(d));
  }
}

template <class T, class A, class B>
HWY_INLINE void select_neighbours(std::size_t n, T* out, const std::uint8_t* condition, A a, B b) {
  for_vectors(hn::ScalableTag<T>(), n, [=](auto d, std::size_t i) HWY_ATTR {
    const auto chosen = hn::IfThenElse(load_truths(d, condition + i), a.at(d, i), b.at(d, i));
    hn::StoreU(chosen, d, out + i);
  });
}

// Computes a run of out = condition ? a : b, for elements of T's size.
template <class T>
void select_run(std::int64_t count, const RunPointers<4>& p, const RunSteps<4>& step) {
  const auto n = static_cast<std::size_t>(count);
  T* out = reinterpret_cast<T*>(p[0]);
  const auto* condition = reinterpret_cast<const std::uint8_t*>(p[1]);
  const Neighbours<T> a{reinterpret_cast<const T*>(p[2])}, b{reinterpret_cast<const T*>(p[3])};
  constexpr std::int64_t kNext = sizeof(T);
  const auto number = [](const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof(T));
    return Constant<T>{value};
  };
  if (step[0] == kNext && step[1] == 1) {
    if (step[2] == kNext && step[3] == kNext) return select_neighbours(n, out, condition, a, b);
    if (step[2] == 0 && step[3] == kNext)
      return select_neighbours(n, out, condition, number(p[2]), b);
    if (step[2] == kNext && step[3] == 0)
      return select_neighbours(n, out, condition, a, number(p[3]));
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const std::byte* chosen =
        p[1][i * step[1]] != std::byte{0} ? p[2] + i * step[2] : p[3] + i * step[3];
    std::memcpy(p[0] + i * step[0], chosen, sizeof(T));
  }
}

using SelectRun = decltype(&select_run<std::uint8_t>);

SelectRun find_select(std::int64_t item) {
  return item == 1   ? select_run<std::uint8_t>
         : item == 4 ? select_run<std::uint32_t>
                     : select_run<std::uint64_t>;
}

}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {
namespace {

HWY_EXPORT(find_select);

// Copies the columns of row r up to r + diagonal (tril), or beginning with r + diagonal (triu), and
// writes zeros to the others.
void keep_triangle(std::string_view operation, const Array& out, const Array& a, bool is_lower,
                   std::int64_t diagonal) {
  if (a.rank() < 2)
    fail<ShapeError>(operation, "needs at least 2 dimensions, got shape ", a.shape());
  assert(a.shape() == out.shape());
  if (out.numel() == 0) return;  // an empty batch may have matrices of any size
  const Array to = out.is_contiguous() ? out : Array::empty(out.shape(), out.dtype());
  if (!a.is_contiguous()) copy(to, a);
  const std::int64_t rows = a.size(-2), columns = a.size(-1);
  diagonal = std::clamp(diagonal, -rows, columns);
  visit_dtype(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* const first = to.data<T>();
    const T* const source = a.is_contiguous() ? a.data<T>() : first;
    parallel_for(0, out.numel() / columns, kStreamGrain / columns + 1,
                 [=](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t r = begin; r < end; ++r) {
                     T* row = first + r * columns;
                     const std::int64_t corner = r % rows + diagonal + (is_lower ? 1 : 0);
                     const std::int64_t split = std::clamp<std::int64_t>(corner, 0, columns);
                     const std::int64_t low = is_lower ? 0 : split;
                     const std::int64_t high = is_lower ? split : columns;
                     std::fill(row, row + low, T());
                     const T* kept = source + r * columns;
                     if (kept != row) std::copy(kept + low, kept + high, row + low);
                     std::fill(row + high, row + columns, T());
                   }
                 });
  });
  if (!out.is_contiguous()) copy(out, to);
}

}  // namespace

void where(const Array& out, const Array& condition, const Array& a, const Array& b) {
  StridedLoop<4>({&out, &condition, &a, &b})
      .run_elements(HWY_DYNAMIC_DISPATCH(find_select)(item_size(out.dtype())), kStreamGrain);
}

void masked_fill(const Array& out, const Array& a, const Array& mask, const Scalar& value) {
  where(out, mask, Array::scalar(value, out.dtype()), a);
}

void tril(const Array& out, const Array& a, std::int64_t diagonal) {
  keep_triangle("tril", out, a, true, diagonal);
}

void triu(const Array& out, const Array& a, std::int64_t diagonal) {
  keep_triangle("triu", out, a, false, diagonal);
}

void clamp(const Array& out, const Array& a, const std::optional<Scalar>& lo,
           const std::optional<Scalar>& hi) {
  if (!lo && !hi) fail("clamp", "needs a lower or an upper bound");
  visit_dtype(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using Limits = std::numeric_limits<T>;
    const T lowest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    const T highest = Limits::has_infinity ? Limits::infinity() : Limits::max();
    const T low = lo ? lo->to<T>() : lowest;
    const T high = hi ? hi->to<T>() : highest;
    if (low != low || high != high) return out.fill(Limits::quiet_NaN());
    if constexpr (std::floating_point<T>)
      return compute("clamp", Formula::clamp, {double{low}, double{high}}, out, a);
    else
      map<T, T>(out, a, [=](T x) { return std::min(std::max(x, low), high); });
  });
}

void clamp(const Array& out, const Array& a, const Array& lo, const Array& hi) {
  if (is_floating(out.dtype())) return compute("clamp", TripleFormula::clamp, {}, out, a, lo, hi);
  // `out` may be the same view as a bound, so maximum writes to another array.
  const Array low = Array::empty_like(out);
  maximum(low, a, lo);
  minimum(out, low, hi);
}

void nan_to_num(const Array& out, const Array& a, double nan, double posinf, double neginf) {
  compute("nan_to_num", Formula::nan_to_num, {nan, posinf, neginf}, out, a);
}

}  // namespace tend::kernels
#endif  // HWY_ONCE
