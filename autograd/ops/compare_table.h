// The table of compare.h: row_forms.h says what a row means.
// clang-format off
// (It takes products for pointers.)

///@{
/// Whether self == other, bool; false for NaN. Broadcasts (ShapeError). No gradient.
TEND_COMPARISON(eq, "EqBackward", ==, eq)
///@}
///@{
/// Whether self != other, bool; true for NaN. Broadcasts (ShapeError). No gradient.
TEND_COMPARISON(ne, "NeBackward", !=, ne)
///@}
///@{
/// Whether self < other, bool; false for NaN. Broadcasts (ShapeError). No gradient.
TEND_COMPARISON(lt, "LtBackward", <, gt)
///@}
///@{
/// Whether self <= other, bool; false for NaN. Broadcasts (ShapeError). No gradient.
TEND_COMPARISON(le, "LeBackward", <=, ge)
///@}
///@{
/// Whether self > other, bool; false for NaN. Broadcasts (ShapeError). No gradient.
TEND_COMPARISON(gt, "GtBackward", >, lt)
///@}
///@{
/// Whether self >= other, bool; false for NaN. Broadcasts (ShapeError). No gradient.
TEND_COMPARISON(ge, "GeBackward", >=, le)
///@}

/// Whether both are true, that is not zero (NaN is true): bool, for any dtypes, broadcast
/// (ShapeError). No gradient.
TEND_LOGICAL(logical_and, "LogicalAndBackward0")
/// Whether one or both are true, that is not zero (NaN is true): bool, for any dtypes, broadcast
/// (ShapeError). No gradient.
TEND_LOGICAL(logical_or, "LogicalOrBackward0")
/// Whether exactly one is true, that is not zero (NaN is true): bool, for any dtypes, broadcast
/// (ShapeError). No gradient.
TEND_LOGICAL(logical_xor, "LogicalXorBackward0")

///@{
/// self & other, bit by bit, broadcast (ShapeError) and promoted; logic on bool. DTypeError unless
/// bool or int64. No gradient.
TEND_BITWISE(bitwise_and, &)
///@}
///@{
/// self | other, bit by bit, broadcast (ShapeError) and promoted; logic on bool. DTypeError unless
/// bool or int64. No gradient.
TEND_BITWISE(bitwise_or, |)
///@}
///@{
/// self ^ other, bit by bit, broadcast (ShapeError) and promoted; logic on bool. DTypeError unless
/// bool or int64. No gradient.
TEND_BITWISE(bitwise_xor, ^)
///@}

/// Whether self is NaN: bool, of self's shape; false for integers and bools. No gradient.
TEND_TEST(isnan)
/// Whether self is inf or -inf: bool, of self's shape; false for integers and bools. No gradient.
TEND_TEST(isinf)
/// Whether self is neither NaN nor infinite: bool, of self's shape; true for integers and bools. No
/// gradient.
TEND_TEST(isfinite)
