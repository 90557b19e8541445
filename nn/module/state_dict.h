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

/// Named tensors in the order of their insertion. Weights are saved and loaded in this form.
///
/// Iterate over its pairs of name and tensor, or look up a name. A look-up takes time in proportion
/// to the number of entries. As in a map, references and iterators stay valid when entries are
/// added.
class StateDict {
 public:
  using value_type = std::pair<std::string, Tensor>;
  using iterator = std::list<value_type>::iterator;
  using const_iterator = std::list<value_type>::const_iterator;

  StateDict() = default;
  /// Accepts several entries of one name, but load_state_dict() and save_safetensors() refuse them.
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

  /// The first entry of that name, or end() if there is none.
  iterator find(std::string_view name) noexcept;
  const_iterator find(std::string_view name) const noexcept;
  bool contains(std::string_view name) const noexcept { return find(name) != end(); }
  /// The first tensor of that name.
  ///
  /// Throws: IndexError - there is no entry of that name
  Tensor& at(std::string_view name);
  const Tensor& at(std::string_view name) const;
  /// The first tensor of that name. If no tensor has the name, adds an undefined one, as std::map
  /// does.
  Tensor& operator[](std::string_view name);
  template <std::integral Number>
  Tensor& operator[](Number) = delete;  // entries have names, not numbers

  /// Adds an entry unless there is one of that name. Returns an iterator to the entry of that name,
  /// and whether it was added.
  std::pair<iterator, bool> insert(value_type entry);
  /// Adds an entry at the end, even if there is one of that name.
  value_type& emplace_back(std::string name, Tensor tensor);
  /// Removes all entries of that name, and returns their number.
  std::size_t erase(std::string_view name);
  iterator erase(const_iterator at) { return entries_.erase(at); }
  void clear() noexcept { entries_.clear(); }

 private:
  std::list<value_type> entries_;
};

/// True if both have the same names in the same order, with equal tensors.
///
/// Equal tensors have the same dtype, shape and elements, or are both undefined. NaN equals
/// nothing.
bool operator==(const StateDict& a, const StateDict& b);

/// The keys of a module that a state lacks, and the keys of the state that the module lacks.
/// Buffers that are not persistent do not count as missing.
struct IncompatibleKeys {
  std::vector<std::string> missing_keys, unexpected_keys;
};

}  // namespace tend::nn
