/// \file
/// Models whose weights are written by hand, so it is known what they compute, and where.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <tend/attention/models/gpt.h>

namespace tend::lens {

/// Some consecutive directions of the residual stream, which has d_model directions.
struct Subspace {
  std::int64_t first = 0;
  std::int64_t size = 0;

  /// Direction i of the subspace.
  Subspace at(std::int64_t i) const { return {first + i, 1}; }
};

/// A term of a head's attention scores: the sum over i and j of query[i] * score(i, j) * key[j].
struct ScoreTerm {
  Subspace query;
  Subspace key;
  std::function<double(std::int64_t i, std::int64_t j)> score;
};

/// A head that attends by the sum of its score terms. It reads `value` from the keys and adds it to
/// `output`, a subspace of the same size.
struct BuiltHead {
  std::int64_t layer = 0;
  std::int64_t head = 0;
  std::vector<ScoreTerm> scores = {};
  Subspace value = {};
  Subspace output = {};
};

/// A table that the layer's feed-forward network computes.
///
/// The table reads a number from one direction of the residual stream. It adds 1 to direction i of
/// `output` if levels[i] is the level nearest to the number. The levels descend. If the number is
/// nearer to 0 than to the last level, the table adds nothing.
struct BuiltTable {
  std::int64_t layer = 0;
  Subspace number = {};
  std::vector<double> levels = {};
  Subspace output = {};
};

/// The options of a ModelBuilder.
struct ModelBuilderOptions {
  std::int64_t vocab_size = 0;
  std::int64_t context_length = 0;
  /// The factor of all scores and logits. In float32, the default makes an attention pattern
  /// one-hot if the largest score exceeds all others by at least 1. If several keys have the
  /// largest score, the pattern is uniform over these keys.
  double sharpness = 100;
};

/// Writes the weights of a GPT, in the manner of RASP (Weiss et al. 2021,
/// https://arxiv.org/abs/2106.06981) and Tracr (Lindner et al. 2023,
/// https://arxiv.org/abs/2301.05062). Heads and tables read and write subspaces of the residual
/// stream:
///
///     lens::ModelBuilder builder({.vocab_size = 10, .context_length = 8});
///     const lens::Subspace positions = builder.positions(), before = builder.add(10);
///     const auto previous = [](auto query, auto key) { return key == query - 1; };
///     builder.attend({.scores = {{positions, positions, previous}},
///                     .value = builder.tokens(),
///                     .output = before});
///     builder.predict(before);
///     const attention::GPT model = builder.build();  // predicts the previous token
///
/// The model has no norms. Without tables it has no feed-forward networks either. Like every GPT,
/// it is causal.
class ModelBuilder {
 public:
  explicit ModelBuilder(const ModelBuilderOptions& options);

  /// The token, one-hot: vocab_size directions.
  Subspace tokens() const { return {0, options_.vocab_size}; }
  /// The position, one-hot: context_length directions.
  Subspace positions() const { return {options_.vocab_size, options_.context_length}; }
  /// New directions. They are 0 until a head or a table writes to them.
  Subspace add(std::int64_t size);

  /// Adds a head. All layers get the same number of heads. A head that was not added attends
  /// uniformly and writes nothing.
  ///
  /// Throws:
  ///   ShapeError - value and output differ in size
  ///   IndexError - the layer or the head is negative
  ///   Error      - the layer already has this head
  void attend(const BuiltHead& head);
  /// Adds a table.
  ///
  /// Throws:
  ///   ShapeError - `number` is not one direction, or `output` is not one direction for each level
  ///   IndexError - the layer is negative
  ///   Error      - the levels do not descend, or the last one is not above 0
  void table(const BuiltTable& table);
  /// Sets the logit of token i to sharpness times direction i of `answer`. Without this call, and
  /// for tokens without a direction, the logit is 0.
  ///
  /// Throws: ShapeError - `answer` has more than vocab_size directions
  void predict(const Subspace& answer);

  /// Returns the model, in float32. This advances the default generator, since creating a GPT draws
  /// random numbers. Throws the errors of GPT.
  attention::GPT build() const;

 private:
  attention::GPTConfig config() const;

  ModelBuilderOptions options_;
  std::int64_t width_;
  std::vector<BuiltHead> heads_;
  std::vector<BuiltTable> tables_;
  Subspace answer_;
};

/// An induction circuit: two layers with two heads each, without feed-forward networks.
///
/// Head 1 of layer 0 copies the previous token. Head 0 of layer 1 attends to keys whose previous
/// token is the query's token, and predicts the keys' tokens. If several keys match, the head
/// attends equally to them. If no key matches, it attends equally to all keys except the first.
///
/// Elhage et al. 2021, https://transformer-circuits.pub/2021/framework; Olsson et al. 2022.
attention::GPT induction_model(std::int64_t vocab_size, std::int64_t context_length,
                               double sharpness = 100);

/// The models below read a sequence of `length` tokens, which are below vocab_size - 1. At all
/// other positions they read the separator, the token vocab_size - 1. The last `length` positions
/// of the context predict the result.
///
/// Only the first separator can affect the result. So generation, which puts predicted tokens in
/// place of other separators, gives the same result.

/// Predicts the sequence in reverse order, with one head. The context_length is 2 length.
attention::GPT reverse_model(std::int64_t vocab_size, std::int64_t length);
/// Predicts, for each token of the sequence, how often the sequence has it. Token n means the
/// number n. Layer 0 copies the token, and layer 1 counts it. The context_length is 2 length.
///
/// Throws: ShapeError - `length` is not below vocab_size
attention::GPT histogram_model(std::int64_t vocab_size, std::int64_t length);
/// Predicts the sequence in ascending order. At the positions from length to 2 length, layer 0
/// copies the token, and layer 1 counts the smaller tokens. Layer 2 predicts token i of the result:
/// it looks for the largest count of at most i. The context_length is 3 length.
attention::GPT sort_model(std::int64_t vocab_size, std::int64_t length);

}  // namespace tend::lens
