#include "snapshot.h"

#include <bit>

using namespace tend;

namespace fuzz {
namespace {

// Equal bits, so that NaN equals itself.
std::vector<std::uint64_t> bits(const Tensor& tensor) {
  std::vector<std::uint64_t> all;
  for (const double x : numbers(tensor)) all.push_back(std::bit_cast<std::uint64_t>(x));
  return all;
}

std::map<std::string, std::vector<std::uint64_t>> bits(const nn::StateDict& state) {
  std::map<std::string, std::vector<std::uint64_t>> all;
  for (const auto& [key, value] : state) all.emplace(key, bits(value));
  return all;
}

}  // namespace

Snapshot::Snapshot(const Names& names, const std::vector<nn::StateDict>& optimizers) {
  for (const Named& each : names.tensors) retake(each);
  for (const nn::StateDict& each : optimizers) optimizers_.push_back(bits(each));
}

void Snapshot::retake(const Named& named) {
  entries_[named.name] = {take(named.tensor), take(named.tensor.grad())};
}

Snapshot::Elements Snapshot::take(const Tensor& tensor) {
  if (!tensor.defined()) return {};
  return {tensor.impl().get(), tensor.shape(),   tensor.strides(),       tensor.dtype(),
          bits(tensor),        tensor.version(), tensor.requires_grad(), tensor.is_leaf()};
}

std::string Snapshot::difference(const std::string& name, const Elements& before,
                                 const Elements& now) {
  if (before == now) return {};
  if (before.identity != now.identity) return name + " is another tensor";
  if (before.shape != now.shape) return as_text(name, " has shape ", now.shape);
  if (before.strides != now.strides) return as_text(name, " has strides ", now.strides);
  if (before.dtype != now.dtype) return as_text(name, " is ", now.dtype);
  if (before.bits != now.bits) return name + " has other elements";
  if (before.version != now.version)
    return as_text(name, " has version ", now.version, " instead of ", before.version);
  if (before.requires_grad != now.requires_grad) return name + " has another requires_grad";
  return name + " has another is_leaf";
}

std::string Snapshot::difference(const Names& names,
                                 const std::vector<nn::StateDict>& optimizers) const {
  for (const Named& each : names.tensors) {
    const Entry& before = entries_.at(each.name);
    for (const std::string& text :
         {difference(each.name, before.tensor, take(each.tensor)),
          difference(each.name + ".grad", before.gradient, take(each.tensor.grad()))}) {
      if (!text.empty()) return text;
    }
  }
  if (names.tensors.size() != entries_.size()) return "a name came or went";
  for (std::size_t i = 0; i < optimizers.size(); ++i) {
    if (bits(optimizers[i]) != optimizers_[i])
      return as_text("optimizer ", i, " has another state");
  }
  return {};
}

}  // namespace fuzz
