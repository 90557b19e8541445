// Everything that a call which fails must leave as it was.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <tend/tend.h>

#include "world.h"

namespace fuzz {

/// Tensors with their gradients, and the state of optimizers.
class Snapshot {
 public:
  Snapshot(const Names& names, const std::vector<tend::nn::StateDict>& optimizers);

  /// Takes one tensor anew, since a hook of the program changed it on purpose.
  void retake(const Named& named);
  /// What is different now, in words; empty when nothing is.
  std::string difference(const Names& names,
                         const std::vector<tend::nn::StateDict>& optimizers) const;

 private:
  // Of one tensor.
  struct Elements {
    const void* identity = nullptr;  // its impl; null for an undefined tensor
    tend::Shape shape, strides;
    tend::DType dtype = tend::float32;
    std::vector<std::uint64_t> bits;
    std::uint32_t version = 0;
    bool requires_grad = false, is_leaf = false;

    bool operator==(const Elements&) const = default;
  };
  struct Entry {
    Elements tensor, gradient;
  };

  static Elements take(const tend::Tensor& tensor);
  static std::string difference(const std::string& name, const Elements& before,
                                const Elements& now);

  std::map<std::string, Entry> entries_;
  std::vector<std::map<std::string, std::vector<std::uint64_t>>> optimizers_;
};

}  // namespace fuzz
