#include <tend/attention/lens/built.h>

#include <algorithm>
#include <cmath>

#include <tend/attention/lens/weights.h>
#include <tend/autograd/ops/ops.h>
#include <tend/autograd/tensor/grad_mode.h>

namespace tend::lens {
namespace {

using attention::GPT;

void check_layer(std::int64_t layer) {
  if (layer < 0) fail<IndexError>("ModelBuilder", "layer ", layer, " is negative");
}

// The smallest difference between neighbouring levels. 0 counts as the last level.
double smallest_gap(const std::vector<double>& levels) {
  double gap = levels.empty() ? 0 : levels.back();
  for (std::size_t i = 1; i < levels.size(); ++i) gap = std::min(gap, levels[i - 1] - levels[i]);
  return gap;
}

Tensor part(const Tensor& matrix, const Subspace& rows, const Subspace& columns) {
  return matrix.narrow(0, rows.first, rows.size).narrow(1, columns.first, columns.size);
}

void write_identity(const Tensor& square, double factor = 1) {
  square.copy_(eye(square.size(0)) * factor);
}

std::int64_t dims_of(const BuiltHead& head) {
  std::int64_t dims = 0;
  for (const ScoreTerm& each : head.scores) dims += each.query.size;
  return std::max(dims, head.value.size);
}

// W_Q copies the query's subspace. W_K contains the table of scores.
void write_head(const GPT& model, const BuiltHead& head, double sharpness) {
  const auto weight_of = [&](const Tensor& weights) { return weights.select(0, head.head); };
  const Tensor query = weight_of(W_Q(model, head.layer)), key = weight_of(W_K(model, head.layer));
  const double root = std::sqrt(static_cast<double>(query.size(1)));
  Subspace dims{0, 0};
  for (const ScoreTerm& each : head.scores) {
    dims.size = each.query.size;
    std::vector<double> scores;  // (key, query)
    for (std::int64_t j = 0; j < each.key.size; ++j) {
      for (std::int64_t i = 0; i < each.query.size; ++i) scores.push_back(each.score(i, j));
    }
    write_identity(part(query, each.query, dims), sharpness * root);
    part(key, each.key, dims).copy_(tensor(scores, float64).view({each.key.size, dims.size}));
    dims.first += dims.size;
  }
  dims = {0, head.value.size};
  write_identity(part(weight_of(W_V(model, head.layer)), head.value, dims));
  write_identity(part(weight_of(W_O(model, head.layer)), dims, head.output));
}

// Writes two units for each level, starting at unit `first`. Together they compute a step between
// the level and the next one: relu(s x - b) - relu(s x - b - 1). The factor s makes levels differ
// by at least 4. s is a power of 2 and b is an integer, so nothing is rounded, and at each level
// the step is exactly 0 or 1.
void write_table(const GPT& model, const BuiltTable& table, std::int64_t first) {
  const std::int64_t count = table.output.size;
  const double scale = std::exp2(std::ceil(std::log2(4 / smallest_gap(table.levels))));
  W_in(model, table.layer).select(0, table.number.first).narrow(0, first, 2 * count).fill_(scale);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto level = table.levels.begin() + i;
    const double next = i + 1 < count ? level[1] : 0;
    const double begin = std::round(scale * (level[0] + next) / 2 - 0.5);
    b_in(model, table.layer).select(0, first + i).fill_(-begin);
    b_in(model, table.layer).select(0, first + count + i).fill_(-begin - 1);
  }
  // Step i, between levels i and i + 1, adds 1 to output i and subtracts 1 from output i + 1. A
  // number at level k exceeds the steps from k on, so the sum is 1 at output k and 0 elsewhere.
  const Tensor steps = eye(count) - diag(ones({count - 1}), 1);
  part(W_out(model, table.layer), {first, count}, table.output).copy_(steps);
  part(W_out(model, table.layer), {first + count, count}, table.output).copy_(-steps);
}

}  // namespace

ModelBuilder::ModelBuilder(const ModelBuilderOptions& options)
    : options_(options), width_(options.vocab_size + options.context_length) {}

Subspace ModelBuilder::add(std::int64_t size) {
  width_ += size;
  return {width_ - size, size};
}

void ModelBuilder::attend(const BuiltHead& head) {
  check_layer(head.layer);
  if (head.head < 0) fail<IndexError>("ModelBuilder", "head ", head.head, " is negative");
  if (head.value.size != head.output.size) {
    fail<ShapeError>("ModelBuilder", "value and output of a head must have the same size, got ",
                     head.value.size, " and ", head.output.size);
  }
  for (const BuiltHead& each : heads_) {
    if (each.layer == head.layer && each.head == head.head)
      fail("ModelBuilder", "layer ", head.layer, " has head ", head.head, " already");
  }
  heads_.push_back(head);
}

void ModelBuilder::table(const BuiltTable& table) {
  check_layer(table.layer);
  if (table.number.size != 1 || table.output.size != std::ssize(table.levels)) {
    fail<ShapeError>("ModelBuilder", "a table of ", table.levels.size(),
                     " levels must read 1 direction and write ", table.levels.size(),
                     ", but reads ", table.number.size, " and writes ", table.output.size);
  }
  if (!(smallest_gap(table.levels) > 0))
    fail("ModelBuilder", "the levels of a table must descend, and end above 0");
  tables_.push_back(table);
}

void ModelBuilder::predict(const Subspace& answer) {
  if (answer.size > options_.vocab_size) {
    fail<ShapeError>("ModelBuilder", "the answer has ", answer.size, " directions, more than the ",
                     options_.vocab_size, " tokens of the vocabulary");
  }
  answer_ = answer;
}

attention::GPTConfig ModelBuilder::config() const {
  std::int64_t layers = 0, heads = 1, dims = 1, hidden = 0;
  for (const BuiltHead& each : heads_) {
    layers = std::max(layers, each.layer + 1);
    heads = std::max(heads, each.head + 1);
    dims = std::max(dims, dims_of(each));
  }
  for (const BuiltTable& each : tables_) {
    layers = std::max(layers, each.layer + 1);
    hidden += 2 * each.output.size;
  }
  // Attention divides scores by the root of head_dim. With a power of 4 this does not round.
  std::int64_t head_dim = 1;
  while (head_dim < dims) head_dim *= 4;
  return {.vocab_size = options_.vocab_size,
          .context_length = options_.context_length,
          .width = width_,
          .num_heads = heads,
          .num_layers = layers,
          .norm = attention::NormKind::none,
          .feed_forward =
              tables_.empty() ? attention::FeedForwardKind::none : attention::FeedForwardKind::relu,
          .hidden_width = std::max<std::int64_t>(hidden, 1),
          .head_dim = head_dim,
          .out_bias = false};
}

GPT ModelBuilder::build() const {
  GPT model(config());
  const NoGradGuard no_graph;
  for (Tensor& each : model.parameters()) each.zero_();
  write_identity(part(W_E(model), {0, options_.vocab_size}, tokens()));
  write_identity(part(W_pos(model), {0, options_.context_length}, positions()));
  for (const BuiltHead& each : heads_) write_head(model, each, options_.sharpness);
  std::int64_t units = 0;
  for (const BuiltTable& each : tables_) {
    write_table(model, each, units);
    units += 2 * each.output.size;
  }
  write_identity(part(W_U(model), answer_, {0, answer_.size}), options_.sharpness);
  return model;
}

namespace {

bool is_same(std::int64_t query, std::int64_t key) {
  return query == key;
}

// Attends to the key `distance` positions before the query.
std::function<bool(std::int64_t, std::int64_t)> is_before(std::int64_t distance) {
  return [=](std::int64_t query, std::int64_t key) { return key == query - distance; };
}

// What count_tokens computes at position length + i: token i of the sequence, and its count,
// one-hot.
struct Counts {
  Subspace token;
  Subspace count;
};

// For each token i of the sequence, counts the tokens `other` of the sequence for which
// is_counted(token i, other) is true (RASP's selector_width). The count is computed at position
// length + i, which sees the whole sequence. Layer 0 copies token i to this position. Layer 1
// attends equally to the counted keys and to the first separator, so the separator gets the weight
// 1 / (1 + count).
Counts count_tokens(ModelBuilder& builder, std::int64_t length,
                    const std::function<bool(std::int64_t, std::int64_t)>& is_counted) {
  const Subspace tokens = builder.tokens(), positions = builder.positions();
  const Subspace token = builder.add(tokens.size), share = builder.add(1);
  const Subspace count = builder.add(length + 1);
  builder.attend({0, 0, {{positions, positions, is_before(length)}}, tokens, token});
  const auto in_sequence = [=](std::int64_t, std::int64_t key) {
    return key < length ? 1 : key == length ? 2 : 0;
  };
  builder.attend({1,
                  0,
                  {{token, tokens, is_counted}, {positions, positions, in_sequence}},
                  positions.at(length),
                  share});
  std::vector<double> shares;
  for (std::int64_t i = 0; i <= length; ++i) shares.push_back(1 / (1 + static_cast<double>(i)));
  builder.table({1, share, shares, count});
  return {token, count};
}

}  // namespace

GPT induction_model(std::int64_t vocab_size, std::int64_t context_length, double sharpness) {
  ModelBuilder builder({vocab_size, context_length, sharpness});
  const Subspace tokens = builder.tokens(), positions = builder.positions();
  const Subspace before = builder.add(vocab_size), answer = builder.add(vocab_size);
  builder.attend({0, 1, {{positions, positions, is_before(1)}}, tokens, before});
  // At position 0 the first head can only copy token 0 itself, which must not look like a match.
  const auto not_first = [](std::int64_t, std::int64_t key) { return key == 0 ? -1 : 0; };
  builder.attend(
      {1, 0, {{tokens, before, is_same}, {positions, positions, not_first}}, tokens, answer});
  builder.predict(answer);
  return builder.build();
}

GPT reverse_model(std::int64_t vocab_size, std::int64_t length) {
  ModelBuilder builder({vocab_size, 2 * length});
  const Subspace positions = builder.positions(), answer = builder.add(vocab_size);
  // Position length + i reads position length - 1 - i.
  const auto is_mirrored = [=](std::int64_t query, std::int64_t key) {
    return query + key == 2 * length - 1;
  };
  builder.attend({0, 0, {{positions, positions, is_mirrored}}, builder.tokens(), answer});
  builder.predict(answer);
  return builder.build();
}

GPT histogram_model(std::int64_t vocab_size, std::int64_t length) {
  ModelBuilder builder({vocab_size, 2 * length});
  builder.predict(count_tokens(builder, length, is_same).count);
  return builder.build();
}

GPT sort_model(std::int64_t vocab_size, std::int64_t length) {
  ModelBuilder builder({vocab_size, 3 * length});
  const auto is_smaller = [](std::int64_t token, std::int64_t other) { return other < token; };
  const Counts counts = count_tokens(builder, length, is_smaller);
  const Subspace positions = builder.positions(), answer = builder.add(vocab_size);
  // Only the positions from length to 2 length have counts of the sequence's tokens. The score of
  // this term exceeds the score of every count, which is at most `length`.
  const auto has_count = [=](std::int64_t, std::int64_t key) {
    return key >= length && key < 2 * length ? length + 2 : 0;
  };
  const auto largest = [=](std::int64_t query, std::int64_t count) {
    return count <= query - 2 * length ? count : -1;
  };
  builder.attend({2,
                  0,
                  {{positions, positions, has_count}, {positions, counts.count, largest}},
                  counts.token,
                  answer});
  builder.predict(answer);
  return builder.build();
}

}  // namespace tend::lens
