#include <tend/autograd/graph/naming.h>

#include <string_view>

#include <tend/core/base/error.h>

namespace tend {

void rename_error(const char* operation) {
  try {
    throw;
  } catch (const Error& error) {
    const std::string_view text = error.what();
    const std::size_t end = text.find("] ");
    if (text.starts_with('[') && end != std::string_view::npos)
      throw_alike(error, as_text('[', operation, text.substr(end)));
    throw;
  }
}

}  // namespace tend
