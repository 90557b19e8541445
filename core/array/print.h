// Arrays as text, exactly as PyTorch prints tensors. The locale has no influence.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>

#include <tend/core/array/array.h>

namespace tend {

/// The options for printing tensors, as in torch.set_printoptions.
struct PrintOptions {
  /// The number of digits after the point.
  std::int64_t precision = 4;
  /// Arrays with more elements than this are summarised.
  std::int64_t threshold = 1000;
  /// The number of items that a summary shows at each end of each dimension.
  std::int64_t edgeitems = 3;
  /// The number of characters on a line.
  std::int64_t linewidth = 80;
  /// True for scientific notation, false for fixed-point notation. If not set, the values decide.
  std::optional<bool> sci_mode = std::nullopt;

  friend bool operator==(const PrintOptions&, const PrintOptions&) = default;
};

/// The default options for printing, which all threads share.
PrintOptions get_printoptions();
/// Sets the default options for printing, for all threads.
///
/// Throws:
///   Error - a number is negative
///   Error - `precision` is more than 1000 digits
void set_printoptions(const PrintOptions& options);

/// The array as text, such as "tensor([[1., 2.]], dtype=torch.float64)".
std::string to_string(const Array& array, const PrintOptions& options = get_printoptions());

/// As to_string, with `suffixes` such as "requires_grad=True" after the elements. A suffix that
/// does not fit on the last line begins a new line.
std::string format_tensor(const Array& array, std::span<const std::string> suffixes,
                          const PrintOptions& options = get_printoptions());

std::ostream& operator<<(std::ostream& out, const Array& array);

/// The shape as PyTorch prints it, such as "torch.Size([2, 3])".
std::string size_text(const Shape& shape);

/// The shortest decimal text that is read back as `value`, as Python's repr writes it: "0.9544",
/// "1.0", "1e-05", "inf", "nan".
std::string python_repr(double value);

}  // namespace tend
