#include <tend/core/kernels/copy.h>

#include <algorithm>

#include <tend/core/kernels/loops.h>

namespace tend::kernels {
void fill(const Array& out, const Scalar& value) {
  visit_dtype(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T element = value.to<T>();
    StridedLoop<1>({&out}).run([element](std::int64_t count, const auto& p, const auto& step) {
      if (step[0] == sizeof(T)) {
        std::fill_n(reinterpret_cast<T*>(p[0]), count, element);
        return;
      }
      for (std::int64_t i = 0; i < count; ++i) *reinterpret_cast<T*>(p[0] + i * step[0]) = element;
    });
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
