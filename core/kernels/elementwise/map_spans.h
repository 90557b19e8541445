// Maps arrays by functions that work on spans of contiguous elements.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <type_traits>

#include <tend/core/kernels/elementwise/loops.h>
#include <tend/core/kernels/elementwise/math_spans.h>

namespace tend::kernels {

/// The function for a span of contiguous elements, which is called as span(n, out, inputs...). It
/// is a function of math_spans.h, or a lambda.
template <class T>
auto span_of(Function function) {
  return [function, map = span_kernels().of<T>().map](std::size_t n, T* out, const T* a) {
    map(function, n, out, a);
  };
}
template <class T>
auto span_of(BinaryFunction function) {
  return [function, map = span_kernels().of<T>().map_two](
             std::size_t n, T* out, const T* a, const T* b) { map(function, n, out, a, b); };
}
template <class T, class F>
requires(!std::is_enum_v<F>) F span_of(F span) {
  return span;
}

/// Computes out = kind(inputs...) span by span. Arrays that are not contiguous go through a buffer.
template <class T, class Kind, class... Inputs>
void map_spans(Kind kind, const Array& out, const Inputs&... inputs) {
  constexpr std::size_t kArrays = 1 + sizeof...(Inputs);
  const auto span = span_of<T>(kind);
  StridedLoop<kArrays>({&out, &inputs...})
      .run_elements([span](std::int64_t count, auto p, const auto& step) {
        constexpr std::int64_t kBlock = 1024;
        alignas(64) T buffers[kArrays][kBlock];
        const bool contiguous =
            std::all_of(step.begin(), step.end(), [](auto bytes) { return bytes == sizeof(T); });
        const std::int64_t max_count = contiguous ? count : kBlock;
        for (std::int64_t done = 0; done < count; done += max_count) {
          const std::int64_t n = std::min(max_count, count - done);
          std::array<T*, kArrays> at;
          for (std::size_t k = 0; k < kArrays; ++k) {
            std::byte* first = p[k] + done * step[k];
            at[k] = step[k] == sizeof(T) ? reinterpret_cast<T*>(first) : buffers[k];
            if (k == 0 || at[k] != buffers[k]) continue;
            if (step[k] == 0 && done > 0) continue;  // the buffer already has the number
            for (std::int64_t i = 0; i < n; ++i)
              at[k][i] = *reinterpret_cast<const T*>(first + i * step[k]);
          }
          std::apply([&](auto... pointers) { span(static_cast<std::size_t>(n), pointers...); }, at);
          if (at[0] != buffers[0]) continue;
          for (std::int64_t i = 0; i < n; ++i)
            *reinterpret_cast<T*>(p[0] + (done + i) * step[0]) = at[0][i];
        }
      });
}

/// out = kind(inputs...), element by element. All arrays have one floating dtype, and inputs
/// broadcast to `out`.
///
/// Throws: DTypeError - the dtype is not floating
template <class Kind, class... Inputs>
void map_floating_spans(std::string_view operation, Kind kind, const Array& out,
                        const Inputs&... inputs) {
  visit_floating(operation, out.dtype(),
                 [&](auto tag) { map_spans<typename decltype(tag)::type>(kind, out, inputs...); });
}

}  // namespace tend::kernels
