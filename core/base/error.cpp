#include <tend/core/base/error.h>

#include <exception>
#include <locale>
#include <sstream>

namespace tend {

std::string detail::join(std::span<const TextPart> parts) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  for (const TextPart& part : parts) out << part;
  return out.str();
}

void detail::fail_with(void (*throw_error)(const std::string& message),
                       std::span<const TextPart> parts) {
  throw_error(join(parts));
  std::terminate();  // throw_error has returned
}

void fail_memory(std::string_view operation) {
  fail<OutOfMemoryError>(operation, "the system did not supply memory");
}

}  // namespace tend
