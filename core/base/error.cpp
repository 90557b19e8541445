#include <tend/core/base/error.h>

#include <exception>
#include <locale>
#include <sstream>
#include <typeinfo>

namespace tend {
namespace {

template <class... Kinds>
void throw_one_of(const Error& error, const std::string& text) {
  ((typeid(error) == typeid(Kinds) ? throw Kinds(text) : void()), ...);
}

}  // namespace

std::string detail::join(std::span<const TextPart> parts) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  for (const TextPart& part : parts) out << part;
  return out.str();
}

void detail::fail_with(void (*throw_error)(const std::string& message),
                       std::span<const TextPart> parts) {
  throw_error(join(parts));
  std::terminate();  // throw_error must not return
}

void throw_alike(const Error& error, const std::string& text) {
  throw_one_of<Error, ShapeError, DTypeError, IndexError, AutogradError, IoError, OutOfMemoryError>(
      error, text);
}

void fail_memory(std::string_view operation) {
  fail<OutOfMemoryError>(operation, "the system did not supply memory");
}

}  // namespace tend
