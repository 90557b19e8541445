#include <algorithm>
#include <cmath>

#include "examples/train/page/charts.h"
#include "examples/train/page/format.h"

namespace train {

namespace {

constexpr std::size_t kNamed = 16;  // heads in the legend: more would be longer than the chart

/// A head's score: a pattern's share or, after the last pattern, the entropy.
double score_of(const HeadScore& score, std::size_t index) {
  return index < score.shares.size() ? score.shares[index] : score.entropy;
}

double hue(std::size_t head, std::size_t heads) {
  return 250.0 - 290.0 * static_cast<double>(head) / static_cast<double>(heads);
}

std::string line(const Report& r, std::size_t head, std::size_t index, double steps, double high) {
  std::string points;
  for (const HeadsAtStep& time : r.over_time) {
    const double score = score_of(time.heads[head], index);
    if (!std::isfinite(score)) continue;
    points += fixed(100.0 * static_cast<double>(time.step) / steps, 2) + "," +
              fixed(100.0 - 100.0 * score / high, 2) + " ";
  }
  return "<polyline style='--h:" + fixed(hue(head, r.scores.size()), 0) + "' points='" + points +
         "'/>";
}

/// The numbers behind a picture, for the script: "step:score,score,... step:...".
std::string numbers(const Report& r, std::size_t index) {
  std::string text;
  for (const HeadsAtStep& time : r.over_time) {
    text += std::to_string(time.step);
    char separator = ':';
    for (const HeadScore& head : time.heads) {
      const double score = score_of(head, index);
      text += separator + (std::isfinite(score) ? fixed(score, 4) : "");
      separator = ',';
    }
    text += ' ';
  }
  return text;
}

std::string lines(const Report& r, std::size_t index) {
  const double steps = static_cast<double>(r.losses.size());
  double high = 0.1;
  for (const HeadsAtStep& time : r.over_time) {
    for (const HeadScore& head : time.heads) {
      const double score = score_of(head, index);
      if (std::isfinite(score)) high = std::max(high, 1.04 * score);
    }
  }
  std::string html = std::string("<div class='plot lines'") + (index == 0 ? "" : " hidden") +
                     " data-scores='" + numbers(r, index) + "'>";
  for (const double tick : linear_ticks(high)) {
    html += "<i class='grid' style='top:" + fixed(100.0 - 100.0 * tick / high, 2) + "%'><b>" +
            significant(tick, 6) + "</b></i>";
  }
  for (const double tick : linear_ticks(steps)) {
    html += "<i class='step' style='left:" + fixed(100.0 * tick / steps, 2) + "%'>" +
            grouped(tick) + "</i>";
  }
  html += "<svg viewBox='0 0 100 100' preserveAspectRatio='none' aria-hidden='true'>";
  for (std::size_t head = 0; head < r.scores.size(); ++head)
    html += line(r, head, index, steps, high);
  return html + "</svg></div>";
}

}  // namespace

std::string heads_over_time(const Report& r) {
  const auto fits = [&r](const HeadsAtStep& time) { return time.heads.size() == r.scores.size(); };
  if (r.scores.empty() || r.over_time.empty() || r.losses.empty() || r.examples.empty() ||
      !std::all_of(r.over_time.begin(), r.over_time.end(), fits)) {
    return "";
  }
  std::string html =
      "<section id='over-time'><h2>Heads over the steps</h2><p class='sequence'><label "
      "for='pattern'>Each head's attention on:</label><select id='pattern'>";
  for (const std::string& pattern : r.patterns)
    html += "<option>" + escape_html(pattern) + "</option>";
  html += "<option>none: its entropy, in nats</option></select></p>";
  for (std::size_t index = 0; index <= r.patterns.size(); ++index) html += lines(r, index);
  html += "<p class='legend'>";
  const std::size_t heads = r.examples.front().weights.front().size();
  for (std::size_t i = 0; i < std::min(kNamed, r.scores.size()); ++i) {
    html += "<span><i style='--h:" + fixed(hue(i, r.scores.size()), 0) + "'></i>" +
            std::to_string(i / heads + 1) + "." + std::to_string(i % heads + 1) + "</span>";
  }
  if (r.scores.size() > kNamed) html += "<span>and so on</span>";
  return html + "</p></section>";
}

}  // namespace train
