#include <tend/nn/module/any_module.h>

#include <tend/core/base/type_name.h>
#include <tend/nn/module/module.h>

namespace tend::nn {

void AnyModule::fail_class(const std::type_info& wanted) const {
  fail("AnyModule", "holds a ", module().type_name(), ", no ", tend::type_name(wanted));
}

void AnyModule::fail_call(const std::type_info& type) {
  fail("AnyModule", "forward of ", tend::type_name(type),
       " does not take one tensor and give one, so it cannot be called in a list of mixed classes");
}

}  // namespace tend::nn
