// state_dict and load_state_dict.
#include <cstring>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_set>

#include <tend/autograd/graph/inplace.h>
#include <tend/autograd/tensor/grad_mode.h>
#include <tend/nn/module/module.h>

namespace tend::nn {

StateDict ModuleBase::state_dict(const StateDictOptions& options) const {
  StateDict state;
  for (const PathTensor& each : path_tensors()) {
    if (each.persistent || options.all_buffers) state.emplace_back(each.path, each.tensor.detach());
  }
  return state;
}

namespace {

// A copy to make: the elements of `value`, of the target's shape, go to `target`.
struct Load {
  std::string_view key;
  Array target;
  Array value;
};

// Clones every value that shares elements with a target, since targets are overwritten.
void separate(std::vector<Load>& loads) {
  std::unordered_set<const Storage*> written;
  for (const Load& load : loads) written.insert(load.target.storage().get());
  for (Load& load : loads) {
    if (written.contains(load.value.storage().get())) load.value = load.value.clone();
  }
}

using Sources = std::map<std::string_view, const Tensor*>;

constexpr const char* kLoad = "load_state_dict";

[[noreturn]] void refuse_state(const ModuleBase& module, const std::string& problems) {
  fail(kLoad, module.type_name(), " does not take this state:", problems);
}

// The tensors by key; Error for a key that is there twice or has an undefined tensor.
Sources sources_of(const ModuleBase& module, const StateDict& state) {
  Sources sources;
  std::string problems;
  for (const auto& [key, source] : state) {
    if (!sources.emplace(key, &source).second) {
      problems += as_text("\n  key ", key, " is there twice");
    } else if (!source.defined()) {
      problems += as_text("\n  key ", key, " has an undefined tensor");
    }
  }
  if (!problems.empty()) refuse_state(module, problems);
  return sources;
}

bool same_bits(const Array& a, const Array& b) {
  if (a.raw() == b.raw() && a.strides() == b.strides()) return true;
  const Array x = a.contiguous(), y = b.contiguous();
  const std::int64_t bytes = x.numel() * item_size(x.dtype());
  return bytes == 0 || std::memcmp(x.raw(), y.raw(), static_cast<std::size_t>(bytes)) == 0;
}

// Several keys may name one tensor, as those of a tied head do: Error for other elements under
// each.
void check_shared(const ModuleBase& module, const std::vector<Load>& loads) {
  std::map<const void*, const Load*> known;
  std::string problems;
  for (const Load& load : loads) {
    const Load& first = *known.try_emplace(load.target.raw(), &load).first->second;
    if (!first.target.has_layout_of(load.target) || same_bits(first.value, load.value)) continue;
    problems += as_text("\n  keys ", first.key, " and ", load.key,
                        " name one tensor of the module, but have different elements");
  }
  if (!problems.empty()) refuse_state(module, problems);
}

}  // namespace

IncompatibleKeys ModuleBase::load_state_dict(const StateDict& state, Flag strict) {
  return load(state, strict);
}

IncompatibleKeys ModuleBase::load(const StateDict& state, bool strict, bool only_checks) {
  const NoGradGuard guard;
  const Sources sources = sources_of(*this, state);
  IncompatibleKeys found;
  std::string problems;
  std::vector<Load> loads;
  std::set<std::string_view> own_keys;
  const std::vector<PathTensor> own = path_tensors();
  for (const PathTensor& each : own) {
    const auto& [key, target] = std::tie(each.path, each.tensor);
    own_keys.insert(key);
    const auto source = sources.find(key);
    if (source == sources.end()) {
      if (!each.persistent) continue;
      found.missing_keys.push_back(key);
      if (strict) problems += as_text("\n  missing key ", key, ' ', target.shape());
    } else if (source->second->shape() != target.shape()) {
      problems += as_text("\n  key ", key, " has shape ", source->second->shape(), ", the module ",
                          target.shape());
    } else {
      check_writable(kLoad, target);
      loads.push_back({key, target.array(), source->second->array()});
    }
  }
  for (const auto& [key, source] : state) {
    if (own_keys.contains(key)) continue;
    found.unexpected_keys.push_back(key);
    if (strict) problems += as_text("\n  unexpected key ", key, ' ', source.shape());
  }
  if (!problems.empty()) refuse_state(*this, problems);
  for (const PathTensor& each : own) {
    const auto source = sources.find(each.path);
    if (source != sources.end()) each.owner->check_loaded(each.name, *source->second);
  }

  if (only_checks) return found;
  // What may fail comes before the first element changes.
  for (Load& load : loads) load.value = load.value.to(load.target.dtype());
  check_shared(*this, loads);
  // What is its own source stays as it is, for graphs that have recorded it.
  std::erase_if(loads, [](const Load& load) {
    return load.value.raw() == load.target.raw() && load.value.has_layout_of(load.target);
  });
  separate(loads);
  for (const Load& load : loads) {
    load.target.copy_from(load.value);
    load.target.storage()->bump_version(kLoad);
  }
  return found;
}

}  // namespace tend::nn
