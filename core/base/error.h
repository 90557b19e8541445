// The errors that tend throws. Each message names the operation; docs/reference.md describes the
// state after an error.
#pragma once

#include <array>
#include <cstddef>
#include <new>
#include <ostream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

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

/// A dtype that an operation does not accept.
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

namespace detail {

/// A reference to a value that becomes a part of a message. `<<` must be able to write the value,
/// and the value must outlive the TextPart.
///
/// The functions below accept a list of parts and build the message from it. So a caller needs only
/// a few instructions and no stream.
class TextPart {
 public:
  template <class T>
  explicit TextPart(const T& value) noexcept {
    if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      const std::string_view text = value;
      value_ = text.data();
      size_ = text.size();
      write_ = [](std::ostream& out, const TextPart& part) {
        out << std::string_view(static_cast<const char*>(part.value_), part.size_);
      };
    } else {
      value_ = &value;
      write_ = [](std::ostream& out, const TextPart& part) {
        out << *static_cast<const T*>(part.value_);
      };
    }
  }
  friend std::ostream& operator<<(std::ostream& out, const TextPart& part) {
    part.write_(out, part);
    return out;
  }

 private:
  const void* value_;
  std::size_t size_ = 0;  // used only if the value is a text
  void (*write_)(std::ostream& out, const TextPart& part);
};

std::string join(std::span<const TextPart> parts);
/// Calls throw_error with the joined parts. throw_error must throw.
[[noreturn]] void fail_with(void (*throw_error)(const std::string& message),
                            std::span<const TextPart> parts);

}  // namespace detail

/// Throws an error of the same class as `error`, with another text. It returns only if the class of
/// `error` is not declared in this file.
void throw_alike(const Error& error, const std::string& text);

/// The arguments as one text, without separators. The global locale has no influence.
template <class... Parts>
std::string as_text(const Parts&... parts) {
  const std::array<detail::TextPart, sizeof...(parts)> all{detail::TextPart(parts)...};
  return detail::join(all);
}

/// Throws an OutOfMemoryError. Call this function when a library reports a lack of memory.
[[noreturn]] void fail_memory(std::string_view operation);

/// Throws `Kind` with the message "[operation] parts...".
template <class Kind = Error, class... Parts>
[[noreturn]] void fail(std::string_view operation, const Parts&... parts) {
  const std::array<detail::TextPart, sizeof...(parts) + 3> all{
      detail::TextPart("["), detail::TextPart(operation), detail::TextPart("] "),
      detail::TextPart(parts)...};
  detail::fail_with([](const std::string& message) { throw Kind(message); }, all);
}

}  // namespace tend
