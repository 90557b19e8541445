// Scores of heads whose patterns and weights are known.
#include "tests/catch.h"

#include <tend/tend.h>

using namespace tend;

namespace {

// A pattern of one head that attends to the key to_key[i] from query i.
Tensor pattern_to(const std::vector<std::int64_t>& to_key) {
  const std::int64_t length = std::ssize(to_key);
  Tensor pattern = zeros({1, 1, length, length});
  for (std::int64_t i = 0; i < length; ++i) {
    pattern.select(2, i).select(2, to_key[static_cast<std::size_t>(i)]).fill_(1);
  }
  return pattern;
}

double only_score(const Tensor& scores) {
  REQUIRE(scores.shape() == Shape{1});
  return scores.item<double>();
}

}  // namespace

TEST_CASE("the previous and first token scores are 1 only for a head that attends there") {
  const Tensor before = pattern_to({0, 0, 1, 2, 3}), first = pattern_to({0, 0, 0, 0, 0});
  CHECK(only_score(lens::previous_token_score(before)) == 1);
  CHECK(only_score(lens::first_token_score(before)) == 0.25);  // query 1 only
  CHECK(only_score(lens::first_token_score(first)) == 1);
  CHECK(only_score(lens::previous_token_score(first)) == 0.25);
}

TEST_CASE("scores of repeated tokens average over the queries whose token occurred before") {
  const Tensor tokens = tensor({{7, 8, 9, 7, 8, 9}});
  const Tensor duplicate = pattern_to({0, 0, 0, 0, 1, 2}),
               induction = pattern_to({0, 0, 0, 1, 2, 3});
  CHECK(only_score(lens::duplicate_token_score(duplicate, tokens)) == 1);
  CHECK(only_score(lens::induction_score(duplicate, tokens)) == 0);
  CHECK(only_score(lens::induction_score(induction, tokens)) == 1);
  CHECK(only_score(lens::duplicate_token_score(induction, tokens)) == 0);
  // Only query 4, one of three, gives the right key half of its attention: the score is 1/6.
  Tensor half = pattern_to({0, 0, 0, 0, 0, 0});
  half.select(2, 4).select(2, 0).fill_(0.5);
  half.select(2, 4).select(2, 2).fill_(0.5);
  CHECK(only_score(lens::induction_score(half, tokens)) == Approx(1.0 / 6));
  CHECK(only_score(lens::induction_score(half, tensor({{1, 2, 3, 4, 5, 6}}))) == 0);
}

TEST_CASE("scores are averaged over batches separately for each head") {
  const Tensor a = pattern_to({0, 0, 1}), b = pattern_to({0, 0, 0});
  const Tensor pattern = stack({cat({a, b}, 1).squeeze(0), cat({b, b}, 1).squeeze(0)});
  const Tensor scores = lens::previous_token_score(pattern);
  CHECK(scores.to_vector<float>() == std::vector<float>{0.75F, 0.5F});
}

TEST_CASE("the entropy of a pattern is the mean entropy of its rows") {
  CHECK(only_score(lens::attention_entropy(pattern_to({0, 0, 1}))) == 0);
  CHECK(only_score(lens::attention_entropy(full({1, 1, 3, 4}, 0.25))) == Approx(std::log(4.0)));
}

TEST_CASE("patterns and tokens of other shapes are refused") {
  const Tensor pattern = pattern_to({0, 0, 1});
  CHECK_THROWS_AS(lens::previous_token_score(pattern.squeeze(0)), ShapeError);
  CHECK_THROWS_AS(lens::induction_score(pattern, tensor({{1, 2}})), ShapeError);
  CHECK_THROWS_AS(lens::induction_score(pattern, zeros({1, 3})), DTypeError);
}

TEST_CASE("composition is 1 if a head reads exactly the direction that another head writes") {
  const attention::GPT model(
      {.vocab_size = 5, .context_length = 4, .width = 4, .num_heads = 2, .num_layers = 2});
  const NoGradGuard no_graph;
  for (const std::int64_t layer : {0, 1}) {
    lens::W_Q(model, layer).zero_();
    lens::W_K(model, layer).zero_();
    lens::W_V(model, layer).zero_();
    lens::W_O(model, layer).zero_();
  }
  const auto set = [](const Tensor& weight, std::int64_t head, std::int64_t i, std::int64_t j) {
    weight.select(0, head).select(0, i).select(0, j).fill_(1);
  };
  // Head 0 of layer 0 writes direction 2, head 1 direction 3.
  set(lens::W_V(model, 0), 0, 0, 0);
  set(lens::W_O(model, 0), 0, 0, 2);
  set(lens::W_V(model, 0), 1, 0, 0);
  set(lens::W_O(model, 0), 1, 0, 3);
  // Head 1 of layer 1 reads queries from direction 2, and keys and values from direction 3.
  set(lens::W_Q(model, 1), 1, 2, 0);
  set(lens::W_K(model, 1), 1, 3, 0);
  set(lens::W_V(model, 1), 1, 3, 0);
  set(lens::W_O(model, 1), 1, 0, 1);
  const auto score = [&](const char* kind, std::int64_t writer) {
    const Tensor all = lens::composition_scores(model, kind);
    CHECK(all.shape() == Shape{2, 2, 2, 2});
    CHECK(all.select(0, 1).sum().item<double>() == 0);
    return all.select(0, 0).select(0, writer).select(0, 1).select(0, 1).item<double>();
  };
  CHECK(score("Q", 0) == 1);
  CHECK(score("Q", 1) == 0);
  CHECK(score("K", 0) == 0);
  CHECK(score("K", 1) == 1);
  CHECK(score("V", 0) == 0);
  CHECK(score("V", 1) == 1);
  CHECK_THROWS_AS(lens::composition_scores(model, "q"), Error);
}
