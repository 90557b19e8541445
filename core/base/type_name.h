// The names of classes, for messages.
#pragma once

#include <string>
#include <typeinfo>

namespace tend {

/// The name of a class without its namespaces and template arguments.
std::string type_name(const std::type_info& type);

}  // namespace tend
