// The table of compare.h. row_forms.h explains the rows.
// clang-format off
// (clang-format would format products as pointers.)

///@{
/// Returns whether self == other, element by element.
///
/// The inputs broadcast. The result is bool, and false for NaN. No gradient.
///
/// Throws: ShapeError - the shapes do not broadcast
TEND_COMPARISON(eq, "EqBackward", ==, eq)
///@}
///@{
/// Returns whether self != other, element by element.
///
/// The inputs broadcast. The result is bool, and true for NaN. No gradient.
///
/// Throws: ShapeError - the shapes do not broadcast
TEND_COMPARISON(ne, "NeBackward", !=, ne)
///@}
///@{
/// Returns whether self < other, element by element.
///
/// The inputs broadcast. The result is bool, and false for NaN. No gradient.
///
/// Throws: ShapeError - the shapes do not broadcast
TEND_COMPARISON(lt, "LtBackward", <, gt)
///@}
///@{
/// Returns whether self <= other, element by element.
///
/// The inputs broadcast. The result is bool, and false for NaN. No gradient.
///
/// Throws: ShapeError - the shapes do not broadcast
TEND_COMPARISON(le, "LeBackward", <=, ge)
///@}
///@{
/// Returns whether self > other, element by element.
///
/// The inputs broadcast. The result is bool, and false for NaN. No gradient.
///
/// Throws: ShapeError - the shapes do not broadcast
TEND_COMPARISON(gt, "GtBackward", >, lt)
///@}
///@{
/// Returns whether self >= other, element by element.
///
/// The inputs broadcast. The result is bool, and false for NaN. No gradient.
///
/// Throws: ShapeError - the shapes do not broadcast
TEND_COMPARISON(ge, "GeBackward", >=, le)
///@}

/// Returns whether both elements are true, which means not zero.
///
/// The inputs broadcast and may have any dtypes. NaN is true. The result is bool. No gradient.
///
/// Throws: ShapeError - the shapes do not broadcast
TEND_LOGICAL(logical_and, "LogicalAndBackward0")
/// Returns whether at least one of two elements is true, which means not zero.
///
/// The inputs broadcast and may have any dtypes. NaN is true. The result is bool. No gradient.
///
/// Throws: ShapeError - the shapes do not broadcast
TEND_LOGICAL(logical_or, "LogicalOrBackward0")
/// Returns whether exactly one of two elements is true, which means not zero.
///
/// The inputs broadcast and may have any dtypes. NaN is true. The result is bool. No gradient.
///
/// Throws: ShapeError - the shapes do not broadcast
TEND_LOGICAL(logical_xor, "LogicalXorBackward0")

///@{
/// Computes self & other, bit by bit.
///
/// The inputs are int64 or bool. They broadcast, and their dtypes promote. For two bools it is
/// logical_and. No gradient.
///
/// Throws:
///   ShapeError - the shapes do not broadcast
///   DTypeError - an input is floating
TEND_BITWISE(bitwise_and, &)
///@}
///@{
/// Computes self | other, bit by bit.
///
/// The inputs are int64 or bool. They broadcast, and their dtypes promote. For two bools it is
/// logical_or. No gradient.
///
/// Throws:
///   ShapeError - the shapes do not broadcast
///   DTypeError - an input is floating
TEND_BITWISE(bitwise_or, |)
///@}
///@{
/// Computes self ^ other, bit by bit.
///
/// The inputs are int64 or bool. They broadcast, and their dtypes promote. For two bools it is
/// logical_xor. No gradient.
///
/// Throws:
///   ShapeError - the shapes do not broadcast
///   DTypeError - an input is floating
TEND_BITWISE(bitwise_xor, ^)
///@}

/// Returns whether each element is NaN.
///
/// The result is bool, of self's shape. It is false for integers and bools. No gradient.
TEND_TEST(isnan)
/// Returns whether each element is inf or -inf.
///
/// The result is bool, of self's shape. It is false for integers and bools. No gradient.
TEND_TEST(isinf)
/// Returns whether each element is neither NaN nor infinite.
///
/// The result is bool, of self's shape. It is true for integers and bools. No gradient.
TEND_TEST(isfinite)
