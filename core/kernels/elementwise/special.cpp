#include <tend/core/kernels/elementwise/special.h>

#include <string_view>

#include <tend/core/kernels/elementwise/map_spans.h>
#include <tend/core/kernels/elementwise/special_spans.h>

namespace tend::kernels {

namespace {

void map_special(std::string_view operation, SpecialFunction function, const Array& out,
                 const Array& a) {
  visit_floating(operation, out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto span = [function, map = special_kernels().of<T>().map](
                          std::size_t n, T* to, const T* from) { map(function, n, to, from); };
    map_spans<T>(span, out, a);
  });
}

}  // namespace

void lgamma(const Array& out, const Array& a) {
  map_special("lgamma", {.function = Special::lgamma}, out, a);
}

void polygamma(const Array& out, const Array& a, std::int64_t n) {
  map_special("polygamma", {.function = Special::polygamma, .number = n}, out, a);
}

void erfinv(const Array& out, const Array& a) {
  map_special("erfinv", {.function = Special::erfinv}, out, a);
}

void round_decimals(const Array& out, const Array& a, std::int64_t decimals) {
  map_special("round", {.function = Special::round, .number = decimals}, out, a);
}

}  // namespace tend::kernels
