#include <cmath>

#include "campaign.h"
#include "comparison.h"

using nlohmann::json;

namespace fuzz {
namespace {

// Whether PyTorch refuses an in-place write, or a backward because of one: it keeps other tensors
// than tend, and its results may share elements that tend's do not.
bool is_about_writes(const std::string& error) {
  return error.find("inplace operation") != std::string::npos ||
         error.find("written-to tensor") != std::string::npos;
}

class TensorCampaign final : public Campaign {
 public:
  void run(std::uint64_t first, std::uint64_t count, const Torch& torch) override {
    std::vector<Program> batch;
    std::vector<json> texts;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t seed = first + i;  // after the largest comes 0
      const Program& program = batch.emplace_back(seed);
      texts.push_back({{"seed", seed},
                       {"python", program.python()},
                       {"outputs", program.outputs()},
                       {"leaves", program.leaves()}});
    }
    const std::vector<json> outcomes = run_in_torch(texts, torch.python, torch.script);
    for (std::size_t i = 0; i < batch.size(); ++i) compare(batch[i], reference_from(outcomes[i]));
  }

  json counts() const override {
    return {{"operations", steps_},
            {"compared", compared_},
            {"refused", refused_},
            {"refused_here_only", stricter_},
            {"refused_by_torch", torch_refused_},
            {"too_large", wild_},
            {"not_finite_in_torch_only", not_finite_in_torch_}};
  }

  std::string show(std::uint64_t seed) const override { return Program(seed).python(); }

 private:
  void compare(const Program& program, const Reference& reference) {
    const Outcome outcome = program.run();
    ++programs_;
    steps_ += program.operations().size();
    if (outcome.kind == Outcome::Kind::wild) {
      ++wild_;
      // NaN here must be NaN there, and large here large there.
      const double size = largest_magnitude(reference.outcome);
      if (reference.error.empty() && size < 100) {
        findings_.push_back({program.seed(), "numbers are huge or NaN here only"});
      }
    } else if (outcome.kind == Outcome::Kind::refused) {
      ++refused_;
      if (reference.error.empty()) stricter_.push_back(program.seed());
    } else if (!reference.error.empty()) {
      ++torch_refused_;
      if (!is_about_writes(reference.error)) findings_.push_back({program.seed(), reference.error});
    } else if (std::isnan(largest_magnitude(reference.outcome))) {
      not_finite_in_torch_.push_back(program.seed());
    } else {
      ++compared_;
      const auto text = difference(program, outcome, reference.outcome);
      if (text) findings_.push_back({program.seed(), *text});
      stored_.push_back({{"seed", program.seed()},
                         {"fingerprint", fingerprint(program.python())},
                         {"outcome", to_json(reference.outcome)}});
    }
  }

  std::uint64_t steps_ = 0, compared_ = 0, refused_ = 0, wild_ = 0, torch_refused_ = 0;
  std::vector<std::uint64_t> stricter_;  // seeds of those refused here, and not in PyTorch
  std::vector<std::uint64_t> not_finite_in_torch_;
};

}  // namespace

std::unique_ptr<Campaign> tensor_campaign() {
  return std::make_unique<TensorCampaign>();
}

}  // namespace fuzz
