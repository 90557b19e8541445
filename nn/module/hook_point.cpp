#include <tend/nn/module/hook_point.h>

#include <set>

#include <tend/autograd/graph/call_scope.h>

namespace tend::nn {

std::string HookPoint::full_name() const {
  const std::string path = CallScope::current_path();  // "GPT.blocks.0"
  const std::size_t root = path.find('.');
  return root == std::string::npos ? name_ : path.substr(root + 1) + '.' + name_;
}

bool HookPoint::is_wanted() const {
  const std::string where = full_name();
  // Calls hears() of every listener, even after one wants the tensor, because hears() also records
  // the name.
  bool wanted = false;
  for (HookListener* each = HookListener::current(); each != nullptr; each = each->outer()) {
    wanted = each->hears(where) || wanted;
  }
  return wanted;
}

std::vector<std::int64_t> HookPoint::heads() const {
  const std::string where = full_name();
  std::set<std::int64_t> all;
  for (HookListener* each = HookListener::current(); each != nullptr; each = each->outer()) {
    if (!each->hears(where)) continue;
    const std::vector<std::int64_t> heads = each->heads(where);
    if (heads.empty()) return {};
    all.insert(heads.begin(), heads.end());
  }
  return {all.begin(), all.end()};
}

Tensor HookPoint::pass(const Tensor& x, const std::vector<std::int64_t>& heads) const {
  const std::string where = full_name();
  std::vector<HookListener*> listeners;
  for (HookListener* each = HookListener::current(); each != nullptr; each = each->outer()) {
    if (each->hears(where)) listeners.push_back(each);
  }
  Tensor result = x;
  for (auto each = listeners.rbegin(); each != listeners.rend(); ++each) {
    result = (*each)->pass(where, result, heads);
    if (result.shape() != x.shape())
      fail<ShapeError>(where, "the hook must return shape ", x.shape(), ", but returned ",
                       result.shape());
    if (result.dtype() != x.dtype())
      fail<DTypeError>(where, "the hook must return dtype ", x.dtype(), ", but returned ",
                       result.dtype());
  }
  return result;
}

}  // namespace tend::nn
