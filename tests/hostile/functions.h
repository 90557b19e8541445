// The public functions, each with what draws its arguments by their types.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/hostile/checked_call.h"

namespace tend::test {

/// A call whose arguments are drawn; it returns the tensors of the result.
using DrawnCall = std::function<std::vector<Tensor>()>;

struct PublicFunction {
  std::string signature;  // as declarations_of gives it
  std::function<DrawnCall(Arguments&)> draw;
  Writes writes = {};
};

/// A function that may write to any tensor, as a backward writes gradients.
inline PublicFunction writing(PublicFunction function) {
  function.writes.anything = true;
  return function;
}

std::vector<PublicFunction> operation_functions();
std::vector<PublicFunction> method_functions();
std::vector<PublicFunction> in_place_functions();
std::vector<PublicFunction> array_functions();
std::vector<PublicFunction> autograd_functions();
std::vector<PublicFunction> module_functions();
std::vector<PublicFunction> file_functions();
std::vector<PublicFunction> layer_functions();
std::vector<PublicFunction> transformer_functions();
std::vector<PublicFunction> model_functions();
std::vector<PublicFunction> value_functions();
std::vector<PublicFunction> data_functions();
std::vector<PublicFunction> schedule_functions();
std::vector<PublicFunction> optimizer_functions();
#ifdef TEND_HAS_TEXT
std::vector<PublicFunction> text_functions();
#endif

#ifdef TEND_HAS_ARCHIVES
std::vector<PublicFunction> archive_functions();
#endif

/// All of them.
const std::vector<PublicFunction>& public_functions();

}  // namespace tend::test
