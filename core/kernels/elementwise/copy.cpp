#include <tend/core/kernels/elementwise/copy.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include <tend/core/kernels/elementwise/loops.h>
#include <tend/core/kernels/simd/simd_target.h>
#include <tend/core/threads/parallel.h>

#include <tend/core/kernels/simd/simd_targets.h>
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/elementwise/copy.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>
#include <tend/core/kernels/simd/lanes.h>
#include <tend/core/kernels/simd/simd_transform.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {

// Fills `count` contiguous elements of T's size with the bits of `value`.
template <class T>
void fill_run(std::byte* out, std::int64_t count, const void* value) {
  const auto n = static_cast<std::size_t>(count);
  T bits;
  std::memcpy(&bits, value, sizeof(T));
  if constexpr (sizeof(T) == 1) {
    std::memset(out, bits, n);
  } else {
    for_neighbours(
        n, reinterpret_cast<T*>(out), [](auto, auto x) HWY_ATTR { return x; }, Constant<T>{bits});
  }
}

using FillRun = decltype(&fill_run<std::uint8_t>);

FillRun find_fill(std::size_t item) {
  return item == 1   ? fill_run<std::uint8_t>
         : item == 4 ? fill_run<std::uint32_t>
                     : fill_run<std::uint64_t>;
}

// to[i] = from[-i], for elements of T's size.
template <class T>
void reverse_run(std::int64_t count, std::byte* out, const std::byte* last) {
  auto* const to = reinterpret_cast<T*>(out);
  const auto* const from = reinterpret_cast<const T*>(last);
  const auto n = static_cast<std::size_t>(count);
  if constexpr (sizeof(T) == 1) {
    for (std::size_t i = 0; i < n; ++i) to[i] = *(from - i);
  } else {
    for_vectors(hn::ScalableTag<T>(), n, [=](auto d, std::size_t i) HWY_ATTR {
      hn::StoreU(hn::Reverse(d, hn::LoadU(d, from - i - (hn::Lanes(d) - 1))), d, to + i);
    });
  }
}

ReverseRun find_reverse(std::size_t item) {
  return item == 1   ? reverse_run<std::uint8_t>
         : item == 4 ? reverse_run<std::uint32_t>
                     : reverse_run<std::uint64_t>;
}

// Conversion between float32 and float64. GCC would vectorise it only for the oldest processors.
void widen_run(std::int64_t count, double* to, const float* from) {
  for_vectors(hn::ScalableTag<double>(), static_cast<std::size_t>(count),
              [=](auto d, std::size_t i) HWY_ATTR {
                const hn::Rebind<float, decltype(d)> narrow;
                hn::StoreU(hn::PromoteTo(d, hn::LoadU(narrow, from + i)), d, to + i);
              });
}

void narrow_run(std::int64_t count, float* to, const double* from) {
  for_vectors(hn::ScalableTag<double>(), static_cast<std::size_t>(count),
              [=](auto d, std::size_t i) HWY_ATTR {
                const hn::Rebind<float, decltype(d)> narrow;
                hn::StoreU(narrowed(narrow, hn::LoadU(d, from + i)), narrow, to + i);
              });
}

}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {
namespace {

// Calls the function at program start. The call is in this source file because every program
// contains this file, even if the program links the static library.
[[maybe_unused]] const int kLimited = limit_simd_targets();

HWY_EXPORT(find_fill);
HWY_EXPORT(find_reverse);
HWY_EXPORT(widen_run);
HWY_EXPORT(narrow_run);

void convert_run(std::int64_t count, double* to, const float* from) {
  HWY_DYNAMIC_DISPATCH(widen_run)(count, to, from);
}
void convert_run(std::int64_t count, float* to, const double* from) {
  HWY_DYNAMIC_DISPATCH(narrow_run)(count, to, from);
}
template <class To, class From>
void convert_run(std::int64_t count, To* to, const From* from) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = convert<To>(from[i]);
}

template <class To, class From>
void convert_elements(const Array& out, const Array& a) {
  StridedLoop<2>({&out, &a}).run_elements([](std::int64_t count, const auto& p, const auto& step) {
    auto* to = reinterpret_cast<To*>(p[0]);
    const auto* from = reinterpret_cast<const From*>(p[1]);
    if (step[0] == sizeof(To) && step[1] == sizeof(From)) return convert_run(count, to, from);
    for (std::int64_t i = 0; i < count; ++i) {
      *reinterpret_cast<To*>(p[0] + i * step[0]) =
          convert<To>(*reinterpret_cast<const From*>(p[1] + i * step[1]));
    }
  });
}

template <class T>
void copy_elements(const Array& out, const Array& a) {
  StridedLoop<2>({&out, &a}).run_elements([](std::int64_t count, const auto& p, const auto& step) {
    auto* to = reinterpret_cast<T*>(p[0]);
    const auto* from = reinterpret_cast<const T*>(p[1]);
    if (step[0] == sizeof(T) && step[1] == sizeof(T)) {
      std::copy_n(from, count, to);
    } else if (step[0] == sizeof(T) && step[1] == 0) {
      std::fill_n(to, count, *from);
    } else {
      for (std::int64_t i = 0; i < count; ++i)
        *reinterpret_cast<T*>(p[0] + i * step[0]) = *reinterpret_cast<const T*>(p[1] + i * step[1]);
    }
  });
}

// True if the last dimension of `a` repeats each element a few times, and `out` is row-major.
bool repeats_each(const Array& out, const Array& a) {
  constexpr std::int64_t kFew = 16;  // with more, a std::fill_n for each element is fast enough
  return a.rank() > 0 && a.strides().back() == 0 && a.shape() == out.shape() && a.size(-1) > 1 &&
         a.size(-1) <= kFew && a.numel() > 0 && out.is_contiguous();
}

// Writes each of `count` elements `times` times. If the compiler knows `times`, it merges both
// loops.
template <class T, class Count>
void repeat_run(T* to, const T* from, std::int64_t count, Count times) {
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t k = 0; k < times; ++k) to[i * times + k] = from[i];
  }
}

template <class T>
void repeat_elements(const Array& out, const Array& a) {
  const std::int64_t times = a.size(-1);
  const Array once = a.select(-1, 0).contiguous();
  const auto* from = reinterpret_cast<const T*>(once.raw());
  auto* to = reinterpret_cast<T*>(out.raw());
  parallel_for(
      0, a.numel() / times, kStreamGrain / times + 1, [=](std::int64_t begin, std::int64_t end) {
        T* first = to + begin * times;
        const std::int64_t count = end - begin;
        if (times == 2)
          return repeat_run(first, from + begin, count, std::integral_constant<std::int64_t, 2>());
        if (times == 3)
          return repeat_run(first, from + begin, count, std::integral_constant<std::int64_t, 3>());
        repeat_run(first, from + begin, count, times);
      });
}

}  // namespace

void fill(const Array& out, const Scalar& value) {
  visit_dtype(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T element = value.to<T>();
    const auto fill_run = HWY_DYNAMIC_DISPATCH(find_fill)(sizeof(T));
    StridedLoop<1>({&out}).run(
        [element, fill_run](std::int64_t count, const auto& p, const auto& step) {
          if (step[0] == sizeof(T)) return fill_run(p[0], count, &element);
          for (std::int64_t i = 0; i < count; ++i)
            *reinterpret_cast<T*>(p[0] + i * step[0]) = element;
        },
        kStreamGrain);
  });
}

ReverseRun reverse_run_of(std::size_t item) {
  return HWY_DYNAMIC_DISPATCH(find_reverse)(item);
}

void copy(const Array& out, const Array& a) {
  visit_dtype(out.dtype(), [&](auto to) {
    visit_dtype(a.dtype(), [&](auto from) {
      using To = typename decltype(to)::type;
      using From = typename decltype(from)::type;
      if constexpr (std::is_same_v<To, From>) {
        repeats_each(out, a) ? repeat_elements<To>(out, a) : copy_elements<To>(out, a);
      } else {
        convert_elements<To, From>(out, a);
      }
    });
  });
}

}  // namespace tend::kernels

namespace tend {

// The members of Array that copy or fill elements.

Array Array::contiguous() const {
  return is_contiguous() ? *this : clone();
}

Array Array::clone() const {
  check_defined("clone");
  Array out = empty(shape_, dtype_);
  out.copy_from(*this);
  return out;
}

Array Array::converted(DType dtype) const {
  check_defined("to");
  Array out = empty_like(shape_, dtype, {this});
  out.copy_from(*this);
  return out;
}

void Array::copy_from(const Array& source) const {
  check_defined("copy");
  source.check_defined("copy");
  if (may_self_overlap()) {
    fail<ShapeError>("copy", "two indices may share an element of the target: shape ", shape_,
                     ", strides ", strides_);
  }
  if (!broadcasts_to(source.shape_, shape_)) {
    fail<ShapeError>("copy", "source ", source.shape_, " does not broadcast to ", shape_);
  }
  // If source and target overlap, a write could change elements that are read later, so a copy is
  // read instead.
  const bool same_window = raw() == source.raw() && shape_ == source.shape_ &&
                           strides_ == source.strides_ && dtype_ == source.dtype_;
  const bool aliased = !same_window && may_overlap(source);
  if (!aliased && source.shape_ == shape_) return kernels::copy(*this, source);
  kernels::copy(*this, (aliased ? source.clone() : source).expand(shape_));
}

void Array::fill(const Scalar& value) const {
  if (numel_ == 1) {
    return visit_dtype(dtype_, [&](auto tag) {
      using T = typename decltype(tag)::type;
      *static_cast<T*>(raw()) = value.to<T>();
    });
  }
  kernels::fill(*this, value);
}

}  // namespace tend
#endif  // HWY_ONCE
