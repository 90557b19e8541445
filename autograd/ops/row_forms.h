// Turns the rows of a table of operations into C++: declarations, methods, declarations of in-place
// methods, or definitions. The tables are math_table.h, arithmetic_table.h, activation_table.h and
// compare_table.h. A file that needs one of the four kinds includes this file once for a table:
//
//   #define TEND_TABLE <tend/autograd/ops/math_table.h>
//   #define TEND_ROWS_DECLARE  (or TEND_ROWS_METHODS, TEND_ROWS_IN_PLACE, TEND_ROWS_DEFINE)
//   #include <tend/autograd/ops/row_forms.h>
//
// The rows:
//
//   TEND_UNARY(name, node, promotion, kernel, saved, gradient)
//       An operation of one tensor, `self`.
//       node       PyTorch's name of its node in the graph
//       promotion  same: it computes in self's dtype; floating: integers become float32
//       kernel     a function (out, a) that computes the elements
//       saved      the tensor that the gradient reads: self, result or nothing
//       gradient   the gradient of self, an expression of `grad` and the saved tensor
//
//   TEND_BINARY(name, node, promotion, kernel, reads, gradient, reads, gradient)
//       An operation of two tensors, `self` and `other`, which broadcast and promote. The first
//       pair (reads, gradient) is for self, and the second for other. `reads` says which tensors
//       the gradient reads: self, other, both or nothing.
//   TEND_WITH_NUMBER(name, node), TEND_OF_NUMBER(name, node)
//       A binary operation with a number as `other`, or as `self`. Its node may have another name
//       than the node of two tensors.
//
//   TEND_COMPARISON(name, node, operator, mirrored)
//       A comparison with a tensor or a number, and its operator. `mirrored` is the comparison
//       with exchanged sides.
//   TEND_LOGICAL(name, node)         A function of two truth values.
//   TEND_BITWISE(name, operator)     A function of the bits of two tensors.
//   TEND_TEST(name)                  A test of each element.

#if defined(TEND_ROWS_DECLARE)
#undef TEND_ROWS_DECLARE
#define TEND_UNARY(NAME, ...) Tensor NAME(const Tensor& self);
#define TEND_BINARY(NAME, ...) Tensor NAME(const Tensor& self, const Tensor& other);
#define TEND_WITH_NUMBER(NAME, NODE) Tensor NAME(const Tensor& self, const Scalar& other);
#define TEND_OF_NUMBER(NAME, NODE) Tensor NAME(const Scalar& self, const Tensor& other);
#define TEND_COMPARISON(NAME, ...) TEND_BINARY(NAME) TEND_WITH_NUMBER(NAME, )
#define TEND_LOGICAL(NAME, ...) TEND_BINARY(NAME)
#define TEND_BITWISE(NAME, ...) TEND_BINARY(NAME) TEND_WITH_NUMBER(NAME, )
#define TEND_TEST(NAME) TEND_UNARY(NAME)

#elif defined(TEND_ROWS_METHODS)
#undef TEND_ROWS_METHODS
#define TEND_UNARY(NAME, ...)  \
  Tensor NAME() const {        \
    return tend::NAME(self()); \
  }
#define TEND_BINARY(NAME, ...)             \
  Tensor NAME(const Tensor& other) const { \
    return tend::NAME(self(), other);      \
  }
#define TEND_WITH_NUMBER(NAME, NODE)       \
  Tensor NAME(const Scalar& other) const { \
    return tend::NAME(self(), other);      \
  }
#define TEND_OF_NUMBER(NAME, NODE)
#define TEND_COMPARISON(NAME, ...) TEND_BINARY(NAME) TEND_WITH_NUMBER(NAME, )
#define TEND_LOGICAL(NAME, ...) TEND_BINARY(NAME)
#define TEND_BITWISE(NAME, ...) TEND_BINARY(NAME) TEND_WITH_NUMBER(NAME, )
#define TEND_TEST(NAME) TEND_UNARY(NAME)

#elif defined(TEND_ROWS_IN_PLACE)
#undef TEND_ROWS_IN_PLACE
#define TEND_UNARY(NAME, ...) const Tensor& NAME##_() const;
#define TEND_BINARY(NAME, ...) const Tensor& NAME##_(const Tensor& other) const;
#define TEND_WITH_NUMBER(NAME, NODE) const Tensor& NAME##_(const Scalar& other) const;
#define TEND_OF_NUMBER(NAME, NODE)
#define TEND_COMPARISON(NAME, ...) TEND_BINARY(NAME) TEND_WITH_NUMBER(NAME, )
#define TEND_LOGICAL(NAME, ...) TEND_BINARY(NAME)
#define TEND_BITWISE(NAME, ...) TEND_BINARY(NAME) TEND_WITH_NUMBER(NAME, )
#define TEND_TEST(NAME)

#elif defined(TEND_ROWS_DEFINE)
#undef TEND_ROWS_DEFINE
#define TEND_UNARY(NAME, NODE, PROMOTION, KERNEL, SAVED, ...)                     \
  namespace {                                                                     \
  Tensor NAME##_gradient([[maybe_unused]] const Tensor& grad,                     \
                         [[maybe_unused]] const Tensor& SAVED) {                  \
    return __VA_ARGS__;                                                           \
  }                                                                               \
  constexpr UnaryRow NAME##_row{NODE, Promotion::PROMOTION, KERNEL, Saved::SAVED, \
                                NAME##_gradient};                                 \
  }                                                                               \
  Tensor NAME(const Tensor& self) {                                               \
    return run_row({#NAME}, NAME##_row, self);                                    \
  }                                                                               \
  const Tensor& InPlace::NAME##_() const {                                        \
    return in_place_form_of_row(#NAME "_", NAME##_row, self());                   \
  }

#define TEND_BINARY(NAME, NODE, PROMOTION, KERNEL, FOR_SELF, SELF_GRADIENT, FOR_OTHER, \
                    OTHER_GRADIENT)                                                    \
  namespace {                                                                          \
  Tensor NAME##_self_gradient([[maybe_unused]] const Tensor& grad,                     \
                              [[maybe_unused]] const Tensor& self,                     \
                              [[maybe_unused]] const Tensor& other) {                  \
    return SELF_GRADIENT;                                                              \
  }                                                                                    \
  Tensor NAME##_other_gradient([[maybe_unused]] const Tensor& grad,                    \
                               [[maybe_unused]] const Tensor& self,                    \
                               [[maybe_unused]] const Tensor& other) {                 \
    return OTHER_GRADIENT;                                                             \
  }                                                                                    \
  constexpr BinaryRow NAME##_row{NODE,                                                 \
                                 Promotion::PROMOTION,                                 \
                                 KERNEL,                                               \
                                 Reads::FOR_SELF,                                      \
                                 NAME##_self_gradient,                                 \
                                 Reads::FOR_OTHER,                                     \
                                 NAME##_other_gradient};                               \
  }                                                                                    \
  Tensor NAME(const Tensor& self, const Tensor& other) {                               \
    return run_row({#NAME}, NAME##_row, self, other);                                  \
  }                                                                                    \
  const Tensor& InPlace::NAME##_(const Tensor& other) const {                          \
    return in_place_form_of_row(#NAME "_", NAME##_row, self(), other);                 \
  }
#define TEND_WITH_NUMBER(NAME, NODE)                                                              \
  Tensor NAME(const Tensor& self, const Scalar& other) {                                          \
    return run_row({#NAME}, NAME##_row, self, number_like(self, other), NODE);                    \
  }                                                                                               \
  const Tensor& InPlace::NAME##_(const Scalar& other) const {                                     \
    return in_place_form_of_row(#NAME "_", NAME##_row, self(), number_like(self(), other), NODE); \
  }
#define TEND_OF_NUMBER(NAME, NODE)                                              \
  Tensor NAME(const Scalar& self, const Tensor& other) {                        \
    return run_row({#NAME}, NAME##_row, number_like(other, self), other, NODE); \
  }

#define TEND_COMPARISON(NAME, NODE, OP, MIRRORED)                               \
  Tensor NAME(const Tensor& self, const Tensor& other) {                        \
    return compare(#NAME, kernels::NAME, self, other);                          \
  }                                                                             \
  Tensor NAME(const Tensor& self, const Scalar& other) {                        \
    return compare(#NAME, kernels::NAME, self, number_like(self, other));       \
  }                                                                             \
  const Tensor& InPlace::NAME##_(const Tensor& other) const {                   \
    return compare_in_place(#NAME "_", NODE "1", kernels::NAME, self(), other); \
  }                                                                             \
  const Tensor& InPlace::NAME##_(const Scalar& other) const {                   \
    return compare_in_place(#NAME "_", NODE "0", kernels::NAME, self(),         \
                            number_like(self(), other));                        \
  }                                                                             \
  TEND_OPERATORS(NAME, OP, MIRRORED)
#define TEND_LOGICAL(NAME, NODE)                                            \
  Tensor NAME(const Tensor& self, const Tensor& other) {                    \
    return compare(#NAME, kernels::NAME, self, other);                      \
  }                                                                         \
  const Tensor& InPlace::NAME##_(const Tensor& other) const {               \
    return compare_in_place(#NAME "_", NODE, kernels::NAME, self(), other); \
  }
#define TEND_BITWISE(NAME, OP)                                             \
  namespace {                                                              \
  constexpr BinaryRow NAME##_row{nullptr, Promotion::same, kernels::NAME}; \
  }                                                                        \
  Tensor NAME(const Tensor& self, const Tensor& other) {                   \
    return run_row({#NAME}, NAME##_row, self, other);                      \
  }                                                                        \
  const Tensor& InPlace::NAME##_(const Tensor& other) const {              \
    return in_place_form_of_row(#NAME "_", NAME##_row, self(), other);     \
  }                                                                        \
  TEND_WITH_NUMBER(NAME, nullptr)                                          \
  TEND_OPERATORS(NAME, OP, NAME)
#define TEND_OPERATORS(NAME, OP, MIRRORED)               \
  Tensor operator OP(const Tensor& a, const Tensor& b) { \
    return NAME(a, b);                                   \
  }                                                      \
  Tensor operator OP(const Tensor& a, const Scalar& b) { \
    return NAME(a, b);                                   \
  }                                                      \
  Tensor operator OP(const Scalar& a, const Tensor& b) { \
    return MIRRORED(b, a);                               \
  }
#define TEND_TEST(NAME)               \
  Tensor NAME(const Tensor& self) {   \
    return test(kernels::NAME, self); \
  }

#endif

#include TEND_TABLE

#undef TEND_TABLE
#undef TEND_UNARY
#undef TEND_BINARY
#undef TEND_WITH_NUMBER
#undef TEND_OF_NUMBER
#undef TEND_COMPARISON
#undef TEND_LOGICAL
#undef TEND_BITWISE
#undef TEND_OPERATORS
#undef TEND_TEST
