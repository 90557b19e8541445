// One hostile call, and what is looked at after it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/hostile/arguments.h"
#include "tests/hostile/guard.h"

namespace tend::test {

/// Which arguments a call may change when it succeeds.
struct Writes {
  std::vector<std::size_t> tensors = {};  // by number, and all that share elements with them
  bool anything = false;
};

/// Makes the call, which returns the tensors that it gave, and notes how it ended. A tend::Error
/// whose message begins with "[" leaves all arguments as they were. A result leaves those that
/// the call does not write; its elements can be read, and backward from it ends in one way or the
/// other.
void check_call(CallLog& log, const std::string& function, const Arguments& arguments,
                const Writes& writes, const std::function<std::vector<Tensor>()>& call);

}  // namespace tend::test
