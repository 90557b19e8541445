// Applies a kernel to the elements of one parameter, for an optimizer's step. Internal.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <tend/core/kernels/elementwise/optimizer.h>
#include <tend/nn/optim/optimizer.h>

namespace tend::optim::detail {

/// Returns an Update that calls call(kernels, x, g, state, count) for a range of `count` elements.
/// `x`, `g` and `state` point to the range in the parameter, in its gradient and in each array of
/// its state. The pointer of an array that the optimizer does not use is null.
template <std::size_t N, class Call>
Update element_pass(const ParameterStep& p, const std::array<const Array*, N>& arrays, Call call) {
  return visit_floating("Optimizer", p.values.dtype(), [&](auto tag) -> Update {
    using T = typename decltype(tag)::type;
    std::array<T*, N> first{};
    for (std::size_t i = 0; i < N; ++i)
      if (arrays[i] != nullptr) first[i] = arrays[i]->template data<T>();
    return [=, values = p.values, gradient = p.gradient](std::int64_t begin, std::int64_t end) {
      std::array<T*, N> state = first;
      for (T*& each : state)
        if (each != nullptr) each += begin;
      const T* const g = gradient.template data<T>() + begin;
      call(kernels::optimizer_kernels().of<T>(), values.template data<T>() + begin, g, state,
           end - begin);
    };
  });
}

}  // namespace tend::optim::detail
