// The outputs of the book's chapters 2, 4 and 5.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "examples/lab/book_model.h"

namespace book {

/// The inputs and sizes of the chapters.
struct Setup {
  std::string story;
  tend::nn::BytePairEncoding gpt2;
  Sizes sizes;
  std::int64_t window = 256;  ///< Tokens of a training window.
  std::int64_t epochs = 10;
  std::uint64_t seed = 123;
  /// The dtype of the computation. Random weights and inputs are created in float32 and converted.
  tend::DType dtype = tend::float32;
};

/// The outputs of a notebook, by the number of the cell.
using Printed = std::map<int, std::string>;

/// The cell that prints the training's losses and sentences.
constexpr int kTraining = 78;

Printed chapter2(const Setup& setup);
Printed chapter4(const Setup& setup);
/// All outputs that need no trained model.
Printed chapter5(const Setup& setup);

/// The outputs that need a trained model. `patterns` is the attention of the trained model's heads
/// in a sentence that this model generates.
struct Trained {
  Printed printed;
  tend::nn::Maps patterns;
};
Trained trained(const Setup& setup);

}  // namespace book
