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

/// One sequence. A model sees all but the last token and predicts all but the first.
using Tokens = std::vector<std::int64_t>;

/// Targets with this value carry no loss; it is cross_entropy's own ignore_index.
inline constexpr std::int64_t kNoTarget = -100;

/// "The token at `query` is expected to look at the one at `key`": positions of the model's input.
struct Link {
  std::size_t query;
  std::size_t key;
};

/// What a head may turn out to do on a task. Where a query has several keys, their weights add up.
struct Pattern {
  std::string name;
  std::string words;  ///< One sentence for the report.
  std::function<std::vector<Link>(const Tokens&)> links;
};

/// A problem to learn: where sequences come from and which of their tokens are the answer.
struct Task {
  std::string name;
  std::string goal;                    ///< One sentence for the report.
  std::vector<std::string> labels;     ///< How each token is shown alone, on an axis.
  std::vector<std::string> spellings;  ///< What each token contributes to running text.
  std::size_t group = 0;  ///< In running text, a space follows every `group` tokens; 0 means none.
  std::vector<bool> is_answer;  ///< For each token of a sequence: is it predicted, with loss on it?
  std::uint64_t fingerprint = 0;  ///< Of the text; 0 for the tasks that need none.
  std::size_t prompt = 0;  ///< How many tokens a person sees as the question, before the rest.
  Tokens rest;  ///< Of a text: its end, after the token before it, too short for a sequence.
  std::vector<Pattern> patterns;  ///< The most telling first.

  /// A sequence to train on; never one of the held-out ones.
  std::function<Tokens(Random&)> draw;
  /// `count` sequences that `draw` cannot return (for text: at most as many as the held-out part
  /// has).
  std::function<std::vector<Tokens>(Random&, std::size_t count)> held_out;

  /// Number of tokens that the model sees.
  std::size_t context() const { return is_answer.size() - 1; }
};

/// What attention is looked at for in any task: the token before, the first, a token's own copies,
/// and what followed them (which is how a model continues what it has seen before).
std::vector<Pattern> general_patterns();

/// The task's own patterns, then the general ones of other names.
std::vector<Pattern> all_patterns(const Task& task);

/// One of task_names(), with sequences of `length` symbols, digits or pairs.
/// Throws std::invalid_argument for an unknown name, or a length too small to hold anything out or
/// too large for the task.
Task make_task(std::string_view name, std::size_t length);

/// All bytes of a file or pipe. Throws std::runtime_error where it cannot be read, or has more than
/// 2^30 bytes.
std::string read_text_file(const std::string& path);

/// Byte by byte language modelling: the last tenth of `text` is held out. Its sequences begin with
/// the byte before, so that each of its bytes is predicted once.
/// Throws std::runtime_error if that tenth, or `context`, is too short for one sequence.
Task make_text_task(std::string_view text, std::size_t context);

/// One bucket of 32, chosen by a hash of the question's tokens, is never trained on.
bool is_held_out(std::span<const std::int64_t> question);

/// The tokens of a sequence that are given, not predicted.
Tokens question_of(const Tokens& sequence, const std::vector<bool>& is_answer);

/// The tokens from `begin` to before `end`, as one line of text.
std::string spell(const Task& task, const Tokens& sequence, std::size_t begin, std::size_t end);

/// The tokens of a text's bytes. Throws std::invalid_argument for a byte that is not among the
/// task's.
Tokens encode(const Task& task, std::string_view text);

/// Sequences side by side, as the model takes them: row-major (size, length).
struct Batch {
  std::size_t size;
  std::size_t length;
  Tokens inputs;
  Tokens targets;  ///< kNoTarget where nothing is to be predicted.
};

/// The sequences are of one length, which is the task's or shorter.
Batch make_batch(const Task& task, std::span<const Tokens> sequences);

/// The batch of a training step: the same for the same seed, step and size.
Batch training_batch(const Task& task, std::uint64_t seed, std::uint64_t step, std::size_t size);

}  // namespace train
