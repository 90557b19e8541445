// Array's methods.
#include "tests/hostile/typed_calls.h"

namespace tend::test {

// clang-format off: a line for each function
std::vector<PublicFunction> array_functions() {
  return {
      TEND_METHOD(Array, defined),
      TEND_METHOD(Array, dtype),
      TEND_METHOD(Array, shape),
      TEND_METHOD(Array, strides),
      TEND_METHOD(Array, offset),
      TEND_METHOD(Array, rank),
      TEND_METHOD(Array, size, std::int64_t),
      TEND_METHOD(Array, numel),
      TEND_METHOD(Array, raw),
      TEND_METHOD(Array, is_contiguous),
      TEND_METHOD(Array, may_self_overlap),
      TEND_METHOD(Array, may_overlap, const Array&),
      TEND_METHOD(Array, has_layout_of, const Array&),
      TEND_METHOD(Array, is_dense),
      TEND_METHOD(Array, select, std::int64_t, std::int64_t),
      TEND_METHOD(Array, slice, std::int64_t, std::optional<std::int64_t>,
                  std::optional<std::int64_t>, std::int64_t),
      TEND_METHOD(Array, narrow, std::int64_t, std::int64_t, std::int64_t),
      TEND_METHOD(Array, transpose, std::int64_t, std::int64_t),
      TEND_METHOD(Array, permute, const Shape&),
      TEND_METHOD(Array, expand, const Shape&),
      TEND_METHOD(Array, view, const Shape&),
      TEND_METHOD(Array, squeeze),
      TEND_METHOD(Array, squeeze, std::int64_t),
      TEND_METHOD(Array, squeeze, const Shape&),
      TEND_METHOD(Array, unsqueeze, std::int64_t),
      TEND_METHOD(Array, diagonal, std::int64_t, std::int64_t, std::int64_t),
      TEND_METHOD(Array, unfold, std::int64_t, std::int64_t, std::int64_t),
      TEND_METHOD(Array, as_strided, const Shape&, const Shape&, std::int64_t),
      TEND_METHOD(Array, reshape, const Shape&),
      TEND_METHOD(Array, contiguous),
      TEND_METHOD(Array, clone),
      TEND_METHOD(Array, to, DType),
      TEND_METHOD(Array, copy_from, const Array&),
      TEND_METHOD(Array, fill, const Scalar&),
  };
}
// clang-format on

}  // namespace tend::test
