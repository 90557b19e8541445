// Positions that the caller gives, and several documents in one sequence.
#include <tend/attention/models/gpt_inputs.h>

#include "tests/catch.h"

#include <tend/tend.h>

using namespace tend;
using namespace tend::attention;

namespace {

// The lengths of the documents in each sequence.
const std::vector<std::vector<std::int64_t>> kDocumentLengths = {{5, 1, 9}, {15}, {2, 10, 3}};
constexpr std::int64_t kRowLength = 15;

// The number of each token's document: {0, 0, 0, 0, 0, 7, 0, ...}. Documents that are not adjacent
// may have the same number.
Tensor numbers_of(const std::vector<std::int64_t>& lengths) {
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < lengths.size(); ++i)
    numbers.insert(numbers.end(), static_cast<std::size_t>(lengths[i]), i % 2 == 0 ? 0 : 7);
  return tensor(numbers);
}

Tensor documents_of_rows() {
  return stack({numbers_of(kDocumentLengths[0]), numbers_of(kDocumentLengths[1]),
                numbers_of(kDocumentLengths[2])});
}

std::vector<GPTConfig> all_models() {
  std::vector<GPTConfig> all;
  for (const PositionKind positions :
       {PositionKind::learned, PositionKind::sinusoidal, PositionKind::rotary, PositionKind::alibi,
        PositionKind::none}) {
    GPTConfig config{.vocab_size = 31,
                     .context_length = 20,
                     .width = 16,
                     .num_heads = 4,
                     .num_layers = 2,
                     .positions = positions,
                     .num_kv_heads = 2};
    all.push_back(config);
    config.window = 4;
    all.push_back(config);
  }
  return all;
}

GPT in_float64(const GPTConfig& config) {
  GPT model(config);
  model.to(float64);
  return model;
}

// Another order of summation changes numbers by a few roundings of float64.
void check_close(const Tensor& a, const Tensor& b) {
  CHECK(allclose(a, b, 1e-12, 1e-12));
}

}  // namespace

TEST_CASE("each document of a packed sequence has the same logits as by itself") {
  const NoGradGuard no_graph;
  manual_seed(1);
  for (const GPTConfig& config : all_models()) {
    const GPT model = in_float64(config);
    const Tensor tokens = randint(0, 31, {3, kRowLength}), documents = documents_of_rows();
    const Tensor packed = model(tokens, {.documents = documents});
    for (std::int64_t row = 0; row < 3; ++row) {
      std::int64_t begin = 0;
      for (const std::int64_t length : kDocumentLengths[static_cast<std::size_t>(row)]) {
        const Tensor alone = model(tokens.narrow(0, row, 1).narrow(1, begin, length));
        check_close(packed.narrow(0, row, 1).narrow(1, begin, length), alone);
        begin += length;
      }
    }
    const Tensor positions = masks::document_positions(documents);
    check_close(model(tokens, {.positions = positions, .documents = documents}), packed);
    check_close(model(tokens, {.last_only = true, .documents = documents}),
                packed.narrow(1, kRowLength - 1, 1));
    // Documents of shape (T,) apply to all sequences.
    const Tensor first = documents[0];
    check_close(model(tokens, {.documents = first}),
                model(tokens, {.documents = first.expand({3, kRowLength})}));
  }
}

TEST_CASE("the fused and the composed path see the same documents") {
  const NoGradGuard no_graph;
  manual_seed(2);
  for (const GPTConfig& config : all_models()) {
    const GPT model = in_float64(config);
    const Tensor tokens = randint(0, 31, {3, kRowLength}), documents = documents_of_rows();
    const auto along = [&](AttentionPath path) {
      const AttentionPathGuard guard(path);
      return model(tokens,
                   {.positions = masks::document_positions(documents) + 2, .documents = documents});
    };
    check_close(along(AttentionPath::fused), along(AttentionPath::composed));
  }
}

TEST_CASE("tokens have the positions that the caller gives") {
  const NoGradGuard no_graph;
  manual_seed(3);
  const Tensor tokens = randint(0, 31, {2, 6});
  const Tensor later = arange(6) + 9, twice = arange(6) * 2;
  for (const GPTConfig& config : all_models()) {
    const GPT model = in_float64(config);
    const Tensor plain = model(tokens);
    check_close(model(tokens, {.positions = arange(6)}), plain);
    check_close(model(tokens, {.positions = twice}),
                model(tokens, {.positions = twice.expand({2, 6})}));
    // With rotary positions and ALiBi, the logits depend only on distances.
    const bool has_vectors =
        config.positions == PositionKind::learned || config.positions == PositionKind::sinusoidal;
    CHECK(allclose(model(tokens, {.positions = later}), plain, 1e-9, 1e-9) != has_vectors);
    CHECK(allclose(model(tokens, {.positions = twice}), plain) ==
          (config.positions == PositionKind::none));
    if (config.positions == PositionKind::alibi) continue;
    KVCache cache;
    model(tokens.narrow(1, 0, 4), {.cache = &cache, .positions = later.narrow(0, 0, 4)});
    check_close(
        model(tokens.narrow(1, 4, 2), {.cache = &cache, .positions = later.narrow(0, 4, 2)}),
        model(tokens, {.positions = later}).narrow(1, 4, 2));
  }
}

TEST_CASE("ALiBi computes distances from the given positions") {
  manual_seed(4);
  GPTConfig config = all_models()[6];
  REQUIRE(config.positions == PositionKind::alibi);
  config.num_layers = 1;
  const GPT model = in_float64(config);
  const Tensor tokens = randint(0, 31, {1, 4}), places = tensor({{0, 2, 3, 11}});
  const NoGradGuard no_graph;
  const GroupedQueryAttention& layer = model.blocks[0].attention;
  const Tensor x = model.blocks[0].norm1(model.token_embedding(tokens));
  const auto heads = [&](const nn::Linear& map, std::int64_t count) {
    return map(x).view({1, 4, count, 4}).transpose(1, 2);
  };
  const Tensor distance = (places.unsqueeze(-1) - places.unsqueeze(1)).to(float64);
  const Tensor bias = scores::alibi_slopes(4).to(float64).view({4, 1, 1}) * -distance;
  const Tensor hidden = full({4, 4}, -std::numeric_limits<double>::infinity()).to(float64);
  const Tensor context = scaled_dot_product_attention(
      heads(layer.W_query, 4), heads(layer.W_key, 2), heads(layer.W_value, 2),
      {.attn_mask = bias + triu(hidden, 1), .enable_gqa = true});
  const Tensor attended = layer.out_proj(context.transpose(1, 2).flatten(2));
  const Tensor middle = model.token_embedding(tokens) + attended;
  const Tensor last = middle + model.blocks[0].feed_forward(model.blocks[0].norm2(middle));
  check_close(model(tokens, {.positions = places}), model.head(model.norm(last)));
}

TEST_CASE("gradients through documents and positions agree with central differences") {
  for (GPTConfig config : all_models()) {
    manual_seed(5);
    config.vocab_size = 7;
    config.width = 8;
    config.num_heads = 2;
    config.num_kv_heads = 1;
    const GPT model = in_float64(config);
    const Tensor tokens = randint(0, 7, {2, 6});
    const Tensor documents = tensor({{0, 0, 0, 1, 1, 2}, {0, 0, 1, 1, 1, 1}});
    std::vector<Tensor> inputs;
    for (const auto& [name, parameter] : model.named_parameters()) {
      if (name.starts_with("blocks.0.attention") || !name.starts_with("blocks"))
        inputs.push_back(parameter);
    }
    // The function reads the parameters themselves.
    const auto logits = [&](const std::vector<Tensor>&) {
      return model(tokens, {.positions = tensor({0, 2, 3, 0, 1, 4}), .documents = documents});
    };
    const GradcheckReport report = gradcheck(logits, inputs);
    INFO(report.message);
    CHECK(report.passed);
  }
}

TEST_CASE("positions and documents that do not fit are refused and leave a cache unchanged") {
  const NoGradGuard no_graph;
  const GPT model(all_models()[0]);
  const Tensor tokens = zeros({2, 3}, int64);
  KVCache cache;
  model(tokens, {.cache = &cache});
  CHECK_THROWS_WITH(model(tokens, {.positions = zeros({2, 3})}),
                    "[GPT] positions are float32, not int64");
  CHECK_THROWS_WITH(model(tokens, {.positions = zeros({2, 2}, int64)}),
                    "[GPT] positions (2, 2) must be (B, T) or (T,) for tokens (B, T) = (2, 3)");
  CHECK_THROWS_WITH(model(tokens, {.documents = zeros({3, 3}, int64)}),
                    "[GPT] documents (3, 3) must be (B, T) or (T,) for tokens (B, T) = (2, 3)");
  CHECK_THROWS_WITH(model(tokens, {.documents = ones({3}, boolean)}),
                    "[GPT] documents are bool, not int64");
  CHECK_THROWS_WITH(model(tokens, {.cache = &cache, .positions = full({3}, 20)}),
                    "[GPT] position 20 is out of range for a context_length of 20");
  CHECK_THROWS_AS(model(tokens, {.positions = tensor({0, -1, 0})}), IndexError);
  CHECK_THROWS_WITH(model(tokens, {.cache = &cache, .documents = zeros({3}, int64)}),
                    "[GPT] documents cannot be combined with a cache: pass each document as a "
                    "sequence");
  CHECK_THROWS_WITH(model(tokens, {.padding = zeros({2}, int64), .documents = zeros({3}, int64)}),
                    "[GPT] documents cannot be combined with padding: give the padding a document "
                    "number");
  CHECK(cache.length() == 3);
  KVCache other;
  const GPT alibi(all_models()[6]);
  CHECK_THROWS_WITH(alibi(tokens, {.cache = &other, .positions = arange(3)}),
                    "[GPT] ALiBi needs the distances of positions, but a cache does not store "
                    "positions");
  // Sequences without tokens, and a batch without sequences, are accepted.
  for (const Shape& shape : {Shape{2, 0}, Shape{0, 3}}) {
    const Tensor none = zeros(shape, int64);
    for (const GPTConfig& config : all_models()) {
      CHECK(GPT(config)(none, {.positions = none, .documents = none}).numel() == 0);
    }
  }
}
