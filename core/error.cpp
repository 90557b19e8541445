#include <tend/core/error.h>

namespace tend {
namespace {

const OutOfMemoryError& no_memory() {
  static const OutOfMemoryError error(
      "[allocate] the system did not give the memory for a small object");
  return error;
}

// Made when the library is loaded.
[[maybe_unused]] const OutOfMemoryError& made_early = no_memory();

}  // namespace

void fail_memory() {
  throw OutOfMemoryError(no_memory());  // copies of an exception share its text
}

}  // namespace tend
