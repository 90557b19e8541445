// Which operation an error names.
#pragma once

namespace tend {

/// Rethrows the tend::Error that is being handled, named after `operation`. For operations that are
/// made of others: whoever called tile should not read of repeat.
///
///     Tensor tile(const Tensor& self, const Shape& repeats) try {
///       ...
///     } catch (const Error&) {
///       rename_error("tile");
///     }
[[noreturn]] void rename_error(const char* operation);

}  // namespace tend
