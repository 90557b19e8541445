#include <tend/autograd/graph/naming.h>

#include <string_view>
#include <typeinfo>

#include <tend/core/base/error.h>

namespace tend {
namespace {

// Throws the error with another name between the brackets at the beginning of its message.
template <class Kind>
[[noreturn]] void rethrow(const char* operation, const Kind& error) {
  const std::string_view text = error.what();
  const std::size_t end = text.find("] ");
  if (typeid(error) != typeid(Kind) || text.empty() || text[0] != '[' ||
      end == std::string_view::npos) {
    throw;
  }
  throw Kind(as_text('[', operation, text.substr(end)));
}

}  // namespace

void rename_error(const char* operation) {
  try {
    throw;
  } catch (const ShapeError& error) {
    rethrow(operation, error);
  } catch (const DTypeError& error) {
    rethrow(operation, error);
  } catch (const IndexError& error) {
    rethrow(operation, error);
  } catch (const AutogradError& error) {
    rethrow(operation, error);
  } catch (const OutOfMemoryError& error) {
    rethrow(operation, error);
  } catch (const Error& error) {
    rethrow(operation, error);
  }
}

}  // namespace tend
