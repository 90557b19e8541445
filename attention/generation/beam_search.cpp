#include <tend/attention/generation/beam_search.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include <tend/attention/generation/continuation.h>
#include <tend/attention/generation/sampling.h>
#include <tend/autograd/ops/ops.h>
#include <tend/autograd/tensor/grad_mode.h>

namespace tend::attention {
namespace {

// A running sequence with a next token. It may become a new beam.
struct Candidate {
  double log_probability;  // of all its new tokens
  std::int64_t row;        // the index of the running sequence
  std::int64_t token;
};

struct Finished {
  double score;
  TokenSequence tokens;
};

class Beams {
 public:
  Beams(const GPT& model, const TokenSequence& prompt, std::size_t number,
        const GenerateOptions& options)
      : options_(options),
        name_(as_text("prompt ", number, ", beam")),
        prompt_(prompt.size()),
        running_(model, {prompt}, options.max_new_tokens, options.use_cache),
        log_probabilities_{0.0} {}

  std::vector<TokenSequence> search() {
    for (std::int64_t step = 0; step < options_.max_new_tokens && !is_done(); ++step) advance();
    finish_running();
    std::vector<TokenSequence> best;
    for (Finished& each : finished_) {
      if (std::ssize(best) < options_.num_samples) best.push_back(std::move(each.tokens));
    }
    return best;
  }

 private:
  // A beam can lose one candidate to each stop token. So it needs one candidate more than there are
  // stop tokens, and at least 2.
  std::int64_t candidates_per_beam() const {
    const std::set<std::int64_t> stops(options_.stop_tokens.begin(), options_.stop_tokens.end());
    return std::max<std::int64_t>(2, 1 + std::ssize(stops));
  }

  std::vector<Candidate> best_candidates() {
    const NoGradGuard no_graph;
    const Tensor logits = running_.logits();
    check_logits(logits, running_.sequences(), name_);
    const Tensor steps = penalized(log_softmax(logits.to(float64), -1), running_.sequences(),
                                   options_.repetition_penalty);
    const Tensor all =
        (steps + tensor(log_probabilities_, {std::ssize(log_probabilities_), 1}, float64))
            .flatten();
    const std::int64_t count = all.size(0);
    const std::int64_t beams = std::min(options_.num_beams, count);
    const auto best = topk(all, std::min(candidates_per_beam() * beams, count));
    const auto sums = best.values.to_vector<double>();
    const auto places = best.indices.to_vector<std::int64_t>();
    std::vector<Candidate> candidates;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      candidates.push_back({sums[i], places[i] / steps.size(1), places[i] % steps.size(1)});
    }
    return candidates;
  }

  void advance() {
    std::vector<std::int64_t> rows, tokens;
    std::vector<double> sums;
    std::int64_t rank = 0;
    for (const Candidate& each : best_candidates()) {
      if (is_stop(each.token, options_)) {
        // A stop token counts only if it is among the best num_beams candidates.
        if (rank < options_.num_beams) finish(each);
      } else if (std::ssize(rows) < options_.num_beams) {
        rows.push_back(each.row);
        tokens.push_back(each.token);
        sums.push_back(each.log_probability);
      }
      ++rank;
    }
    is_dead_ = rows.empty();
    if (is_dead_) return;
    running_.reorder(rows);
    running_.append(tokens);
    log_probabilities_ = std::move(sums);
  }

  double score(double log_probability, std::size_t length) const {
    return log_probability /
           std::pow(static_cast<double>(length - prompt_), options_.length_penalty);
  }

  void keep(double log_probability, TokenSequence tokens) {
    const double value = score(log_probability, tokens.size());
    const auto worse = [&](const Finished& other) { return other.score < value; };
    finished_.insert(std::find_if(finished_.begin(), finished_.end(), worse),
                     {value, std::move(tokens)});
    if (std::ssize(finished_) > options_.num_beams) finished_.pop_back();
  }

  void finish(const Candidate& each) {
    TokenSequence tokens = running_.sequences()[static_cast<std::size_t>(each.row)];
    tokens.push_back(each.token);
    keep(each.log_probability, std::move(tokens));
  }

  // True if the best running sequence, ended now, would score no higher than the worst finished
  // one.
  bool is_done() const {
    if (is_dead_) return true;
    if (std::ssize(finished_) < options_.num_beams) return false;
    const std::size_t length = running_.sequences()[0].size();
    return finished_.back().score >= score(log_probabilities_[0], length);
  }

  void finish_running() {
    if (is_dead_) return;
    for (std::size_t i = 0; i < log_probabilities_.size(); ++i) {
      keep(log_probabilities_[i], running_.sequences()[i]);
    }
  }

  const GenerateOptions& options_;
  std::string name_;  // start of a sequence's name in messages, such as "prompt 0, beam"
  std::size_t prompt_;
  Continuation running_;
  std::vector<double> log_probabilities_;  // one for each running sequence, best first
  std::vector<Finished> finished_;         // best first
  bool is_dead_ = false;                   // every candidate was a stop token
};

}  // namespace

std::vector<TokenSequence> beam_search(const GPT& model, const std::vector<TokenSequence>& prompts,
                                       std::size_t i, const GenerateOptions& options) {
  return Beams(model, prompts[i], i, options).search();
}

}  // namespace tend::attention
