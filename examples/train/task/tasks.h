#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "examples/train/task/random.h"

namespace train {

/// One sequence. A model reads all tokens except the last, and predicts all except the first.
using Tokens = std::vector<std::int64_t>;

/// Targets with this value have no loss. It is the default of cross_entropy's ignore_index.
inline constexpr std::int64_t kNoTarget = -100;

/// The token at `query` is expected to attend to the token at `key`. Both are positions of the
/// model's input.
struct Link {
  std::size_t query;
  std::size_t key;
};

/// A pattern of attention that a head may have. If a query has several keys, their weights are
/// added.
struct Pattern {
  std::string name;
  std::string words;  ///< A description for the report, in one sentence.
  std::function<std::vector<Link>(const Tokens&)> links;
};

/// A task to learn: it makes sequences, and knows which of their tokens are the answer.
struct Task {
  std::string name;
  std::string goal;                    ///< The task for the report, in one sentence.
  std::vector<std::string> labels;     ///< The text of each token on an axis.
  std::vector<std::string> spellings;  ///< The text of each token in running text.
  std::size_t group = 0;  ///< In running text, a space follows every `group` tokens; 0: no spaces.
  std::vector<bool> is_answer;    ///< For each token of a sequence: true if it is predicted.
  std::uint64_t fingerprint = 0;  ///< A hash of the text; 0 for other tasks.
  std::size_t prompt = 0;         ///< The number of tokens that a sample shows as the question.
  /// The tokens at the end of the text that are too few for another held-out sequence. The token
  /// before them comes first, so that the first of them can be predicted, too.
  Tokens rest;
  std::vector<Pattern> patterns;  ///< The most informative pattern comes first.

  /// Returns a sequence to train on. It is never a held-out sequence.
  std::function<Tokens(Random&)> draw;
  /// Returns `count` sequences that `draw` cannot return. A text may have fewer of them.
  std::function<std::vector<Tokens>(Random&, std::size_t count)> held_out;

  /// Number of tokens that the model sees.
  std::size_t context() const { return is_answer.size() - 1; }
};

/// The patterns that are measured for every task: attention to the previous token, to the first
/// token, to earlier copies of the token, and to the tokens that followed these copies. With the
/// last pattern, a model continues a sequence that it has seen before.
std::vector<Pattern> general_patterns();

/// The task's own patterns, then the general patterns whose names the task does not use.
std::vector<Pattern> all_patterns(const Task& task);

/// Makes one of the tasks of task_names(), with sequences of `length` symbols, digits or pairs.
///
/// Throws:
///   std::invalid_argument - the name is unknown
///   std::invalid_argument - the length is too large, or too small to hold sequences out
Task make_task(std::string_view name, std::size_t length);

/// Reads all bytes of a file or pipe.
///
/// Throws: std::runtime_error - the file cannot be read, or has more than 2^30 bytes
std::string read_text_file(const std::string& path);

/// Makes a task of language modelling, byte by byte. The last tenth of `text` is held out.
///
/// Each held-out sequence begins with the last byte of the previous one, and the first with the
/// last byte that is not held out, so that each held-out byte is predicted once.
///
/// Throws: std::runtime_error - the last tenth, or `context`, is too short for one sequence
Task make_text_task(std::string_view text, std::size_t context);

/// True if a question is held out, so never trained on. A hash of its tokens selects one in 32.
bool is_held_out(std::span<const std::int64_t> question);

/// The tokens of a sequence that are given and not predicted.
Tokens question_of(const Tokens& sequence, const std::vector<bool>& is_answer);

/// The tokens from `begin` to `end` - 1, as one line of text.
std::string spell(const Task& task, const Tokens& sequence, std::size_t begin, std::size_t end);

/// The tokens of the bytes of a text.
///
/// Throws: std::invalid_argument - the task has no token for a byte
Tokens encode(const Task& task, std::string_view text);

/// A batch of sequences for the model: row-major (size, length).
struct Batch {
  std::size_t size;
  std::size_t length;
  Tokens inputs;
  Tokens targets;  ///< kNoTarget at positions without an answer.
};

/// Makes a batch of sequences. All must have the same length, which may be shorter than the task's.
Batch make_batch(const Task& task, std::span<const Tokens> sequences);

/// The batch of a training step. It depends only on the seed, the step and the size.
Batch training_batch(const Task& task, std::uint64_t seed, std::uint64_t step, std::size_t size);

}  // namespace train
