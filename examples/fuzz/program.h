// A random program: operations on tensors, as C++ calls that were made and as Python text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tend/tend.h>

#include "dice.h"
#include "digest.h"

namespace fuzz {

/// A named tensor of the program.
struct Value {
  std::string name;
  tend::Tensor tensor;
  bool exact;  // every implementation has the same bits here, so it may decide (floor, sort, ==)
};

/// What running a program gives.
struct Outcome {
  enum class Kind {
    compared,
    refused,  // backward needs what was written in place
    wild      // numbers so large that rounding errors would be, too
  };
  Kind kind = Kind::compared;
  std::vector<Digest> values;     // of the outputs
  std::vector<Digest> gradients;  // of the outputs with respect to the leaves; shape (0) for none
  std::vector<Digest> second;     // of the gradients, weighted, with respect to the leaves
};

/// A program while it is written. Steps are computed at once, so that the next can look at shapes.
class Program {
 public:
  explicit Program(std::uint64_t seed);

  std::uint64_t seed() const noexcept { return seed_; }
  /// Python, one statement a line; needs torch, F and the functions of torch_run.py.
  const std::string& python() const noexcept { return python_; }
  const std::vector<std::string>& leaves() const noexcept { return leaves_; }
  const std::vector<std::string>& outputs() const noexcept { return outputs_; }
  /// True when float32 takes part, where results are compared less closely.
  bool single_precision() const noexcept { return single_; }
  /// Names of the operations, as the catalogue calls them.
  const std::vector<std::string>& operations() const noexcept { return operations_; }

  /// Values and derivatives in tend.
  Outcome run() const;

  // For the catalogue.

  Dice dice;
  /// Any earlier value; one of a floating dtype; one with exact elements and at least one of them.
  Value any();
  Value real();
  std::optional<Value> exact();
  /// A value of that dtype whose shape broadcasts with `other`'s: an earlier one, or a new leaf.
  Value partner(const Value& other);
  /// A new leaf: numbers in [low, high), whole ones for int64, which is never differentiated.
  Value leaf(const tend::Shape& shape, tend::DType dtype, double low = -2, double high = 2);
  /// A dimension of `value`, counted from either end.
  std::int64_t dim(const Value& value);
  /// A result, under a new name; `python` is the expression.
  void step(std::string_view python, const tend::Tensor& result, bool is_exact = false);
  /// A statement that changes tensors in place.
  void statement(std::string_view python);
  /// True where in-place writes make sense: floating, in a graph, no leaf nor a view of one.
  static bool writable(const Value& value);

 private:
  void add_leaves();
  void add_steps();
  void choose_outputs();
  const tend::Tensor& find(const std::string& name) const;

  std::uint64_t seed_;
  std::string python_;
  std::vector<Value> values_;
  std::vector<std::string> leaves_, outputs_, operations_;
  bool single_ = false;
  int next_ = 0;
};

}  // namespace fuzz
