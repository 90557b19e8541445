#include <tend/core/kernels/copy.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include <tend/core/kernels/loops.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/copy.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>
#include <tend/core/kernels/lanes.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {

template <class T>
void fill_neighbours(T* out, std::int64_t count, T value) {
  for_neighbours(
      static_cast<std::size_t>(count), out, [](auto, auto x) HWY_ATTR { return x; },
      Constant<T>{value});
}

void fill_words(std::uint32_t* out, std::int64_t count, std::uint32_t value) {
  fill_neighbours(out, count, value);
}
void fill_long_words(std::uint64_t* out, std::int64_t count, std::uint64_t value) {
  fill_neighbours(out, count, value);
}

}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {
namespace {

HWY_EXPORT(fill_words);
HWY_EXPORT(fill_long_words);

// `count` neighbours, by their bits.
template <class T>
void fill_neighbours(std::byte* out, std::int64_t count, T value) {
  if constexpr (sizeof(T) == 1) {
    std::memset(out, value, static_cast<std::size_t>(count));
  } else if constexpr (sizeof(T) == 4) {
    HWY_DYNAMIC_DISPATCH(fill_words)
    (reinterpret_cast<std::uint32_t*>(out), count, std::bit_cast<std::uint32_t>(value));
  } else {
    HWY_DYNAMIC_DISPATCH(fill_long_words)
    (reinterpret_cast<std::uint64_t*>(out), count, std::bit_cast<std::uint64_t>(value));
  }
}

}  // namespace

void fill(const Array& out, const Scalar& value) {
  visit_dtype(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T element = value.to<T>();
    StridedLoop<1>({&out}).run(
        [element](std::int64_t count, const auto& p, const auto& step) {
          if (step[0] == sizeof(T)) return fill_neighbours(p[0], count, element);
          for (std::int64_t i = 0; i < count; ++i)
            *reinterpret_cast<T*>(p[0] + i * step[0]) = element;
        },
        kStreamGrain);
  });
}

namespace {

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

}  // namespace

void copy(const Array& out, const Array& a) {
  visit_dtype(out.dtype(), [&](auto to) {
    visit_dtype(a.dtype(), [&](auto from) {
      using To = typename decltype(to)::type;
      using From = typename decltype(from)::type;
      if constexpr (std::is_same_v<To, From>) {
        copy_elements<To>(out, a);
      } else {
        map<To, From>(out, a, [](From value) { return convert<To>(value); });
      }
    });
  });
}

}  // namespace tend::kernels
#endif  // HWY_ONCE
