#include <tend/nn/module/any_module.h>

#include <tend/core/base/type_name.h>
#include <tend/nn/module/module.h>

namespace tend::nn {

void AnyModule::fail_class(const std::type_info& wanted) const {
  fail("AnyModule", "the module is a ", module().type_name(), ", not a ", tend::type_name(wanted));
}

void AnyModule::fail_call(const std::type_info& type) {
  fail("AnyModule", "the forward of ", tend::type_name(type),
       " does not accept and return one tensor, so a list of mixed classes cannot call it");
}

}  // namespace tend::nn
