#include <tend/core/base/error.h>

namespace tend {
namespace {

// Made when the library is loaded, and never destroyed: static destructors may need it.
const OutOfMemoryError& no_memory =
    *new OutOfMemoryError("[allocate] the system did not give the memory for a small object");

}  // namespace

void fail_memory() {
  throw OutOfMemoryError(no_memory);  // copies of an exception share its text
}

}  // namespace tend
