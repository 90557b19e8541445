#include <tend/attention/lens/run.h>

#include <algorithm>

#include <tend/attention/lens/names.h>
#include <tend/autograd/ops/ops.h>

namespace tend::lens {
namespace {

[[noreturn]] void fail_name(const char* operation, const std::string& name,
                            const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& each : nearest_names(activation_name(name), names)) {
    text += (text.empty() ? "; the nearest names are " : ", ") + each;
  }
  fail<IndexError>(operation, "there is no activation ", name, text);
}

// The indices of the wanted heads in a tensor that has `heads`, or all heads if `heads` is empty.
Tensor positions_of(const std::vector<std::int64_t>& wanted,
                    const std::vector<std::int64_t>& heads) {
  std::vector<std::int64_t> positions;
  for (const std::int64_t head : wanted) {
    const auto at = std::find(heads.begin(), heads.end(), head);
    positions.push_back(heads.empty() ? head : at - heads.begin());
  }
  return tensor(positions);
}

}  // namespace

Hooks::Hooks(std::vector<Hook> hooks) : hooks_(std::move(hooks)) {
  for (Hook& each : hooks_) each.name = activation_name(each.name);
}

bool Hooks::hears(const std::string& place) {
  const std::string name = activation_name(place);
  const bool has_hook = std::any_of(hooks_.begin(), hooks_.end(),
                                    [&](const Hook& hook) { return hook.name == name; });
  return passed_[name] = has_hook;
}

std::vector<std::int64_t> Hooks::heads(const std::string& place) const {
  const std::string name = activation_name(place);
  std::vector<std::int64_t> all;
  for (const Hook& hook : hooks_) {
    if (hook.name != name) continue;
    if (hook.heads.empty()) return {};
    all.insert(all.end(), hook.heads.begin(), hook.heads.end());
  }
  return all;
}

Tensor Hooks::pass(const std::string& place, const Tensor& x,
                   const std::vector<std::int64_t>& heads) {
  const std::string name = activation_name(place);
  Tensor result = x;
  for (const Hook& hook : hooks_) {
    if (hook.name != name) continue;
    if (hook.heads.empty() && heads.empty()) {
      result = hook.function(result);
    } else {
      const Tensor positions = positions_of(hook.heads.empty() ? heads : hook.heads, heads);
      result =
          index_copy(result, -3, positions, hook.function(index_select(result, -3, positions)));
    }
  }
  return result;
}

void Hooks::check_heard() const {
  std::vector<std::string> names;
  for (const auto& [name, has_hook] : passed_) names.push_back(name);
  for (const Hook& hook : hooks_) {
    if (!passed_.contains(hook.name)) fail_name("run_with_hooks", hook.name, names);
  }
}

const Tensor* ActivationCache::find(const std::string& name) const {
  const std::string wanted = activation_name(name);
  const auto at = std::find_if(items_.begin(), items_.end(),
                               [&](const auto& item) { return item.first == wanted; });
  return at == items_.end() ? nullptr : &at->second;
}

const Tensor& ActivationCache::operator[](const std::string& name) const {
  if (const Tensor* const found = find(name)) return *found;
  std::vector<std::string> names;
  for (const auto& [each, x] : items_) names.push_back(each);
  fail_name("ActivationCache", name, names);
}

bool ActivationCache::contains(const std::string& name) const {
  return find(name) != nullptr;
}

void ActivationCache::set(const std::string& name, const Tensor& x) {
  for (auto& [each, held] : items_) {
    if (each != name) continue;
    held = x;
    return;
  }
  items_.emplace_back(name, x);
}

Caching::Caching(CacheOptions options) : options_(std::move(options)) {
  for (std::string& each : options_.names) each = activation_name(each);
}

bool Caching::hears(const std::string& place) {
  const std::string name = activation_name(place);
  passed_.insert(name);
  if (options_.filter) return options_.filter(name);
  const auto& names = options_.names;
  if (names.empty()) return !name.ends_with("hook_result");
  return std::find(names.begin(), names.end(), name) != names.end();
}

Tensor Caching::pass(const std::string& place, const Tensor& x,
                     const std::vector<std::int64_t>& heads) {
  const bool picks = !options_.heads.empty() && !heads.empty();
  cache_.set(activation_name(place),
             picks ? index_select(x, -3, positions_of(options_.heads, heads)) : x);
  return x;
}

ActivationCache Caching::take() {
  for (const std::string& name : options_.names) {
    if (!cache_.contains(name)) fail_name("run_with_cache", name, {passed_.begin(), passed_.end()});
  }
  return std::move(cache_);
}

}  // namespace tend::lens
