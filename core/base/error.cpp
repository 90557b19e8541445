#include <tend/core/base/error.h>

#include <exception>
#include <locale>
#include <optional>
#include <sstream>

#include <tend/core/base/fork_gate.h>

namespace tend {
namespace {

// Made when the library is loaded, and never destroyed: static destructors may need it.
const OutOfMemoryError& no_memory =
    *new OutOfMemoryError("[allocate] the system did not give the memory for a small object");

}  // namespace

std::string detail::join(std::span<const TextPart> parts) {
  std::optional<ForkGate> gate(std::in_place);
  std::ostringstream out;  // takes a lock if the program has set a global locale
  gate.reset();
  out.imbue(std::locale::classic());
  // A stream that runs out of memory would otherwise truncate the text silently.
  out.exceptions(std::ios::badbit);
  for (const TextPart& part : parts) out << part;
  return out.str();
}

void detail::fail_with(void (*throw_error)(const std::string& message),
                       std::span<const TextPart> parts) {
  try {
    throw_error(join(parts));
  } catch (const std::bad_alloc&) {
    fail_memory();
  }
  std::terminate();  // throw_error has returned
}

void fail_memory() {
  throw OutOfMemoryError(no_memory);  // copies of an exception share its text
}

}  // namespace tend
