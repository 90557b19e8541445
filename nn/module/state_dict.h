// StateDict: named tensors.
#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tend/autograd/tensor/tensor.h>

namespace tend::nn {

/// Named tensors in the order of their insertion, the form in which weights are saved and loaded.
/// Iterate over its pairs of name and tensor, or look one up; that takes time in proportion to
/// their number. As in a map, references and iterators stay valid when entries are added.
class StateDict {
 public:
  using value_type = std::pair<std::string, Tensor>;
  using iterator = std::list<value_type>::iterator;
  using const_iterator = std::list<value_type>::const_iterator;

  StateDict() = default;
  /// Keeps all of them, also several of one name, which load_state_dict and save_safetensors
  /// refuse.
  StateDict(std::initializer_list<value_type> entries) : entries_(std::list<value_type>(entries)) {}
  StateDict(const std::vector<value_type>& entries)
      : entries_(std::list<value_type>(entries.begin(), entries.end())) {}
  template <std::input_iterator I>
  StateDict(I first, I last) : entries_(std::list<value_type>(first, last)) {}

  iterator begin() noexcept { return entries_.begin(); }
  iterator end() noexcept { return entries_.end(); }
  const_iterator begin() const noexcept { return entries_.begin(); }
  const_iterator end() const noexcept { return entries_.end(); }
  std::size_t size() const noexcept { return entries_.size(); }
  bool empty() const noexcept { return entries_.empty(); }

  /// The first entry of that name, end() where there is none.
  iterator find(std::string_view name) noexcept;
  const_iterator find(std::string_view name) const noexcept;
  bool contains(std::string_view name) const noexcept { return find(name) != end(); }
  /// IndexError for a name that is not here.
  Tensor& at(std::string_view name);
  const Tensor& at(std::string_view name) const;
  /// Adds an undefined tensor for a name that is not here, as std::map does; at() throws.
  Tensor& operator[](std::string_view name);
  template <std::integral Number>
  Tensor& operator[](Number) = delete;  // entries have names, no numbers

  /// Adds an entry unless the name is here already; its place, and whether it was added.
  std::pair<iterator, bool> insert(value_type entry);
  /// Adds an entry at the end, also when the name is here already.
  value_type& emplace_back(std::string name, Tensor tensor);
  /// How many entries of that name there were.
  std::size_t erase(std::string_view name);
  iterator erase(const_iterator at) { return entries_.erase(at); }
  void clear() noexcept { entries_.clear(); }

 private:
  std::list<value_type> entries_;
};

/// Whether both have the same names in the same order, with tensors of the same dtypes, shapes and
/// elements (NaN equals nothing), or none.
bool operator==(const StateDict& a, const StateDict& b);

/// Keys of a module that a state lacks, but for buffers that are not persistent, and keys of the
/// state that the module lacks.
struct IncompatibleKeys {
  std::vector<std::string> missing_keys, unexpected_keys;
};

}  // namespace tend::nn
