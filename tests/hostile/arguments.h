// Arguments that nobody wants: what a hostile call is made of, by type.
#pragma once

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include <tend/tend.h>

#include "tests/hostile/draws.h"

namespace tend::test {

/// The arguments of one call. They are drawn one after the other; each is described in the text of
/// the call, and the tensors are remembered.
class Arguments {
 public:
  Arguments(std::uint64_t seed, std::int64_t index);

  Draws& draws() noexcept { return draws_; }
  /// "a, b, c": as much as is needed to write the call down.
  std::string text() const { return text_.str(); }
  /// The number of the call in its run.
  std::int64_t index() const noexcept { return index_; }
  /// The tensors among the arguments, lists and options included.
  const std::vector<Tensor>& tensors() const noexcept { return tensors_; }
  /// True when an argument has so many elements that even a legal call takes long.
  bool is_large() const noexcept { return large_; }

  /// `usual`, or something hostile made of it: no tensor, other sizes (0, 1, 2^31 to 2^63 by
  /// expansion), another dtype, other strides, elements that overlap, elements such as NaN or the
  /// smallest int64, the same tensor as an argument before, a view of one, with history, of
  /// inference mode, ...
  Tensor tensor(const Tensor& usual);
  /// The same of a tensor that fits the call: most tensors of one call have one shape and dtype.
  Tensor tensor();
  std::vector<Tensor> tensors(std::int64_t most);
  /// `usual` itself.
  Tensor usual(const Tensor& usual) { return keep(usual); }

  std::int64_t integer();
  double real();
  bool flag();
  Scalar scalar();
  DType dtype();
  /// Sizes: those of the call's shape, with one that is missing, negative, -1, 0 or huge.
  Shape sizes();
  /// Dimensions.
  Shape dims();
  Index place();
  Generator& generator();
  /// One of the enumerators 0 to `last`.
  template <class E>
  E one_of(E last) {
    const auto value = draws_.between(0, static_cast<std::int64_t>(last));
    say(value);
    return static_cast<E>(value);
  }
  template <class T>
  T choice(std::initializer_list<T> values) {
    const T value = draws_.of(values);
    say(value);
    return value;
  }

  /// Adds an argument to the text.
  template <class T>
  void say(const T& value) {
    text_ << (text_.tellp() > 0 ? ", " : "") << value;
  }

 private:
  Tensor hostile(const Tensor& usual);
  Tensor keep(const Tensor& tensor);
  Array small_array(const Shape& shape, DType dtype);

  std::int64_t index_;
  Draws draws_;
  Shape shape_;  // of most tensors
  DType dtype_;  // of most tensors
  std::ostringstream text_;
  std::vector<Tensor> tensors_;
  Generator generator_;
  bool large_ = false;
};

/// "float32 (2, 3), strides (1, 2), leaf that requires grad, elements 1 2 3 4 5 6"
std::string describe(const Tensor& x);

}  // namespace tend::test
