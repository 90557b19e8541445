// Models whose weights are written by hand: the lens finds what was built in, and nothing else.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "tests/catch.h"

#include <tend/tend.h>

#include <tend/attention/lens/built.h>

using namespace tend;
using namespace tend::attention;

namespace {

constexpr std::int64_t kVocab = 11, kLength = 6;

// Patterns are one-hot or uniform in float32. Logits are sums of numbers up to 200, so logits that
// should be equal differ by a few roundings of about 1e-5.
bool same_numbers(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && allclose(a.to(float64), b.to(float64), 1e-5, 1e-4);
}

// Zeros, except for some entries.
Tensor only(const Shape& shape, const std::map<std::vector<std::int64_t>, double>& entries) {
  Tensor x = zeros(shape, float64);
  for (const auto& [place, value] : entries) {
    Tensor one = x;
    for (const std::int64_t i : place) one = one.select(0, i);
    one.fill_(value);
  }
  return x;
}

// A sequence of different tokens, twice: (1, 2 length).
Tensor repeated_tokens(std::int64_t length) {
  const Tensor once = randperm(kVocab).narrow(0, 0, length).unsqueeze(0);
  return cat({once, once}, 1);
}

std::int64_t previous(std::int64_t query, std::int64_t key) {
  return key == query - 1 ? 1 : 0;
}

using Program = std::function<TokenSequence(TokenSequence)>;

// Compares a model's answers to random sequences with `wanted`. Reads the answers from one run at
// the last positions, and from the tokens that generate() appends.
void check_program(GPT (*make_model)(std::int64_t vocab_size, std::int64_t length),
                   const Program& wanted) {
  const NoGradGuard no_graph;
  for (const std::int64_t length : {1, 2, 6, 9}) {
    const GPT model = make_model(kVocab, length);
    const std::int64_t separators = model.config.context_length - length;
    for (std::int64_t i = 0; i < kVocab - 1; ++i) {
      const Tensor sequence = randint(0, 1 + i, {1, length});  // in the first one, all tokens are 0
      const Tensor tokens = cat({sequence, full({1, separators}, kVocab - 1)}, 1);
      const TokenSequence result = wanted(sequence.squeeze(0).to_vector<std::int64_t>());
      const Tensor answers = model(tokens).narrow(1, separators, length);
      CHECK(same_numbers(answers, one_hot(tensor(result), kVocab).unsqueeze(0) * 100));

      const auto prompt = tokens.narrow(1, 0, separators + 1).squeeze(0).to_vector<std::int64_t>();
      const TokenSequence text = generate(model, prompt, {.max_new_tokens = length});
      CHECK(TokenSequence(text.end() - length, text.end()) == result);
    }
  }
}

}  // namespace

TEST_CASE("an induction model predicts the next token of a repeated sequence") {
  manual_seed(1);
  const GPT model = lens::induction_model(kVocab, 2 * kLength);
  const NoGradGuard no_graph;
  for (int i = 0; i < 20; ++i) {
    const Tensor tokens = repeated_tokens(kLength);
    const Tensor next = softmax(model(tokens), -1).narrow(1, kLength, kLength - 1);
    CHECK(same_numbers(next, one_hot(tokens.narrow(1, 1, kLength - 1), kVocab)));
  }
}

TEST_CASE("an induction model averages over the tokens that followed the query's token") {
  manual_seed(2);
  const GPT model = lens::induction_model(kVocab, 2 * kLength);
  const NoGradGuard no_graph;
  for (int repeat = 0; repeat < 20; ++repeat) {
    const Tensor tokens = randint(0, 4, {1, 2 * kLength});
    const auto x = tokens.squeeze(0).to_vector<std::int64_t>();
    Tensor wanted = zeros({1, 2 * kLength, kVocab});
    for (std::size_t i = 0; i < x.size(); ++i) {
      std::vector<std::int64_t> followed;
      for (std::size_t j = 1; j <= i; ++j) {
        if (x[j - 1] == x[i]) followed.push_back(x[j]);
      }
      // If the token did not occur before, the average is over all tokens except the first.
      const auto end = x.begin() + static_cast<std::ptrdiff_t>(i) + 1;
      if (followed.empty()) followed.assign(x.begin() + (i > 0 ? 1 : 0), end);
      wanted.select(1, static_cast<std::int64_t>(i))
          .copy_(one_hot(tensor(followed), kVocab).to(float32).mean({0}) * 100);
    }
    CHECK(same_numbers(model(tokens), wanted));
  }
}

TEST_CASE("a reverse model reverses the sequence") {
  manual_seed(3);
  check_program(lens::reverse_model, [](TokenSequence x) {
    std::reverse(x.begin(), x.end());
    return x;
  });
}

TEST_CASE("a histogram model counts each token of the sequence") {
  manual_seed(4);
  check_program(lens::histogram_model, [](TokenSequence x) {
    TokenSequence counts;
    for (const std::int64_t each : x) counts.push_back(std::count(x.begin(), x.end(), each));
    return counts;
  });
  CHECK_THROWS_AS(lens::histogram_model(6, 6), ShapeError);
}

TEST_CASE("a sort model sorts sequences with repeated tokens") {
  manual_seed(5);
  check_program(lens::sort_model, [](TokenSequence x) {
    std::sort(x.begin(), x.end());
    return x;
  });
}

TEST_CASE("each head score finds the head that was built for it") {
  manual_seed(7);
  lens::ModelBuilder builder({.vocab_size = kVocab, .context_length = 2 * kLength});
  const lens::Subspace tokens = builder.tokens(), positions = builder.positions();
  const lens::Subspace before = builder.add(kVocab), unread = builder.add(kVocab);
  const auto same = [](auto query, auto key) { return key == query ? 1 : 0; };
  const auto not_itself = [](auto query, auto key) { return key == query ? -2 : 0; };
  const auto first = [](auto, auto key) { return key == 0 ? 1 : 0; };
  const auto not_first = [](auto, auto key) { return key == 0 ? -1 : 0; };
  builder.attend({0, 1, {{positions, positions, previous}}, tokens, before});
  builder.attend(
      {0, 3, {{tokens, tokens, same}, {positions, positions, not_itself}}, tokens, unread});
  builder.attend({1, 0, {{positions, positions, first}}, tokens, unread});
  builder.attend(
      {1, 2, {{tokens, before, same}, {positions, positions, not_first}}, tokens, unread});
  const GPT model = builder.build();
  const NoGradGuard no_graph;
  const Tensor input = repeated_tokens(kLength);
  const auto cache = lens::run_with_cache(model, input).cache;
  const auto check_score = [&](lens::Head wanted, const auto& score) {
    for (std::int64_t layer = 0; layer < 2; ++layer) {
      const Tensor scores = score(cache["blocks." + std::to_string(layer) + ".attn.hook_pattern"]);
      REQUIRE(scores.shape() == Shape{4});
      for (std::int64_t head = 0; head < 4; ++head) {
        CAPTURE(layer, head);
        const auto reached = scores.select(0, head).item<double>();
        // The scores of the other heads are small, but not 0: in the first half of the sequence,
        // their patterns are uniform.
        if (layer == wanted.layer && head == wanted.head) {
          CHECK(reached == Approx(1));
        } else {
          CHECK(reached < 0.5);
        }
      }
    }
  };
  check_score({0, 1}, [](const Tensor& p) { return lens::previous_token_score(p); });
  check_score({0, 3}, [&](const Tensor& p) { return lens::duplicate_token_score(p, input); });
  check_score({1, 0}, [](const Tensor& p) { return lens::first_token_score(p); });
  check_score({1, 2}, [&](const Tensor& p) { return lens::induction_score(p, input); });

  const Tensor entropy = lens::attention_entropy(cache["blocks.0.attn.hook_pattern"]);
  const Tensor uniform = log(arange(1, 2 * kLength + 1).to(float32)).mean();
  CHECK(same_numbers(entropy.narrow(0, 0, 2), stack({uniform, zeros({})})));
}

TEST_CASE("QK and OV circuits are the matrices that were built in") {
  lens::ModelBuilder builder({.vocab_size = 3, .context_length = 4, .sharpness = 5});
  const lens::Subspace tokens = builder.tokens(), positions = builder.positions();
  const lens::Subspace copy = builder.add(3);
  const auto score = [](auto query, auto key) { return static_cast<double>(10 * query + key); };
  builder.attend({0, 1, {{tokens, copy, score}, {positions, tokens, previous}}, tokens, copy});
  const GPT model = builder.build();
  CHECK(model.config.head_dim == 16);  // seven directions of queries, rounded up to a power of four
  std::map<std::vector<std::int64_t>, double> scores, copied;
  for (std::int64_t i = 0; i < 3; ++i) {
    // The scores of head 1, multiplied by the sharpness (5) and the root of head_dim (16). Tokens
    // begin at direction 0, positions at 3, and copies at 7.
    for (std::int64_t j = 0; j < 3; ++j)
      scores[{1, i, 7 + j}] = 5 * 4 * static_cast<double>(10 * i + j);
    scores[{1, 4 + i, i}] = 5 * 4;
    copied[{1, i, 7 + i}] = 1;
  }
  CHECK(equal(lens::QK(model, 0).to(float64), only({2, 10, 10}, scores)));
  CHECK(equal(lens::OV(model, 0).to(float64), only({2, 10, 10}, copied)));
}

TEST_CASE("composition scores are above 0 exactly where a head reads what another wrote") {
  const GPT induction = lens::induction_model(kVocab, 2 * kLength);
  // The score is |A B| / (|A| |B|). A is the identity of 11 tokens. B is the same identity, with
  // another row of 12 elements for the positions.
  CHECK(same_numbers(lens::composition_scores(induction, "K"),
                     only({2, 2, 2, 2}, {{{0, 1, 1, 0}, 1 / std::sqrt(11. + 12)}})));
  CHECK(same_numbers(lens::composition_scores(induction, "Q"), only({2, 2, 2, 2}, {})));
  CHECK(same_numbers(lens::composition_scores(induction, "V"), only({2, 2, 2, 2}, {})));

  const GPT sort = lens::sort_model(kVocab, kLength);
  // Layer 1 compares the copied token with others, and layer 2 copies it. The squared norm of layer
  // 1's scores is 55 for pairs of a token and a smaller one, plus 18 x (6 + 4) for positions.
  CHECK(same_numbers(lens::composition_scores(sort, "Q"),
                     only({3, 1, 3, 1}, {{{0, 0, 1, 0}, std::sqrt(55 / (11 * (55. + 180)))}})));
  CHECK(same_numbers(lens::composition_scores(sort, "V"),
                     only({3, 1, 3, 1}, {{{0, 0, 2, 0}, 1 / std::sqrt(11.)}})));
  CHECK(same_numbers(lens::composition_scores(sort, "K"), only({3, 1, 3, 1}, {})));
}

TEST_CASE("logit attribution credits only the part that writes the answer") {
  manual_seed(8);
  const NoGradGuard no_graph;
  const auto check_parts = [](const GPT& model, const Tensor& tokens, const Tensor& answers,
                              const std::string& label) {
    const auto cache = lens::run_with_cache(model, tokens).cache;
    const auto begin = tokens.size(1) - answers.size(1);
    const Tensor targets = cat({zeros({1, begin}, int64), answers}, 1);
    for (const auto& parts :
         {lens::parts_by_head(model, cache), lens::parts_by_layer(model, cache)}) {
      const Tensor credits =
          lens::logit_attribution(model, cache, parts, targets).narrow(2, begin, answers.size(1));
      for (std::size_t i = 0; i < parts.labels.size(); ++i) {
        CAPTURE(parts.labels[i]);
        const bool is_writer = label.find(parts.labels[i]) != std::string::npos;
        CHECK(same_numbers(credits.select(0, static_cast<std::int64_t>(i)),
                           full(answers.shape(), is_writer ? 100. : 0.)));
      }
    }
  };
  const Tensor tokens = repeated_tokens(kLength);
  check_parts(lens::induction_model(kVocab, 2 * kLength), tokens.narrow(1, 0, 2 * kLength - 1),
              tokens.narrow(1, 1, kLength - 1), "L1H0 1_attn_out");
  check_parts(lens::histogram_model(kVocab, kLength),
              tensor({{5, 0, 5, 7, 0, 5, 10, 10, 10, 10, 10, 10}}), tensor({{3, 2, 3, 1, 2, 3}}),
              "1_mlp_out");
}

TEST_CASE("the logit lens reads the answer after the layer that computes it, and zeros before") {
  manual_seed(9);
  const NoGradGuard no_graph;
  for (const GPT& model : {lens::induction_model(kVocab, 18), lens::reverse_model(kVocab, 9),
                           lens::histogram_model(kVocab, 9), lens::sort_model(kVocab, kLength)}) {
    const auto [logits, cache] = lens::run_with_cache(model, randint(0, kVocab, {2, 18}));
    const Tensor all = lens::logit_lens(model, cache);
    const std::int64_t layers = model.config.num_layers;
    CHECK(all.narrow(0, 0, layers).count_nonzero().item<std::int64_t>() == 0);
    CHECK(logits.count_nonzero().item<std::int64_t>() > 0);
    CHECK(same_numbers(all.select(0, layers), logits));
  }
}

TEST_CASE("the Jacobian lens follows a token through two heads") {
  manual_seed(10);
  lens::ModelBuilder builder({.vocab_size = kVocab, .context_length = kLength});
  const lens::Subspace positions = builder.positions(), before = builder.add(kVocab);
  const lens::Subspace answer = builder.add(kVocab);
  builder.attend({0, 0, {{positions, positions, previous}}, builder.tokens(), before});
  builder.attend({1, 0, {{positions, positions, previous}}, before, answer});
  builder.predict(answer);
  const GPT model = builder.build();
  const Tensor tokens = randint(0, kVocab, {2, kLength});
  const Tensor jacobians = lens::residual_jacobians(model, tokens);
  // The patterns are one-hot, so their derivative is 0, and each query gives one key the weight 1.
  // So each layer turns a row x of the stream into x (I + OV).
  const NoGradGuard no_graph;
  const Tensor same = eye(model.config.width), first = lens::OV(model, 0).select(0, 0),
               second = lens::OV(model, 1).select(0, 0);
  CHECK(same_numbers(jacobians.select(0, 2), same));
  CHECK(same_numbers(jacobians.select(0, 1), (same + second).t()));
  CHECK(same_numbers(jacobians.select(0, 0), matmul(same + first, same + second).t()));

  // The lens reads each token as the answer that the model gives two positions later.
  const auto [logits, cache] = lens::run_with_cache(model, tokens);
  const Tensor read = lens::jacobian_lens(model, cache, jacobians).select(0, 0);
  CHECK(equal(argmax(read, -1), tokens));
  CHECK(equal(argmax(logits, -1).narrow(1, 2, kLength - 2), tokens.narrow(1, 0, kLength - 2)));
}

namespace {

// Two sequences that end with token 0. In `tokens`, 3 follows 0 and 1 follows 2. In `others`, 1
// follows 0 and 3 follows 2.
struct SwappedPairs {
  GPT model;
  Tensor tokens = tensor({{7, 8, 2, 1, 9, 0, 3, 10, 0}});
  Tensor others = tensor({{7, 8, 0, 1, 9, 2, 3, 10, 0}});
  lens::ActivationCache cache;

  explicit SwappedPairs(double sharpness = 100)
      : model(lens::induction_model(kVocab, 9, sharpness)) {
    const NoGradGuard no_graph;
    cache = lens::run_with_cache(model, others).cache;
  }
};

// The logit of 1, which is the answer to `others`, minus the logit of 3, the answer to `tokens`.
Tensor for_others(const Tensor& logits) {
  const Tensor last = logits.select(1, -1).select(0, 0);
  return last.select(0, 1) - last.select(0, 3);
}

}  // namespace

TEST_CASE("ablation changes the answer only for heads of the circuit") {
  const SwappedPairs pair;
  const NoGradGuard no_graph;
  for (std::int64_t layer = 0; layer < 2; ++layer) {
    for (std::int64_t head = 0; head < 2; ++head) {
      const std::string name = "blocks." + std::to_string(layer) + ".attn.hook_z";
      const Tensor without = lens::run_with_hooks(pair.model, pair.tokens,
                                                  {lens::replace_heads(name, {head}, zeros({1}))});
      const bool is_built = head == 1 - layer;
      // Without the head of layer 0, the answer is the average of all tokens. Without the head of
      // layer 1, there is no answer.
      CHECK(for_others(without).item<double>() == Approx(is_built ? 0 : -100).margin(1e-4));
    }
  }
}

TEST_CASE("patching changes the answer only at the heads and positions of the circuit") {
  const SwappedPairs pair;
  const NoGradGuard no_graph;
  CHECK(for_others(pair.model(pair.tokens)).item<double>() == Approx(-100));
  CHECK(for_others(pair.model(pair.others)).item<double>() == Approx(100));
  const auto change_of = [&](const auto& patch, const char* name) {
    return patch(pair.model, pair.tokens, pair.cache, for_others, name) + 100;
  };
  // Patching a head of the circuit at all positions gives the other answer.
  CHECK(same_numbers(change_of(lens::patch_by_head, "hook_z"),
                     only({2, 2}, {{{0, 1}, 200}, {{1, 0}, 200}})));
  CHECK(same_numbers(change_of(lens::patch_by_head, "hook_q"), only({2, 2}, {})));

  // Position 3 has token 1, and position 6 has token 3. A patch at one of these positions replaces
  // its previous token. Then 1 and 3 both follow a 0, or neither does, so their logits are equal.
  const auto& by_both = lens::patch_by_head_and_position;
  CHECK(same_numbers(change_of(by_both, "hook_z"),
                     only({2, 2, 9}, {{{0, 1, 3}, 100}, {{0, 1, 6}, 100}, {{1, 0, 8}, 200}})));
  CHECK(same_numbers(change_of(by_both, "hook_v"),
                     only({2, 2, 9}, {{{0, 1, 2}, 100}, {{0, 1, 5}, 100}})));
  CHECK(same_numbers(change_of(by_both, "hook_k"),
                     only({2, 2, 9}, {{{1, 0, 3}, 100}, {{1, 0, 6}, 100}})));
  CHECK(same_numbers(change_of(by_both, "hook_q"), only({2, 2, 9}, {})));

  // The tokens differ at positions 2 and 5. Layer 0 copies them to positions 3 and 6, and layer 1
  // reads the copies at the last position.
  const auto& by_position = lens::patch_by_position;
  CHECK(same_numbers(change_of(by_position, "hook_resid_pre"),
                     only({2, 9}, {{{0, 2}, 100}, {{0, 5}, 100}, {{1, 3}, 100}, {{1, 6}, 100}})));
  CHECK(same_numbers(change_of(by_position, "hook_attn_out"),
                     only({2, 9}, {{{0, 3}, 100}, {{0, 6}, 100}, {{1, 8}, 200}})));
}

TEST_CASE("the path goes from the previous token head through the keys of the induction head") {
  const SwappedPairs pair;
  const auto path = [&](lens::Head sender, const std::vector<lens::Head>& receivers,
                        const char* name) {
    return lens::patch_path(pair.model, pair.tokens, pair.cache, for_others, sender, receivers,
                            name)
        .item<double>();
  };
  CHECK(path({0, 1}, {{1, 0}}, "hook_k") == Approx(100));
  CHECK(path({0, 1}, {{1, 0}}, "hook_q") == Approx(-100));
  CHECK(path({0, 1}, {{1, 0}}, "hook_v") == Approx(-100));
  CHECK(path({0, 1}, {{1, 1}}, "hook_k") == Approx(-100));
  CHECK(path({0, 0}, {{1, 0}}, "hook_k") == Approx(-100));
  // Without receivers, the path leads directly to the logits.
  CHECK(path({0, 1}, {}, "hook_q") == Approx(-100));
  CHECK(path({1, 0}, {}, "hook_q") == Approx(100));
}

TEST_CASE("attributions are exact after attention patterns and zero before one-hot patterns") {
  const SwappedPairs pair;
  const auto estimate = [](const SwappedPairs& of) {
    return lens::attribute_by_head_and_position(of.model, of.tokens, of.cache, for_others);
  };
  // Patching also finds head 1 of layer 0, but here a one-hot pattern makes its gradient 0.
  CHECK(same_numbers(estimate(pair), only({2, 2, 9}, {{{1, 0, 8}, 200}})));

  // With a sharpness of 2, patterns are soft. The estimates are of first order, so only their
  // positions and signs are compared. Effects are at least 6e-3, and roundings about 1e-6.
  const SwappedPairs soft(2);
  const Tensor estimates = estimate(soft);
  const NoGradGuard no_graph;
  const double usual = for_others(soft.model(soft.tokens)).item<double>();
  const Tensor changes =
      lens::patch_by_head_and_position(soft.model, soft.tokens, soft.cache, for_others) - usual;
  CHECK(equal(estimates > 1e-3, changes > 1e-3));
  CHECK(equal(estimates < -1e-3, changes < -1e-3));
  CHECK(estimates.select(0, 0).select(0, 1).argmax().item<std::int64_t>() == 6);
  CHECK(same_numbers(estimates.select(0, 1), changes.select(0, 1)));
}

TEST_CASE("a builder refuses invalid heads and tables and answers") {
  lens::ModelBuilder builder({.vocab_size = 3, .context_length = 4});
  const lens::Subspace tokens = builder.tokens(), positions = builder.positions();
  const lens::Subspace number = builder.add(1), three = builder.add(3);
  CHECK_THROWS_AS(builder.attend({.value = positions, .output = three}), ShapeError);
  CHECK_THROWS_AS(builder.attend({.layer = -1, .value = tokens, .output = three}), IndexError);
  builder.attend({.value = tokens, .output = three});
  CHECK_THROWS_AS(builder.attend({.value = tokens, .output = three}), Error);
  CHECK_THROWS_AS(builder.table({0, three, {3, 2, 1}, three}), ShapeError);
  CHECK_THROWS_AS(builder.table({0, number, {2, 1}, three}), ShapeError);
  CHECK_THROWS_AS(builder.table({-1, number, {3, 2, 1}, three}), IndexError);
  CHECK_THROWS_AS(builder.table({0, number, {3, 1, 2}, three}), Error);
  CHECK_THROWS_AS(builder.table({0, number, {3, 2, 0}, three}), Error);
  CHECK_THROWS_AS(builder.predict(positions), ShapeError);
}
