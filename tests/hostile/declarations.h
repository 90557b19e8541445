// The public functions that a header declares.
#pragma once

#include <string>
#include <vector>

namespace tend::test {

/// What header `path` (below the project's folder) declares for users: free functions, public
/// methods and constructors, one text each with the types of the parameters:
/// "sum(const Tensor&, const Dims&, bool)", "nn::Linear::Linear(std::int64_t, std::int64_t, bool)".
/// Names are those within tend; methods of Tensor's bases (autograd/methods) are Tensor's.
/// Destructors, assignments, copies and what is deleted are left out.
std::vector<std::string> declarations_of(const std::string& path);

}  // namespace tend::test
