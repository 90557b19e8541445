#include <tend/core/random/distributions.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string_view>
#include <utility>

#include <tend/core/memory/scratch.h>
#include <tend/core/random/normal.h>
#include <tend/core/random/random_words.h>
#include <tend/core/threads/parallel.h>

namespace tend::kernels {

Shape memory_order(const Array& a) {
  Shape dims;
  for (std::int64_t d = 0; d < a.rank(); ++d) dims.push_back(d);
  std::stable_sort(dims.begin(), dims.end(),
                   [&](auto d, auto e) { return a.strides()[d] > a.strides()[e]; });
  return dims;
}

namespace {

Array in_memory_order(const Array& a) {
  return a.permute(memory_order(a));
}

void check_output(std::string_view operation, const Array& out) {
  if (out.may_self_overlap()) {
    fail<ShapeError>(operation, "two indices of the output, shape ", out.shape(), " strides ",
                     out.strides(), ", refer to the same element");
  }
}

void check_probability(std::string_view operation, double p) {
  if (!(p >= 0.0 && p <= 1.0)) fail(operation, "the probability is ", p, ", not in [0, 1]");
}

// Calls fill(first, count) for the elements of `out` in row-major order. If `out` is not
// contiguous, it fills a buffer and copies it.
template <class T, class F>
void fill_in_order(const Array& out, F fill) {
  if (out.numel() == 0) return;
  const bool dense = out.is_contiguous();
  const Array target = dense ? out : Array::empty(out.shape(), out.dtype());
  fill(target.data<T>(), target.numel());
  if (!dense) out.copy_from(target);
}

// Divides `total` elements into consecutive pieces and calls f(words, begin, count) for each. Every
// element has `words_per_element` random words.
template <std::size_t words_per_element, class F>
void for_words(Generator& generator, std::int64_t total, F f) {
  constexpr std::int64_t kPiece = 2048;  // its words fit the L1 cache
  std::uint32_t words[kPiece * words_per_element];
  for (std::int64_t begin = 0; begin < total; begin += kPiece) {
    const std::int64_t count = std::min(kPiece, total - begin);
    generator.u32(std::span(words, static_cast<std::size_t>(count) * words_per_element));
    f(words, begin, count);
  }
}

// Fills `out` with uniform numbers in [0, 1). A float uses 24 bits of one word, a double 53 bits of
// two words.
template <class T>
void standard_uniform(T* out, std::int64_t total, Generator& generator) {
  for_words<sizeof(T) / 4>(generator, total, [&](const auto* words, auto begin, auto count) {
    random_kernels().uniform.of<T>()(out + begin, words, static_cast<std::size_t>(count));
  });
}

template <class T>
void normal_blocks(T* out, std::int64_t total, T mean, T std, Generator& generator) {
  constexpr std::int64_t kBlock = 16;
  constexpr std::int64_t kBlockGrain = 128;
  standard_uniform(out, total, generator);
  parallel_for(0, total / kBlock, kBlockGrain, [&](std::int64_t begin, std::int64_t end) {
    normal_from_uniform(out + begin * kBlock, end - begin, mean, std);
  });
  if (total % kBlock != 0) {
    T* last = out + total - kBlock;
    standard_uniform(last, kBlock, generator);
    normal_from_uniform(last, 1, mean, std);
  }
}

// Sets bit i of `bits` to 1 if u53 * 2^-53 < p, where u53 is 53 random bits. The comparison uses
// integers. The bits are arranged as in draw_keep_bits.
void standard_bernoulli(std::uint8_t* bits, std::int64_t total, double p, Generator& generator) {
  const auto below = static_cast<std::uint64_t>(std::ceil(p * 0x1p53));
  for_words<2>(generator, total, [&](const auto* words, auto begin, auto count) {
    random_kernels().bits_below(bits + begin / 8, words, static_cast<std::size_t>(count), below);
  });
}

// MKL's generator MCG31m1, seeded with one word.
void mkl_bernoulli(std::uint8_t* bits, std::int64_t total, double p, Generator& generator) {
  constexpr std::uint64_t kModulus = (std::uint64_t{1} << 31) - 1;
  constexpr std::uint64_t kMultiplier = 1132489760;
  std::uint64_t x = generator.u32() % kModulus;
  if (x == 0) x = 1;
  std::fill_n(bits, (total + 7) / 8, std::uint8_t{0});
  for (std::int64_t i = 0; i < total; ++i) {
    const bool kept = static_cast<double>(x) / static_cast<double>(kModulus) < p;
    bits[i / 8] = static_cast<std::uint8_t>(bits[i / 8] | unsigned{kept} << (i % 8));
    x = kMultiplier * x % kModulus;
  }
}

void bernoulli_bits(std::uint8_t* bits, std::int64_t total, double p, Generator& generator) {
  if (total == 0) return;
  const bool mkl = generator.bernoulli_stream() == BernoulliStream::mkl;
  (mkl ? mkl_bernoulli : standard_bernoulli)(bits, total, p, generator);
}

// Unpacks eight bits at once. Byte k of `spread` contains only bit k. The sum moves this bit to the
// top of byte k by a carry.
void unpack_bits(bool* out, const std::uint8_t* bits, std::int64_t total) {
  std::int64_t i = 0;
  for (; i + 8 <= total; i += 8) {
    const std::uint64_t spread = bits[i / 8] * 0x0101010101010101u & 0x8040201008040201u;
    const std::uint64_t truths = (spread + 0x00406070787c7e7fu) >> 7 & 0x0101010101010101u;
    std::memcpy(out + i, &truths, 8);
  }
  for (; i < total; ++i) out[i] = (bits[i / 8] >> (i % 8) & 1) != 0;
}

// Fills `out`, of any dtype, with Bernoulli numbers in row-major order.
void fill_bernoulli(const Array& out, double p, Generator& generator) {
  const bool direct = out.dtype() == boolean;
  const Array kept = direct ? out : Array::empty(out.shape(), boolean);
  fill_in_order<bool>(kept, [&](bool* first, std::int64_t total) {
    Scratch<std::uint8_t> bits = scratch<std::uint8_t>("bernoulli", (total + 7) / 8);
    bernoulli_bits(bits.data(), total, p, generator);
    unpack_bits(first, bits.data(), total);
  });
  if (!direct) out.copy_from(kept);
}

// The dtype can represent every whole number from 0 up to this limit, which is excluded.
std::int64_t exact_limit(DType dtype) {
  switch (dtype) {
    case DType::boolean: return 2;
    case DType::float32: return std::int64_t{1} << 24;
    case DType::float64: return std::int64_t{1} << 53;
    case DType::int64: break;
  }
  return std::numeric_limits<std::int64_t>::max();
}

template <class T>
void fill_exponential(T* out, std::int64_t total, double lambda, Generator& generator) {
  for (std::int64_t i = 0; i < total; ++i) {
    out[i] = static_cast<T>(-1.0 / lambda * std::log1p(-generator.uniform()));
  }
}

}  // namespace

void uniform(const Array& out, double low, double high, Generator& generator) {
  visit_floating("uniform", out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    check_output("uniform", out);
    constexpr double kMax = std::numeric_limits<T>::max();
    if (!(low <= high && std::abs(low) <= kMax && std::abs(high) <= kMax && high - low <= kMax)) {
      fail("uniform", "needs low <= high, and a range that ", out.dtype(), " can represent, got ",
           low, " and ", high);
    }
    const GeneratorLock lock(generator);
    const T start = static_cast<T>(low);
    const T width = static_cast<T>(high) - start;
    fill_in_order<T>(in_memory_order(out), [&](T* first, std::int64_t total) {
      standard_uniform(first, total, generator);
      if (start == T(0) && width == T(1)) return;
      for (std::int64_t i = 0; i < total; ++i) first[i] = std::fma(first[i], width, start);
    });
  });
}

void normal(const Array& out, double mean, double std, Generator& generator) {
  visit_floating("normal", out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    check_output("normal", out);
    if (!(std >= 0.0)) fail("normal", "the standard deviation is ", std, ", not >= 0");
    const GeneratorLock lock(generator);
    if (out.numel() >= 16 && out.is_contiguous()) {
      normal_blocks(out.data<T>(), out.numel(), static_cast<T>(mean), static_cast<T>(std),
                    generator);
      return;
    }
    fill_in_order<T>(in_memory_order(out), [&](T* first, std::int64_t total) {
      for (std::int64_t i = 0; i < total; ++i) {
        first[i] = static_cast<T>(std::fma(generator.normal(), std, mean));
      }
    });
  });
}

void randint(const Array& out, std::int64_t low, std::int64_t high, Generator& generator) {
  check_output("randint", out);
  if (low >= high) fail("randint", "low ", low, " is not less than high ", high);
  const std::int64_t limit = exact_limit(out.dtype());
  const bool below = out.dtype() == boolean ? low < 0 : out.dtype() != int64 && low < -limit;
  if (below || high > limit) {
    fail("randint", out.dtype(), " does not hold every number from ", low, " to ", high,
         " exactly");
  }
  const GeneratorLock lock(generator);
  const std::uint64_t start = static_cast<std::uint64_t>(low);
  const std::uint64_t range = static_cast<std::uint64_t>(high) - start;
  const bool wide = range >= std::uint64_t{1} << 32;
  visit_dtype(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    fill_in_order<T>(in_memory_order(out), [&](T* first, std::int64_t total) {
      for (std::int64_t i = 0; i < total; ++i) {
        const std::uint64_t draw = wide ? generator.u64() : generator.u32();
        first[i] = convert<T>(static_cast<std::int64_t>(draw % range + start));
      }
    });
  });
}

void randperm(const Array& out, Generator& generator) {
  check_output("randperm", out);
  if (out.dtype() != int64 || out.rank() != 1) {
    fail<ShapeError>("randperm", "needs an int64 array of shape (n,), got ", out.dtype(), ' ',
                     out.shape());
  }
  const GeneratorLock lock(generator);
  fill_in_order<std::int64_t>(out, [&](std::int64_t* first, std::int64_t total) {
    std::iota(first, first + total, std::int64_t{0});
    // The remainder of 32 bits is close to uniform as long as `total` is much smaller than 2^32.
    const bool narrow = total < std::numeric_limits<std::uint32_t>::max() / 20;
    for (std::int64_t i = 0; i + 1 < total; ++i) {
      const std::uint64_t draw = narrow ? generator.u32() : generator.u64();
      std::swap(first[i],
                first[i + static_cast<std::int64_t>(draw % static_cast<std::uint64_t>(total - i))]);
    }
  });
}

void bernoulli(const Array& out, double p, Generator& generator) {
  check_output("bernoulli", out);
  check_probability("bernoulli", p);
  const GeneratorLock lock(generator);
  // MKL's stream fills the elements in row-major order, for any strides.
  const bool mkl = generator.bernoulli_stream() == BernoulliStream::mkl;
  fill_bernoulli(mkl ? out : in_memory_order(out), p, generator);
}

void bernoulli(const Array& out, const Array& p, Generator& generator) {
  visit_floating("bernoulli", p.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    check_output("bernoulli", out);
    if (!broadcasts_to(p.shape(), out.shape())) {
      fail<ShapeError>("bernoulli", "probabilities ", p.shape(), " do not broadcast to ",
                       out.shape());
    }
    // The probabilities and the random numbers are both in the order of the output's memory.
    const Shape dims = memory_order(out);
    const Array probabilities = p.expand(out.shape()).permute(dims).contiguous();
    const T* p_first = probabilities.data<T>();
    for (std::int64_t i = 0; i < out.numel(); ++i) {
      check_probability("bernoulli", static_cast<double>(p_first[i]));
    }
    const GeneratorLock lock(generator);
    const Array kept = Array::empty(probabilities.shape(), boolean);
    Scratch<T> numbers = scratch<T>("bernoulli", out.numel());
    standard_uniform(numbers.data(), out.numel(), generator);
    for (std::int64_t i = 0; i < out.numel(); ++i) {
      kept.data<bool>()[i] = numbers[static_cast<std::size_t>(i)] < p_first[i];
    }
    out.permute(dims).copy_from(kept);
  });
}

void draw_keep_mask(const Array& out, double keep_probability, Generator& generator) {
  check_output("dropout", out);
  check_probability("dropout", keep_probability);
  if (out.dtype() != boolean) {
    fail<DTypeError>("dropout", "the mask must be a bool array, got ", out.dtype());
  }
  if (keep_probability == 0.0 || keep_probability == 1.0) {
    out.fill(keep_probability == 1.0);
    return;
  }
  const GeneratorLock lock(generator);
  fill_bernoulli(out, keep_probability, generator);
}

void draw_keep_bits(std::uint8_t* bits, std::int64_t count, double keep_probability,
                    Generator& generator) {
  check_probability("dropout", keep_probability);
  if (keep_probability == 0.0 || keep_probability == 1.0) {
    std::fill_n(bits, (count + 7) / 8, static_cast<std::uint8_t>(keep_probability * 255));
    if (count % 8 != 0) bits[count / 8] &= static_cast<std::uint8_t>((1 << count % 8) - 1);
    return;
  }
  const GeneratorLock lock(generator);
  bernoulli_bits(bits, count, keep_probability, generator);
}

void exponential(const Array& out, double lambda, Generator& generator) {
  visit_floating("exponential", out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    check_output("exponential", out);
    if (!(lambda > 0.0)) fail("exponential", "the rate is ", lambda, ", not > 0");
    const GeneratorLock lock(generator);
    fill_in_order<T>(in_memory_order(out), [&](T* first, std::int64_t total) {
      fill_exponential(first, total, lambda, generator);
    });
  });
}

}  // namespace tend::kernels
