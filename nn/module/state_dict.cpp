#include <tend/nn/module/state_dict.h>

#include <algorithm>
#include <iterator>

#include <tend/autograd/ops/compare.h>

namespace tend::nn {

StateDict::const_iterator StateDict::find(std::string_view name) const noexcept {
  return std::find_if(begin(), end(), [&](const value_type& each) { return each.first == name; });
}

StateDict::iterator StateDict::find(std::string_view name) noexcept {
  return std::find_if(begin(), end(), [&](const value_type& each) { return each.first == name; });
}

const Tensor& StateDict::at(std::string_view name) const {
  const auto entry = find(name);
  if (entry == end()) fail<IndexError>("StateDict", "no tensor of ", size(), " is named ", name);
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

std::pair<StateDict::iterator, bool> StateDict::insert_or_assign(std::string name, Tensor tensor) {
  const auto known = find(name);
  if (known == end()) return insert({std::move(name), std::move(tensor)});
  known->second = std::move(tensor);
  return {known, false};
}

StateDict::value_type& StateDict::emplace_back(std::string name, Tensor tensor) {
  return entries_.emplace_back(std::move(name), std::move(tensor));
}

std::size_t StateDict::count(std::string_view name) const noexcept {
  return static_cast<std::size_t>(
      std::count_if(begin(), end(), [&](const value_type& each) { return each.first == name; }));
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

}  // namespace tend::nn
