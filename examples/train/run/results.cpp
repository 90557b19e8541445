#include "examples/train/run/results.h"

#include <nlohmann/json.hpp>

namespace train {

namespace {

using Json = nlohmann::ordered_json;

Json validations_of(const Report& report) {
  Json list = Json::array();
  for (const Validation& v : report.validations)
    list.push_back({{"step", v.step}, {"loss", v.loss}, {"exact_match", v.exact_match}});
  return list;
}

Json checks_of(const Report& report) {
  Json list = Json::array();
  for (const Check& c : report.checks)
    list.push_back({{"step", c.step}, {"exact_match", c.exact_match}});
  return list;
}

Json heads_of(const Report& report, std::size_t heads) {
  Json list = Json::array();
  for (std::size_t i = 0; i < report.scores.size(); ++i) {
    Json shares;
    for (std::size_t p = 0; p < report.patterns.size(); ++p)
      shares[report.patterns[p]] = report.scores[i].shares[p];
    list.push_back({{"layer", i / heads + 1},
                    {"head", i % heads + 1},
                    {"patterns", shares},
                    {"entropy", report.scores[i].entropy}});
  }
  return list;
}

Json best_head_of(const Report& report) {
  if (report.findings.empty()) return nullptr;
  const HeadFinding& best = report.findings.front();
  return {{"pattern", best.pattern},
          {"layer", best.layer},
          {"head", best.head},
          {"mean_weight", best.mean_weight}};
}

}  // namespace

std::string results_json(const Report& report, const Options& options) {
  const bool is_complete = report.steps_done >= report.steps_planned;
  const Json results{{"task", report.task},
                     {"seed", options.seed},
                     {"settings", Json::parse(options_to_json(options))},
                     {"steps", report.steps_done},
                     {"seconds", report.seconds},
                     {"tokens_per_second", report.tokens_per_second},
                     {"exact_match", report.exact_match},
                     {"validation_loss", report.validation_loss},
                     {"held_out", report.held_out},
                     {"learned", is_complete ? Json(report.verdict.empty()) : Json()},
                     {"failure", report.failure.empty() ? Json() : Json(report.failure)},
                     {"best_head", best_head_of(report)},
                     {"heads", heads_of(report, options.heads)},
                     {"validations", validations_of(report)},
                     {"checks", checks_of(report)},
                     {"losses", report.losses}};
  return results.dump(2) + "\n";
}

}  // namespace train
