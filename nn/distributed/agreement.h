// What all processes must have alike. Internal.
#pragma once

#include <string>
#include <vector>

#include <tend/nn/distributed/communicator.h>

namespace tend::distributed {

/// Error on all processes unless all have the same lines; it names the first that differs. The
/// operation is settled in both cases.
void check_agreement(Communicator::Operation& operation, const std::vector<std::string>& lines);

}  // namespace tend::distributed
