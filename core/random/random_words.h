// The loops of the random generator: MT19937's recurrence, and the conversion of its words to
// numbers.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tend/core/kernels/simd/for_types.h>

namespace tend::kernels {

/// The number of words in MT19937's state (Matsumoto and Nishimura 1998).
inline constexpr std::size_t kTwisterWords = 624;

/// Converts words to numbers in [0, 1). A float uses 24 bits of one word, a double 53 bits of two
/// words.
template <class T>
using UniformFromWords = void (*)(T* out, const std::uint32_t* words, std::size_t count);

struct RandomKernels {
  /// Replaces the 624 words of the state by the next 624 words.
  void (*twist)(std::uint32_t* state);
  /// Sets out[i] to the tempered in[i], which is the word that the generator returns.
  void (*temper)(std::uint32_t* out, const std::uint32_t* in, std::size_t count);
  ForTypes<UniformFromWords> uniform;
  /// Sets bit i % 8 of byte i / 8 to 1 if the 53 bits of the words 2i and 2i + 1 are less than
  /// `below`, a number up to 2^53. The unused bits of the last byte are zero.
  void (*bits_below)(std::uint8_t* bits, const std::uint32_t* words, std::size_t count,
                     std::uint64_t below);
};

/// The kernels for this processor.
const RandomKernels& random_kernels();

}  // namespace tend::kernels
