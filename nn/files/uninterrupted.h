// System calls while signals arrive.
#pragma once

#include <cerrno>

namespace tend::nn {

/// call(), which gives a negative number on failure, again as long as signals interrupt it.
template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

}  // namespace tend::nn
