#include <tend/attention/lens/watch.h>

#include <algorithm>
#include <set>
#include <utility>

#include <tend/autograd/ops/ops.h>
#include <tend/nn/module/evaluation_mode.h>

namespace tend::lens {
namespace {

constexpr const char* kWatch = "Watch";

CacheOptions names_of(const std::vector<WatchedScore>& scores) {
  std::set<std::string> names;
  for (const WatchedScore& each : scores)
    names.insert(each.activations.begin(), each.activations.end());
  return {.names = {names.begin(), names.end()}};
}

}  // namespace

Watch::Watch(nn::ModuleBase& model, std::function<void()> call, std::vector<WatchedScore> scores,
             std::int64_t every)
    : model_(model),
      call_(std::move(call)),
      scores_(std::move(scores)),
      every_(every),
      records_(scores_.size()) {
  if (every < 1) fail(kWatch, "every must be at least 1, got ", every);
}

bool Watch::operator()(std::int64_t step) {
  if (step % every_ != 0) return false;
  const nn::EvaluationMode mode(model_);
  Caching caching(names_of(scores_));
  call_();
  const ActivationCache cache = caching.take();
  std::vector<Tensor> values;
  for (const WatchedScore& each : scores_) values.push_back(each.score(cache).to(float64));
  steps_.push_back(step);
  for (std::size_t i = 0; i < values.size(); ++i) records_[i].push_back(values[i]);
  return true;
}

void Watch::operator()(nn::TrainedStep& step) {
  if (!(*this)(step.step)) return;
  for (std::size_t i = 0; i < scores_.size(); ++i)
    step.scores.emplace_back(scores_[i].name, records_[i].back().to_vector<double>());
}

Tensor Watch::values(std::string_view name) const {
  for (std::size_t i = 0; i < scores_.size(); ++i) {
    if (scores_[i].name != name) continue;
    if (steps_.empty()) fail(kWatch, "nothing was recorded yet");
    return stack(records_[i]);
  }
  fail<IndexError>(kWatch, "there is no score ", name);
}

nn::Chart Watch::chart() const {
  nn::Chart chart{.views = {}, .choice = "Score:"};
  for (std::size_t i = 0; i < scores_.size(); ++i) {
    nn::ChartView& view = chart.views.emplace_back(nn::ChartView{scores_[i].name, {}});
    for (std::size_t at = 0; at < steps_.size(); ++at) {
      const std::vector<double> numbers = records_[i][at].to_vector<double>();
      view.curves.resize(numbers.size());
      for (std::size_t j = 0; j < numbers.size(); ++j) {
        view.curves[j].name = std::to_string(j);
        view.curves[j].x.push_back(static_cast<double>(steps_[at]));
        view.curves[j].y.push_back(numbers[j]);
      }
    }
  }
  return chart;
}

}  // namespace tend::lens
