// The errors that tend throws. Each message names the operation; docs/failures.md says what holds
// after an error.
#pragma once

#include <new>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <tend/core/base/fork_gate.h>

#pragma GCC visibility push(default)

namespace tend {

/// Base of everything that tend throws.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Shapes, strides or dimensions that do not fit an operation.
class ShapeError : public Error {
 public:
  using Error::Error;
};

/// A dtype that an operation does not take.
class DTypeError : public Error {
 public:
  using Error::Error;
};

/// An index, dimension or label out of its range.
class IndexError : public Error {
 public:
  using Error::Error;
};

/// Misuse of the gradient machinery: no graph, a graph used twice, a saved tensor that changed.
class AutogradError : public Error {
 public:
  using Error::Error;
};

/// A file that cannot be read, written or trusted.
class IoError : public Error {
 public:
  using Error::Error;
};

/// The system could not supply memory; the message says how much, where that is known.
class OutOfMemoryError : public Error {
 public:
  using Error::Error;
};

/// Its arguments, one after the other, as text, independently of the global locale.
template <class... Parts>
std::string as_text(const Parts&... parts) {
  std::optional<detail::ForkGate> gate(std::in_place);
  std::ostringstream out;  // takes a lock if the program has set a global locale
  gate.reset();
  out.imbue(std::locale::classic());
  // A stream that runs out of memory would otherwise truncate the text silently.
  out.exceptions(std::ios::badbit);
  (out << ... << parts);
  return out.str();
}

/// Throws an OutOfMemoryError whose message was made in advance, so that this needs no memory.
[[noreturn]] void fail_memory();

/// Throws `Kind` with the message "[operation] parts...".
template <class Kind = Error, class... Parts>
[[noreturn]] void fail(std::string_view operation, const Parts&... parts) {
  try {
    throw Kind(as_text('[', operation, "] ", parts...));
  } catch (const std::bad_alloc&) {
    fail_memory();
  }
}

/// Calls f() and turns failed allocations of the standard library into an OutOfMemoryError.
template <class F>
decltype(auto) with_memory(F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (const std::bad_alloc&) {
    fail_memory();
  } catch (const std::length_error&) {  // more elements than a container can count
    fail_memory();
  }
}

}  // namespace tend

#pragma GCC visibility pop
