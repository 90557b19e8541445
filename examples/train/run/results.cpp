#include "examples/train/run/results.h"

#include <nlohmann/json.hpp>

namespace train {

std::string results_json(const Report& report, std::uint64_t seed) {
  nlohmann::ordered_json results{{"task", report.task},
                                 {"seed", seed},
                                 {"steps", report.steps_done},
                                 {"seconds", report.seconds},
                                 {"tokens_per_second", report.tokens_per_second},
                                 {"exact_match", report.exact_match},
                                 {"validation_loss", report.validation_loss},
                                 {"losses", report.losses},
                                 {"failure", nullptr},
                                 {"best_head", nullptr}};
  if (!report.failure.empty()) results["failure"] = report.failure;
  if (!report.findings.empty()) {
    const HeadFinding& best = report.findings.front();
    results["best_head"] = {{"pattern", best.pattern},
                            {"layer", best.layer},
                            {"head", best.head},
                            {"mean_weight", best.mean_weight}};
  }
  return results.dump(2) + "\n";
}

}  // namespace train
