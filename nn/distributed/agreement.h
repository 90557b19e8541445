// What all processes must have alike. Internal.
#pragma once

#include <string>
#include <vector>

#include <tend/nn/distributed/communicator.h>

namespace tend::distributed {

/// Error on all processes unless all have the same lines; it names the first that differs.
void check_agreement(const Communicator& communicator, const char* operation,
                     const std::vector<std::string>& lines);

}  // namespace tend::distributed
