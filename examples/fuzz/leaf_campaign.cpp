#include <deque>

#include "campaign.h"
#include "comparison.h"
#include "leaf_comparison.h"

using nlohmann::json;

namespace fuzz {
namespace {

class LeafCampaign final : public Campaign {
 public:
  void run(std::uint64_t first, std::uint64_t count, const Torch& torch) override {
    std::deque<LeafProgram> batch;
    std::vector<json> texts;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t seed = first + i;  // after the largest comes 0
      const LeafProgram& program = batch.emplace_back(seed);
      json statements = json::array();
      for (const Statement& each : program.statements()) statements.push_back(each.python);
      texts.push_back({{"seed", seed}, {"statements", statements}});
    }
    const std::vector<json> outcomes = run_in_torch(texts, torch.python, torch.script);
    for (std::size_t i = 0; i < batch.size(); ++i) compare(batch[i], outcomes[i]);
  }

  json counts() const override {
    return {{"statements", counts_.statements},
            {"failed_in_both", counts_.failed},
            {"refused_here_only", counts_.refused}};
  }

  std::string show(std::uint64_t seed) const override {
    const LeafProgram program(seed);
    std::string text;
    for (const Statement& each : program.statements()) {
      text += each.python + '\n';
      if (!each.error.empty()) text += "    # fails: " + each.error + '\n';
    }
    return text;
  }

 private:
  void compare(const LeafProgram& program, const json& outcome) {
    ++programs_;
    if (outcome.contains("error")) {
      findings_.push_back({program.seed(), outcome["error"].get<std::string>()});
      return;
    }
    const std::vector<Expected> expected = expected_from(outcome);
    counts_.add(expected);
    if (const auto text = difference(program, expected))
      findings_.push_back({program.seed(), *text});
    stored_.push_back({{"seed", program.seed()},
                       {"fingerprint", fingerprint(program.python())},
                       {"statements", outcome["statements"]}});
  }

  LeafCounts counts_;
};

}  // namespace

std::unique_ptr<Campaign> leaf_campaign() {
  return std::make_unique<LeafCampaign>();
}

}  // namespace fuzz
