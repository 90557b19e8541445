// The outputs of the book's chapters 2, 4 and 5.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "examples/lab/book_model.h"

namespace book {

/// What the chapters start from.
struct Setup {
  std::string story;
  tend::nn::BytePairEncoding gpt2;
  Sizes sizes;
  std::int64_t window = 256;  ///< Tokens of a window that is trained on.
  std::int64_t epochs = 10;
  std::uint64_t seed = 123;
  /// Weights and inputs are drawn in float32 and then converted.
  tend::DType dtype = tend::float32;
};

/// What the cells of a notebook print, by their numbers.
using Printed = std::map<int, std::string>;

/// The cell that prints the training's losses and sentences.
constexpr int kTraining = 78;

Printed chapter2(const Setup& setup);
Printed chapter4(const Setup& setup);
/// All but what needs a trained model.
Printed chapter5(const Setup& setup);

/// What depends on training. `patterns`: where the trained model's heads attend in the first words
/// that it has learned.
struct Trained {
  Printed printed;
  tend::nn::Maps patterns;
};
Trained trained(const Setup& setup);

}  // namespace book
