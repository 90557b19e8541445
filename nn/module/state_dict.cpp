#include <tend/nn/module/state_dict.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <set>
#include <unordered_set>

#include <tend/autograd/ops/compare.h>
#include <tend/autograd/tensor/grad_mode.h>
#include <tend/nn/module/module.h>

namespace tend::nn {

StateDict::const_iterator StateDict::find(std::string_view name) const noexcept {
  return std::find_if(begin(), end(), [&](const value_type& each) { return each.first == name; });
}

StateDict::iterator StateDict::find(std::string_view name) noexcept {
  return std::find_if(begin(), end(), [&](const value_type& each) { return each.first == name; });
}

const Tensor& StateDict::at(std::string_view name) const {
  const auto entry = find(name);
  if (entry == end())
    fail<IndexError>("StateDict", "none of the ", size(), " tensors is named ", name);
  return entry->second;
}

Tensor& StateDict::at(std::string_view name) {
  return const_cast<Tensor&>(std::as_const(*this).at(name));
}

Tensor& StateDict::operator[](std::string_view name) {
  const auto entry = find(name);
  if (entry != end()) return entry->second;
  return emplace_back(std::string(name), {}).second;
}

std::pair<StateDict::iterator, bool> StateDict::insert(value_type entry) {
  const auto known = find(entry.first);
  if (known != end()) return {known, false};
  entries_.push_back(std::move(entry));
  return {std::prev(end()), true};
}

StateDict::value_type& StateDict::emplace_back(std::string name, Tensor tensor) {
  return entries_.emplace_back(std::move(name), std::move(tensor));
}

std::size_t StateDict::erase(std::string_view name) {
  return std::erase_if(entries_, [&](const value_type& each) { return each.first == name; });
}

bool operator==(const StateDict& a, const StateDict& b) {
  const auto same = [](const StateDict::value_type& x, const StateDict::value_type& y) {
    if (x.first != y.first || x.second.defined() != y.second.defined()) return false;
    return !x.second.defined() ||
           (x.second.dtype() == y.second.dtype() && equal(x.second, y.second));
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

StateDict ModuleBase::state_dict(const StateDictOptions& options) const {
  StateDict state;
  for (const PathTensor& each : path_tensors()) {
    if (each.persistent || options.all_buffers) state.emplace_back(each.path, each.tensor.detach());
  }
  return state;
}

namespace {

// A copy to make, from `value` to `target`. Both have the same shape.
struct Load {
  std::string_view key;
  Tensor target;
  Tensor value;
};

// Clones every value that shares elements with a target, since targets are overwritten.
void separate(std::vector<Load>& loads) {
  std::unordered_set<const Storage*> written;
  for (const Load& load : loads) written.insert(load.target.array().storage().get());
  for (Load& load : loads) {
    if (written.contains(load.value.array().storage().get())) load.value = load.value.clone();
  }
}

using Sources = std::map<std::string_view, const Tensor*>;

constexpr const char* kLoad = "load_state_dict";

[[noreturn]] void refuse_state(const ModuleBase& module, const std::string& problems) {
  fail(kLoad, module.type_name(), " cannot load this state:", problems);
}

// Returns a map from each key to its tensor. Throws an Error if a key appears twice or a tensor is
// undefined.
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

bool same_bits(const Tensor& a, const Tensor& b) {
  const Array x = a.array().contiguous(), y = b.array().contiguous();
  const std::int64_t bytes = x.numel() * item_size(x.dtype());
  return bytes == 0 || std::memcmp(x.raw(), y.raw(), static_cast<std::size_t>(bytes)) == 0;
}

// Several keys may name one tensor, such as the keys of a tied head. Throws an Error if their
// elements differ.
void check_shared(const ModuleBase& module, const std::vector<Load>& loads) {
  std::map<const TensorImpl*, const Load*> known;
  std::string problems;
  for (const Load& load : loads) {
    const Load& first = *known.try_emplace(load.target.impl().get(), &load).first->second;
    if (&first == &load || same_bits(first.value, load.value)) continue;
    problems += as_text("\n  keys ", first.key, " and ", load.key,
                        " name one tensor of the module, so their elements must be equal");
  }
  if (!problems.empty()) refuse_state(module, problems);
}

}  // namespace

IncompatibleKeys ModuleBase::load_state_dict(const StateDict& state, Flag strict) {
  const NoGradGuard no_graph;
  const Sources sources = sources_of(*this, state);
  IncompatibleKeys found;
  std::string problems;
  std::vector<Load> loads;
  std::set<std::string_view> own_keys;
  const std::vector<PathTensor> own = path_tensors();
  for (const PathTensor& each : own) {
    const std::string& key = each.path;
    const Tensor& target = each.tensor;
    own_keys.insert(key);
    const auto source = sources.find(key);
    if (source == sources.end()) {
      if (!each.persistent) continue;
      found.missing_keys.push_back(key);
      if (strict) problems += as_text("\n  missing key ", key, ' ', target.shape());
    } else if (source->second->shape() != target.shape()) {
      problems += as_text("\n  key ", key, " must have shape ", target.shape(), ", but has ",
                          source->second->shape());
    } else {
      loads.push_back({key, target, source->second->to(target.dtype())});
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

  check_shared(*this, loads);
  // If the value is the module's own tensor, no copy is needed. A copy would also invalidate the
  // graphs that have saved the tensor.
  std::erase_if(loads, [](const Load& load) {
    const Array &from = load.value.array(), &to = load.target.array();
    return from.raw() == to.raw() && from.has_layout_of(to);
  });
  separate(loads);
  for (Load& load : loads) load.target.copy_(load.value);
  return found;
}

}  // namespace tend::nn
