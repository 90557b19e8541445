// The loops of the random generator: MT19937's recurrence, and numbers from its words.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tend/core/kernels/simd/for_types.h>

namespace tend::kernels {

/// Words of MT19937's state (Matsumoto and Nishimura 1998).
inline constexpr std::size_t kTwisterWords = 624;

/// In [0, 1): 24 bits of one word for a float, 53 bits of two for a double.
template <class T>
using UniformFromWords = void (*)(T* out, const std::uint32_t* words, std::size_t count);

struct RandomKernels {
  /// The state's next 624 words, in place.
  void (*twist)(std::uint32_t* state);
  /// out[i] = the tempered in[i]: a word as the generator returns it.
  void (*temper)(std::uint32_t* out, const std::uint32_t* in, std::size_t count);
  ForTypes<UniformFromWords> uniform;
  /// Bit i % 8 of byte i / 8 tells whether the 53 bits of words 2i and 2i + 1 are below `below`, a
  /// number up to 2^53; the last byte is filled up with zeros.
  void (*bits_below)(std::uint8_t* bits, const std::uint32_t* words, std::size_t count,
                     std::uint64_t below);
};

/// For the processor at hand.
const RandomKernels& random_kernels();

}  // namespace tend::kernels
