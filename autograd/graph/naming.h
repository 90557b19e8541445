// Changes the operation that an error names.
#pragma once

namespace tend {

/// Rethrows the current tend::Error, with `operation` as the operation it names.
///
/// It is for operations that call others: an error of tile, which calls repeat, must not name
/// repeat.
///
///     Tensor tile(const Tensor& self, const Shape& repeats) try {
///       ...
///     } catch (const Error&) {
///       rename_error("tile");
///     }
[[noreturn]] void rename_error(const char* operation);

}  // namespace tend
