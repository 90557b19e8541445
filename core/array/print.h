// Arrays as text, letter for letter as PyTorch prints tensors, independently of the locale.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>

#include <tend/core/array/array.h>

namespace tend {

/// How tensors are printed, as torch.set_printoptions sets it.
struct PrintOptions {
  /// Digits after the point.
  std::int64_t precision = 4;
  /// Arrays of more elements than this are summarised.
  std::int64_t threshold = 1000;
  /// Items that a summary shows at each end of each dimension.
  std::int64_t edgeitems = 3;
  /// Characters on a line.
  std::int64_t linewidth = 80;
  /// Scientific notation always or never; by the values when not set.
  std::optional<bool> sci_mode = std::nullopt;

  friend bool operator==(const PrintOptions&, const PrintOptions&) = default;
};

/// The options used where none are given, for all threads.
PrintOptions get_printoptions();
/// Error for a negative number, or more than 1000 digits.
void set_printoptions(const PrintOptions& options);

/// "tensor([[1., 2.]], dtype=torch.float64)"
std::string to_string(const Array& array, const PrintOptions& options = get_printoptions());

/// As above, with `suffixes` ("requires_grad=True") after the elements; one for which the last line
/// has no room begins a new line.
std::string format_tensor(const Array& array, std::span<const std::string> suffixes,
                          const PrintOptions& options = get_printoptions());

std::ostream& operator<<(std::ostream& out, const Array& array);

/// "torch.Size([2, 3])"
std::string size_text(const Shape& shape);

/// The shortest decimal text that reads back as `value`, as Python's repr writes it: "0.9544",
/// "1.0", "1e-05", "inf", "nan".
std::string python_repr(double value);

}  // namespace tend
