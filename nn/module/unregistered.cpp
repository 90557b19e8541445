// Members for which a field macro was forgotten.
#include <algorithm>
#include <unordered_set>
#include <utility>

#include <tend/nn/module/module.h>

namespace tend::nn {
namespace {

[[noreturn]] void fail_unregistered(const std::string& owner, const ModuleBase& member) {
  const std::string type = member.type_name();
  fail(owner, "its member of class ", type, " is not registered, so nothing trains or saves it. ",
       "Declare it as TEND_MODULE(", type, ", name)");
}

[[noreturn]] void fail_unregistered(const std::string& owner, const Parameter& member) {
  fail(owner, "its member Parameter of shape ", member.shape(),
       " is not registered, so nothing trains or saves it. Declare it as TEND_PARAMETER(name)");
}

}  // namespace

void ModuleBase::find_unregistered() const {
  const auto tree = self().named_modules();
  for (const auto& [path, module] : tree) module->check_class(module->called_class());
  std::unordered_set<const LiveObject*> modules;
  std::unordered_set<const TensorImpl*> parameters;
  for (const auto& [path, module] : tree) modules.insert(module);
  for (const Tensor& each : collect(MemberKind::parameter)) parameters.insert(each.impl().get());
  const auto is_registered = [&](const LiveObject* object) {
    if (object->live_kind() == LiveKind::module) return modules.contains(object);
    const auto& parameter = static_cast<const Parameter&>(*object);
    // A handle on a parameter that is registered elsewhere is welcome.
    return !parameter.defined() || !parameter.requires_grad() ||
           parameters.contains(parameter.impl().get());
  };
  // From below, so that of modules in one another the innermost is named.
  for (auto at = tree.rbegin(); at != tree.rend(); ++at) {
    const auto& [path, module] = *at;
    std::vector<const LiveObject*> found = live_within(module->own_bytes());
    std::erase_if(found, is_registered);
    if (found.empty()) continue;
    const std::string own = CallScope::current_path();
    const std::string owner = path.empty() ? own : as_text(own, '.', path);
    // A forgotten module comes before its own members.
    const auto first =
        std::min_element(found.begin(), found.end(), [](const auto* a, const auto* b) {
          return std::pair(a->live_kind(), a) < std::pair(b->live_kind(), b);
        });
    if ((*first)->live_kind() == LiveKind::module)
      fail_unregistered(owner, static_cast<const ModuleBase&>(**first));
    fail_unregistered(owner, static_cast<const Parameter&>(**first));
  }
  for (const auto& [path, module] : tree) module->checked_.set();
}

}  // namespace tend::nn
