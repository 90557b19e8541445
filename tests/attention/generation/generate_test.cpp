#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "tests/catch.h"

#include <tend/tend.h>

using namespace tend;
using namespace tend::attention;

namespace {

GPT small_gpt(std::int64_t vocabulary = 13, PositionKind positions = PositionKind::learned,
              std::optional<std::int64_t> window = {}) {
  GPT model({.vocab_size = vocabulary,
             .context_length = 32,
             .width = 16,
             .num_heads = 2,
             .num_layers = 2,
             .positions = positions,
             .window = window});
  model.eval();
  return model;
}

// The total log-probability of the tokens after the first `from`.
double log_probability(const GPT& model, const TokenSequence& tokens, std::size_t from) {
  const NoGradGuard no_graph;
  const Tensor logits = model(tensor(tokens).unsqueeze(0));
  const Tensor steps = log_softmax(logits.to(float64), -1);
  double sum = 0;
  for (std::size_t i = from; i < tokens.size(); ++i) {
    sum += steps[{0, static_cast<std::int64_t>(i) - 1, tokens[i]}].item();
  }
  return sum;
}

// A model whose logits are `logits` after every token.
GPT constant_model(const std::vector<double>& logits) {
  const auto count = static_cast<std::int64_t>(logits.size());
  GPT model(
      {.vocab_size = count, .context_length = 32, .width = 1, .num_heads = 1, .num_layers = 0});
  const NoGradGuard no_graph;
  model.norm.weight.fill_(0);
  model.norm.bias.fill_(1);
  model.head.weight.copy_(tensor(logits).unsqueeze(1));
  return model;
}

// A model in which token i is followed by token j with a probability proportional to shares[i][j].
GPT bigram_model(const std::vector<std::vector<double>>& shares) {
  const auto count = static_cast<std::int64_t>(shares.size());
  GPT model({.vocab_size = count,
             .context_length = 32,
             .width = count,
             .num_heads = 1,
             .num_layers = 0,
             .norm = NormKind::rms,
             .positions = PositionKind::none});
  const NoGradGuard no_graph;
  model.token_embedding.weight.copy_(eye(count));
  // The norm turns the 1 of the embedding into the square root of `count`.
  model.head.weight.copy_(log(tensor(shares)).T() / std::sqrt(static_cast<double>(count)));
  return model;
}

// The share of each token among 4,000 generated tokens.
std::map<std::int64_t, double> shares(const GPT& model, GenerateOptions options) {
  options.max_new_tokens = 1;
  options.num_samples = 4000;
  if (options.temperature == 0) options.temperature = 1;
  manual_seed(7);
  std::map<std::int64_t, double> found;
  for (const TokenSequence& each : generate(model, std::vector<TokenSequence>{{0}}, options)) {
    found[each.back()] += 1.0 / 4000;
  }
  return found;
}

std::set<std::int64_t> drawn_tokens(const GPT& model, const GenerateOptions& options) {
  std::set<std::int64_t> tokens;
  for (const auto& [token, share] : shares(model, options)) tokens.insert(token);
  return tokens;
}

}  // namespace

TEST_CASE("the likeliest tokens follow a prompt") {
  manual_seed(1);
  const GPT model = small_gpt();
  TokenSequence expected{3, 1, 4};
  for (int i = 0; i < 10; ++i) {
    const NoGradGuard no_graph;
    const Tensor logits = model(tensor(expected).unsqueeze(0));
    expected.push_back(argmax(logits[{0, -1}]).item<std::int64_t>());
  }
  CHECK(generate(model, TokenSequence{3, 1, 4}, {.max_new_tokens = 10}) == expected);
  CHECK(generate(model, TokenSequence{3, 1, 4}, {.max_new_tokens = 0}) == TokenSequence{3, 1, 4});
  CHECK(generate(model, std::vector<TokenSequence>{}).empty());
}

TEST_CASE("tokens are the same with and without a cache, for prompts of different lengths") {
  manual_seed(2);
  const std::vector<TokenSequence> prompts{{1, 2, 3, 4, 5, 6, 7}, {8}, {9, 10, 11}};
  const std::vector<GenerateOptions> all{{.max_new_tokens = 12},
                                         {.max_new_tokens = 12, .temperature = 0.8, .top_k = 5},
                                         {.max_new_tokens = 12,
                                          .temperature = 1.3,
                                          .top_p = 0.9,
                                          .min_p = 0.05,
                                          .repetition_penalty = 1.2,
                                          .num_samples = 3},
                                         {.max_new_tokens = 12, .num_samples = 2, .num_beams = 3}};
  for (const auto& [positions, window] :
       std::vector<std::pair<PositionKind, std::optional<std::int64_t>>>{
           {PositionKind::learned, {}},
           {PositionKind::rotary, {}},
           {PositionKind::rotary, 4},
           {PositionKind::alibi, {}}}) {
    const GPT model = small_gpt(13, positions, window);
    for (GenerateOptions options : all) {
      manual_seed(5);
      const auto cached = generate(model, prompts, options);
      options.use_cache = false;
      manual_seed(5);
      CHECK(generate(model, prompts, options) == cached);
      REQUIRE(std::ssize(cached) == 3 * options.num_samples);
      for (std::size_t i = 0; i < cached.size(); ++i) {
        const TokenSequence& prompt = prompts[i / static_cast<std::size_t>(options.num_samples)];
        REQUIRE(cached[i].size() == prompt.size() + 12);
        CHECK(std::equal(prompt.begin(), prompt.end(), cached[i].begin()));
      }
      if (options.temperature > 0) continue;
      // Alone, a prompt has no padding.
      const auto alone = generate(model, std::vector<TokenSequence>{prompts[1]}, options);
      CHECK(alone[0] == cached[static_cast<std::size_t>(options.num_samples)]);
    }
  }
}

TEST_CASE("tokens have the model's probabilities and a low temperature favours likely tokens") {
  // The shares are within 4 standard deviations of the probabilities: at most 0.032 away.
  const GPT model = constant_model({std::log(0.5), std::log(0.3), std::log(0.2)});
  const auto plain = shares(model, {});
  CHECK(std::abs(plain.at(0) - 0.5) < 0.032);
  CHECK(std::abs(plain.at(1) - 0.3) < 0.032);
  const auto sharp = shares(model, {.temperature = 0.5});
  CHECK(std::abs(sharp.at(0) - 0.25 / 0.38) < 0.032);
  CHECK(std::abs(sharp.at(2) - 0.04 / 0.38) < 0.032);
  CHECK(shares(model, {}) == plain);
  CHECK(drawn_tokens(model, {.temperature = 1e-30}) == std::set<std::int64_t>{0});
}

TEST_CASE("top_k, top_p and min_p leave the likeliest tokens") {
  const GPT model =
      constant_model({std::log(0.1), std::log(0.4), std::log(0.05), std::log(0.3), std::log(0.15)});
  using Tokens = std::set<std::int64_t>;
  CHECK(drawn_tokens(model, {}) == Tokens{0, 1, 2, 3, 4});
  CHECK(drawn_tokens(model, {.top_k = 2}) == Tokens{1, 3});
  CHECK(drawn_tokens(model, {.top_k = 9}) == Tokens{0, 1, 2, 3, 4});
  CHECK(drawn_tokens(model, {.top_p = 0.01}) == Tokens{1});
  CHECK(drawn_tokens(model, {.top_p = 0.6}) == Tokens{1, 3});
  CHECK(drawn_tokens(model, {.top_p = 0.8}) == Tokens{1, 3, 4});
  CHECK(drawn_tokens(constant_model({1.0, 0.0, 1.0, 0.0}), {.top_p = 0.3}) == Tokens{0, 2});
  CHECK(drawn_tokens(model, {.min_p = 0.5}) == Tokens{1, 3});
  CHECK(drawn_tokens(model, {.min_p = 0.3}) == Tokens{1, 3, 4});
  // top_p is applied after top_k: 0.4 / 0.85 and 0.3 / 0.85 are 0.82 in total.
  CHECK(drawn_tokens(model, {.top_k = 3, .top_p = 0.8}) == Tokens{1, 3});
  // min_p is applied after the temperature, to shares of 0.16, 0.09, 0.0225, ...
  CHECK(drawn_tokens(model, {.temperature = 0.5, .min_p = 0.5}) == Tokens{1, 3});
  CHECK(drawn_tokens(model, {.temperature = 0.5, .min_p = 0.6}) == Tokens{1});
}

TEST_CASE("a repetition penalty makes earlier tokens less likely for any sign of their logits") {
  const GPT model = constant_model({2.0, 1.9, -1.0, 0.5});
  CHECK(generate(model, TokenSequence{3}, {.max_new_tokens = 3, .repetition_penalty = 1.5}) ==
        TokenSequence{3, 0, 1, 0});
  const GPT negative = constant_model({-1.0, -1.1, -3.0});
  CHECK(generate(negative, TokenSequence{2}, {.max_new_tokens = 3, .repetition_penalty = 1.5}) ==
        TokenSequence{2, 0, 1, 0});
}

TEST_CASE("a sequence ends at a stop token while the others continue") {
  manual_seed(3);
  const GPT model = small_gpt();
  const std::vector<TokenSequence> prompts{{1, 2}, {3, 4}};
  const auto whole = generate(model, prompts, {.max_new_tokens = 20});
  const std::int64_t stop = whole[0][6];
  const auto cut = generate(model, prompts, {.max_new_tokens = 20, .stop_tokens = {stop}});
  for (std::size_t i = 0; i < 2; ++i) {
    const auto end = std::find(whole[i].begin() + 2, whole[i].end(), stop);
    const auto length = std::min<std::ptrdiff_t>(end - whole[i].begin() + 1, 22);
    CHECK(cut[i] == TokenSequence(whole[i].begin(), whole[i].begin() + length));
  }
  CHECK(cut[0].back() == stop);
}

TEST_CASE("on_token receives each token and can end the generation") {
  manual_seed(4);
  const GPT model = small_gpt();
  const std::vector<TokenSequence> prompts{{1, 2}, {3, 4}};
  std::vector<TokenSequence> received = prompts;
  int count = 0;
  const GenerateOptions options{.max_new_tokens = 9, .on_token = [&](auto sequence, auto token) {
                                  received[sequence].push_back(token);
                                  return ++count < 7;
                                }};
  CHECK(generate(model, prompts, options) == received);
  CHECK(received[0].size() == 6);
  CHECK(received[1].size() == 5);
}

TEST_CASE("beam search with a beam for every sequence finds the likeliest ones") {
  manual_seed(6);
  constexpr std::int64_t kTokens = 3;
  const GPT model = small_gpt(kTokens);
  const TokenSequence prompt{1, 2};
  std::vector<std::pair<double, TokenSequence>> all;
  for (std::int64_t i = 0; i < kTokens * kTokens * kTokens; ++i) {
    TokenSequence each{1, 2, i / 9, i / 3 % 3, i % 3};
    all.emplace_back(-log_probability(model, each, 2), each);
  }
  std::sort(all.begin(), all.end());
  const auto best = generate(model, std::vector<TokenSequence>{prompt},
                             {.max_new_tokens = 3, .num_samples = 4, .num_beams = 27});
  REQUIRE(best.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) CHECK(best[i] == all[i].second);
}

TEST_CASE("beam search compares ended and running sequences by the length penalty") {
  // Token 0 ends a sequence; all tokens have the same probabilities everywhere.
  const GPT model = constant_model({std::log(0.3), std::log(0.6), std::log(0.1)});
  GenerateOptions options{.max_new_tokens = 4, .stop_tokens = {0}, .num_beams = 3};
  // The mean log-probability is best if token 1 is repeated to the end.
  CHECK(generate(model, TokenSequence{2}, options) == TokenSequence{2, 1, 1, 1, 1});
  options.length_penalty = 0;  // 0.3 is more than 0.6^4
  CHECK(generate(model, TokenSequence{2}, options) == TokenSequence{2, 0});
}

TEST_CASE("likely stop tokens do not take beams from sequences that continue") {
  // Tokens 0, 1 and 2 end a sequence. After token 5, token 4 is only the fifth likeliest, but it is
  // nearly always followed by itself. All tokens after 3 are unlikely.
  constexpr double kNever = 1e-9;
  const GPT model = bigram_model({{1, 1, 1, 1, 1, 1},
                                  {1, 1, 1, 1, 1, 1},
                                  {1, 1, 1, 1, 1, 1},
                                  {0.3, 0.3, 0.2, 0.1, 0.05, 0.05},
                                  {kNever, kNever, kNever, kNever, 1, kNever},
                                  {0.2, 0.19, 0.18, 0.3, 0.13, kNever}});
  const GenerateOptions options{.max_new_tokens = 3, .stop_tokens = {0, 1, 2, 2}, .num_beams = 2};
  CHECK(generate(model, TokenSequence{5}, options) == TokenSequence{5, 4, 4, 4});
}

TEST_CASE("generate names the sequence and the position if the largest logit is not finite") {
  // Tokens 0 and 1 are followed by themselves, and 2 by 3. After 3, every logit is NaN.
  constexpr double kNever = 1e-9;
  GPT model = bigram_model({{1, kNever, kNever, kNever},
                            {kNever, 1, kNever, kNever},
                            {kNever, kNever, kNever, 1},
                            {1, 1, 1, 1}});
  model.token_embedding.weight.detach()[{3}].fill_(std::nan(""));
  const std::vector<TokenSequence> prompts{{0}, {1, 2}};
  const auto refused = [&](const GPT& of, GenerateOptions options, const char* message) {
    options.max_new_tokens = 4;
    manual_seed(1);
    CHECK_THROWS_WITH(generate(of, prompts, options), message);
  };
  const char* const third =
      "[generate] sequence 1: the largest logit for the token at position 3 is nan";
  for (const bool use_cache : {true, false}) {
    refused(model, {.use_cache = use_cache}, third);
    refused(model, {.temperature = 1, .top_k = 1, .use_cache = use_cache}, third);
    refused(model, {.num_beams = 2, .use_cache = use_cache},
            "[generate] prompt 1, beam 0: the largest logit for the token at position 3 is nan");
  }
  refused(model, {.temperature = 1, .top_k = 1, .num_samples = 2},
          "[generate] sequence 2: the largest logit for the token at position 3 is nan");
  CHECK(generate(model, prompts, {.max_new_tokens = 1})[1] == TokenSequence{1, 2, 3});

  const double inf = std::numeric_limits<double>::infinity();
  const char* const above =
      "[generate] sequence 0: the largest logit for the token at position 1 is inf";
  const GPT infinite = constant_model({1, inf, 0}), hidden = constant_model({-inf, -inf, -inf});
  refused(infinite, {}, above);
  refused(infinite, {.temperature = 1}, above);
  refused(hidden, {},
          "[generate] sequence 0: the largest logit for the token at position 1 is -inf");
  refused(hidden, {.num_beams = 2},
          "[generate] prompt 0, beam 0: the largest logit for the token at position 1 is -inf");
  for (const double temperature : {0.0, 1.0}) {
    refused(constant_model({1, 1, 1}), {.temperature = temperature, .repetition_penalty = 1e-320},
            above);
  }
  const GPT some = constant_model({-inf, 1, 0});  // single tokens may be impossible
  for (const std::int64_t beams : {1, 2}) {
    CHECK(generate(some, TokenSequence{2}, {.max_new_tokens = 2, .num_beams = beams}) ==
          TokenSequence{2, 1, 1});
  }
}

TEST_CASE("generate refuses invalid arguments before it computes anything") {
  const GPT model = small_gpt();
  const auto refused = [&](const GenerateOptions& options) {
    manual_seed(1);
    const auto before = get_rng_state().to_bytes();
    CHECK_THROWS_AS(generate(model, TokenSequence{1}, options), Error);
    CHECK(get_rng_state().to_bytes() == before);
  };
  refused({.max_new_tokens = -1});
  refused({.max_new_tokens = 33});
  refused({.temperature = -1.0});
  refused({.temperature = std::nan("")});
  refused({.temperature = INFINITY});
  refused({.repetition_penalty = INFINITY});
  refused({.num_beams = 2, .length_penalty = std::nan("")});
  refused({.temperature = 1.0, .top_k = 0});
  refused({.temperature = 1.0, .top_p = 0.0});
  refused({.temperature = 1.0, .min_p = 1.5});
  refused({.top_k = 1});
  refused({.top_p = 0.9});
  refused({.min_p = 0.1});
  refused({.top_p = 0.9, .num_beams = 2});
  CHECK_THROWS_WITH(generate(model, TokenSequence{1}, {.top_p = 0.9}),
                    "[generate] top_p has no effect with a temperature of 0, with which nothing is "
                    "drawn: leave top_p out, or give a temperature above 0");
  CHECK_THROWS_WITH(generate(model, TokenSequence{1}, {.top_k = 2, .num_beams = 2}),
                    "[generate] top_k has no effect with a temperature of 0, with which nothing is "
                    "drawn: leave top_k out");
  refused({.repetition_penalty = 0.0});
  refused({.num_samples = 0});
  refused({.num_samples = 2});
  CHECK_THROWS_WITH(generate(model, std::vector<TokenSequence>{{1}}, {.num_samples = 3}),
                    "[generate] num_samples 3 would be the same text each time: give a temperature "
                    "above 0, or num_beams above 1");
  CHECK_THROWS_AS(generate(model, tensor({1}), {.num_samples = 2}), Error);
  refused({.num_beams = 0});
  refused({.temperature = 1.0, .num_beams = 2});
  refused({.num_beams = 2, .on_token = [](auto, auto) { return true; }});
  CHECK_THROWS_WITH(generate(model, TokenSequence{}), "[generate] prompt 0 is empty");
  CHECK_THROWS_WITH(generate(model, TokenSequence{1, 2}, {.max_new_tokens = 32}),
                    "[generate] the 2 tokens of prompt 0 and 32 new ones (without the last) exceed "
                    "the context_length of 32");
  CHECK_THROWS_AS(generate(model, TokenSequence(33, 1), {.max_new_tokens = 0}), ShapeError);
  CHECK_THROWS_AS(generate(model, TokenSequence{13}, {.max_new_tokens = 2}), IndexError);
  CHECK_THROWS_WITH(generate(model, std::vector<TokenSequence>{{1}, {-1}}, {.max_new_tokens = 0}),
                    "[generate] token -1 of prompt 1 is out of range for a vocabulary of 13");
}

TEST_CASE("prompts may be given in braces and as tensors") {
  manual_seed(2);
  const GPT model = small_gpt();
  const GenerateOptions options{.max_new_tokens = 4};
  const auto both = generate(model, std::vector<TokenSequence>{{1, 2}, {3, 4}}, options);
  CHECK(generate(model, {{1, 2}, {3, 4}}, options) == both);
  CHECK(generate(model, {{1, 2}}, options).at(0) == both[0]);
  // Flat braces are one prompt. Nested braces are several prompts, even of one token each.
  const std::int64_t token = 2;
  const TokenSequence flat = generate(model, {1, 2}, options);
  CHECK(flat == both[0]);
  CHECK(generate(model, {1, token}, options) == both[0]);
  const TokenSequence single = generate(model, {1}, options);
  CHECK(single == generate(model, TokenSequence{1}, options));
  CHECK(generate(model, {1, 2, 3}, options) == generate(model, TokenSequence{1, 2, 3}, options));
  const std::vector<TokenSequence> nested = generate(model, {{1}, {token}}, options);
  CHECK(nested == generate(model, std::vector<TokenSequence>{{1}, {2}}, options));
  CHECK(generate(model, {{1}}, options) == std::vector<TokenSequence>{single});
  CHECK_THROWS_AS(generate(model, {13}, options), IndexError);
  const Tensor one = generate(model, tensor({1, 2}), options);
  CHECK(one.shape() == Shape{6});
  CHECK(one.to_vector<std::int64_t>() == both[0]);
  const Tensor two = generate(model, tensor({{1, 2}, {3, 4}}), options);
  CHECK(two.shape() == Shape{2, 6});
  CHECK(two[{1}].to_vector<std::int64_t>() == both[1]);
  const Tensor samples =
      generate(model, tensor({1, 2}), {.max_new_tokens = 4, .temperature = 1, .num_samples = 3});
  CHECK(samples.shape() == Shape{3, 6});
  // The first sequence ends at its first new token. The rest of its row repeats this token.
  const std::int64_t stop = both[0][2];
  GenerateOptions stopped = options;
  stopped.stop_tokens = {stop};
  const Tensor ended = generate(model, tensor({{1, 2}, {3, 4}}), stopped);
  const auto lists = generate(model, std::vector<TokenSequence>{{1, 2}, {3, 4}}, stopped);
  CHECK(ended[{0, -1}].item<std::int64_t>() == stop);
  CHECK(ended.size(1) == static_cast<std::int64_t>(std::max(lists[0].size(), lists[1].size())));
  CHECK_THROWS_AS(generate(model, tensor({1.0, 2.0}), options), DTypeError);
  CHECK_THROWS_AS(generate(model, tensor({{{1}}}), options), ShapeError);
  CHECK_THROWS_AS(generate(model, Tensor(), options), Error);
}

TEST_CASE("the last new token may be beyond the context because the model never reads it") {
  manual_seed(4);
  const GPT model = small_gpt();
  const TokenSequence prompt{1, 2};
  const TokenSequence whole = generate(model, prompt, {.max_new_tokens = 31});
  REQUIRE(whole.size() == 33);
  CHECK(generate(model, prompt, {.max_new_tokens = 31, .use_cache = false}) == whole);
  CHECK(generate(model, prompt, {.max_new_tokens = 31, .num_beams = 2}).size() == 33);
  const NoGradGuard no_graph;
  const Tensor logits = model(tensor(whole).narrow(0, 0, 32).unsqueeze(0));
  CHECK(argmax(logits[{0, -1}]).item<std::int64_t>() == whole.back());
}
