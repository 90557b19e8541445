// MicroAdder, a transformer of 57 parameters that adds two numbers of ten digits, and its training
// data. A. Zarechnev, https://github.com/evindor/MicroAdder (MIT), written from the paper.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

#include <tend/tend.h>

#include "examples/lab/python_random.h"

namespace lab {

using tend::Tensor;

/// Two numbers to add.
using Pair = std::pair<std::int64_t, std::int64_t>;

// A text is two numbers and their sum, each with its lowest digit first and followed by a 0. The
// model reads all tokens except the last one, and predicts the tokens after the second number.
constexpr std::int64_t kDigits = 10, kAnswer = 11, kPrompt = 22, kRead = 33, kPredicted = 12;

/// The tokens of the texts, (text, kRead + 1).
inline Tensor tokens_of(const std::vector<Pair>& pairs) {
  std::vector<std::int64_t> tokens;
  const auto add = [&](std::int64_t number, std::int64_t digits) {
    for (; digits > 0; --digits, number /= 10) tokens.push_back(number % 10);
    tokens.push_back(0);
  };
  for (const auto& [a, b] : pairs) {
    add(a, kDigits);
    add(b, kDigits);
    add(a + b, kAnswer);
  }
  return tend::tensor(tokens).view({-1, kRead + 1});
}

inline std::int64_t power_of_ten(std::int64_t exponent) {
  return exponent == 0 ? 1 : 10 * power_of_ten(exponent - 1);
}

/// Numbers of up to `most` digits whose sum has a carry, or a chain of carries.
inline Pair draw_carry(PythonRandom& random, std::int64_t most) {
  const auto digits = random.randint(1, most), kind = random.randint(0, 3);
  const auto digit_at_random_place = [&](std::int64_t low) {
    const std::int64_t place = random.randint(0, digits - 1);
    return random.randint(low, 9) * power_of_ten(place);
  };
  if (kind == 0) {  // a carry from one digit
    const std::int64_t place = random.randint(0, digits - 1);
    Pair pair(random.randint(5, 9) * power_of_ten(place), 0);
    pair.second = random.randint(5, 9) * power_of_ten(place);
    for (std::int64_t i = 0; i < digits; ++i) {
      if (i == place) continue;
      pair.first += random.randint(0, 4) * power_of_ten(i);
      pair.second += random.randint(0, 4) * power_of_ten(i);
    }
    return pair;
  }
  if (kind == 1)  // the first number consists of nines
    return {power_of_ten(digits) - 1,
            random.randint(1, power_of_ten(std::min<std::int64_t>(digits, 3)))};
  if (kind == 2) {  // the second number has one digit that is not 0
    const auto first = random.randint(power_of_ten(digits - 1), power_of_ten(digits) - 1);
    return {first, digit_at_random_place(1)};
  }
  // The first number is just below a power of ten.
  const std::int64_t power = power_of_ten(random.randint(1, most));
  const std::int64_t first = power - random.randint(1, 10);
  return {first, random.randint(1, 20)};
}

/// Random pairs of numbers of up to `most` digits. The share `carry_share` of the pairs is chosen
/// so that their sums have carries.
inline std::vector<Pair> draw_pairs(PythonRandom& random, std::int64_t most, double carry_share,
                                    int count) {
  std::vector<Pair> pairs;
  for (int i = 0; i < count; ++i) {
    if (carry_share > 0 && random.random() < carry_share) {
      pairs.push_back(draw_carry(random, most));
    } else {
      const std::int64_t first = random.randint(0, power_of_ten(most) - 1);
      pairs.emplace_back(first, random.randint(0, power_of_ten(most) - 1));
    }
  }
  return pairs;
}

/// A transformer of width 5: 2 for the digit and 3 for its position. Attention compares positions
/// and reads digits. For the same seed, the initial weights equal PyTorch's.
struct MicroAdder : tend::nn::Module<MicroAdder> {
  MicroAdder()
      : arc(tend::tensor({2.5, -1.2, 0.29})),
        last_place(tend::zeros({1, 3})),
        equals_place(tend::zeros({1, 3})),
        key(3, 4, false),
        phase(tend::zeros({})),
        out_from(tend::nn::init::kaiming_uniform_(tend::zeros({5, 1}), std::sqrt(5))),
        out_to(tend::zeros({5})),
        up(5, 2, false),
        head(5, 2, false),
        norm_weight(tend::ones({5})) {
    const Tensor i = tend::arange(10, tend::float32), angle = i * (std::numbers::pi / 5);
    places = tend::stack({3.5 * angle.cos(), 3.5 * angle.sin(), 0.15 * i}, 1);
    for (const Tensor& place : {last_place, equals_place}) tend::nn::init::normal_(place, 0, 0.02);
    for (const Tensor& weight : {key.weight, up.weight, head.weight})
      tend::nn::init::xavier_uniform_(weight);
  }

  /// The logits (text, kPredicted, 10) of tokens (text, at least kRead).
  Tensor forward(const Tensor& tokens) const {
    const Tensor angle = arc[1] + tend::arange(10, places.dtype()) * arc[2];
    const Tensor digits = arc[0] * tend::stack({angle.cos(), angle.sin()}, 1);
    const Tensor zero = tend::zeros({1, 3}, places.dtype());
    const Tensor place = tend::cat({places, zero, places, equals_place, places, last_place}, 0);

    // All digits are on a circle. So the norm of a token depends only on its position, and the
    // attention pattern is the same for all texts.
    const Tensor length = arc[0].square() + place.square().sum(1, true);
    const Tensor scale = (length / 5 + 1e-5).rsqrt();
    const Tensor weights = pattern(place * scale * norm_weight.narrow(0, 2, 3));
    // The matrix after the attention has rank 1, so the value of a digit is a single number.
    const Tensor value =
        matmul(matmul(digits * norm_weight.narrow(0, 0, 2), head.weight), out_from);
    const Tensor values = embedding(tokens.narrow(1, 0, kRead), value).squeeze(2) * scale.t();
    const Tensor attended = matmul(values, weights.t()).unsqueeze(2) * out_to;

    const Tensor own = embedding(tokens.narrow(1, kPrompt - 1, kPredicted), digits);
    const Tensor own_place = place.narrow(0, kPrompt - 1, kPredicted);
    Tensor x = tend::cat({own, own_place.expand({own.size(0), kPredicted, 3})}, 2) + attended;
    x = x + matmul(gelu(up(norm(x))), head.weight);
    return matmul(head(norm(x)), digits.t());
  }

  TEND_PARAMETER(arc);  ///< The circle of digits: radius, first angle, angle between neighbours.
  TEND_PARAMETER(last_place);
  TEND_PARAMETER(equals_place);
  TEND_MODULE(tend::nn::Linear, key);
  TEND_PARAMETER(phase);
  TEND_PARAMETER(out_from);
  TEND_PARAMETER(out_to);
  TEND_MODULE(tend::nn::Linear, up);
  TEND_MODULE(tend::nn::Linear, head);
  TEND_PARAMETER(norm_weight);
  TEND_BUFFER(places);  ///< Vectors of the ten positions, (10, 3): a circle that rises.
  tend::lens::HookPoint hook_pattern{"hook_pattern"};

 private:
  Tensor norm(const Tensor& x) const { return rms_norm(x, {5}, norm_weight, 1e-5); }

  /// The attention weights, (kPredicted, kRead). A query is its token's key, rotated by the phase.
  Tensor pattern(const Tensor& places_read) const {
    const Tensor keys = key(places_read), c = phase.cos(), s = phase.sin();
    const Tensor turn = tend::stack({c, s, -s, c}).view({2, 2});
    const Tensor own = keys.narrow(0, kPrompt - 1, kPredicted).view({-1, 2, 2});
    const Tensor scores = matmul(matmul(own, turn).flatten(1), keys.t()) / 2;
    return hook_pattern(tend::attention::masked_softmax(
        scores, tend::attention::causal_mask_bottom_right(kPredicted, kRead)));
  }
};

inline Tensor loss_of(const MicroAdder& model, const Tensor& tokens) {
  const Tensor targets = tokens.narrow(1, kPrompt, kPredicted);
  return cross_entropy(model(tokens).flatten(0, 1), targets.flatten());
}

/// The number of sums that the model writes without an error. One pass is enough: the model writes
/// a sum without an error exactly if it predicts each digit from the right digits before it.
inline std::int64_t count_right(const MicroAdder& model, const Tensor& tokens) {
  const tend::NoGradGuard no_grad;
  const Tensor answer = tokens.narrow(1, kPrompt, kAnswer);
  const Tensor digits = model(tokens).narrow(1, 0, kAnswer).argmax(-1);
  return (digits == answer).all(1).sum().item<std::int64_t>();
}

/// AdderBoard's check: 10 edge cases and 10,000 random pairs.
inline std::vector<Pair> check_pairs() {
  constexpr std::int64_t kMost = 9'999'999'999;
  PythonRandom random(2025);
  std::vector<Pair> pairs = draw_pairs(random, kDigits, 0, 10'000);
  pairs.insert(pairs.begin(), {{0, 0},
                               {0, 1},
                               {kMost, 0},
                               {kMost, 1},
                               {kMost, kMost},
                               {5'000'000'000, 5'000'000'000},
                               {1'111'111'111, 8'888'888'889},
                               {1'234'567'890, 9'876'543'210},
                               {kMost, kMost},
                               {1, kMost}});
  return pairs;
}

}  // namespace lab
