#pragma once

/// Checks that all elementwise kernels share.

#include <array>
#include <tuple>

#include "tests/arrays.h"
#include "tests/catch.h"

namespace tend::test {

/// out[i] = f(inputs[i]...), element by element; inputs broadcast to `shape`.
template <class Out, class... In, class F, class... Arrays>
Array reference_map(const Shape& shape, F f, const Arrays&... inputs) {
  Array out = Array::empty(shape, dtype_of<Out>());
  const std::array dense{inputs.expand(shape).contiguous()...};
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    out.data<Out>()[i] = [&]<std::size_t... K>(std::index_sequence<K...>) {
      return f(dense[K].template data<In>()[i]...);
    }
    (std::index_sequence_for<In...>());
  }
  return out;
}

/// Runs kernel(out, inputs...) on every layout of output and inputs, and in place of each input
/// that could hold the output; each time the result must have the bits of `expected`.
template <class Kernel, class... Arrays>
void check_in_every_layout(const Array& expected, Kernel kernel, const Arrays&... inputs) {
  for (const Array& out : layouts(expected)) {
    for (std::size_t variant = 0; variant < 4; ++variant) {
      const auto laid_out = [&](const Array& x) {
        const std::vector<Array> all = layouts(x);
        return all[std::min(variant, all.size() - 1)];
      };
      out.fill(1);
      kernel(out, laid_out(inputs)...);
      INFO("output strides " << out.strides() << ", layout " << variant << " of the inputs");
      CHECK(same_bits(out, expected));
    }
  }
  const std::array originals{inputs...};
  for (std::size_t k = 0; k < originals.size(); ++k) {
    if (originals[k].shape() != expected.shape() || originals[k].dtype() != expected.dtype())
      continue;
    std::array copies{inputs.clone()...};
    std::apply([&](const auto&... x) { kernel(copies[k], x...); }, copies);
    INFO("in place of input " << k);
    CHECK(same_bits(copies[k], expected));
  }
}

}  // namespace tend::test
