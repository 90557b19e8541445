#include <algorithm>
#include <cmath>
#include <optional>

#include "examples/train/page/charts.h"
#include "examples/train/page/format.h"

namespace train {

namespace {

/// Points in percent of the plot, 0 0 at the top left, so that the plot can be stretched while its
/// labels are not.
struct Scale {
  bool logarithmic;
  double low;
  double high;

  double height(double loss) const {
    const double share = logarithmic ? std::log(std::max(loss, low) / low) / std::log(high / low)
                                     : (loss - low) / (high - low);
    return 100.0 * (1.0 - std::clamp(share, 0.0, 1.0));
  }
};

/// Means of `bucket` losses each: a long run needs no more points than the screen has.
std::vector<double> thinned(const std::vector<double>& losses, std::size_t bucket) {
  std::vector<double> means;
  for (std::size_t begin = 0; begin < losses.size(); begin += bucket) {
    const std::size_t end = std::min(begin + bucket, losses.size());
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) {
      sum += losses[i];
    }
    means.push_back(sum / static_cast<double>(end - begin));
  }
  return means;
}

/// Each value's mean with its neighbours, about a fortieth of the curve; near the ends the window
/// shrinks, so nothing lags.
std::vector<double> smoothed(const std::vector<double>& curve) {
  std::vector<double> sums{0.0};
  for (const double value : curve) {
    sums.push_back(sums.back() + value);
  }
  std::vector<double> smooth;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const std::size_t reach = std::min({curve.size() / 80, i, curve.size() - 1 - i});
    smooth.push_back((sums[i + reach + 1] - sums[i - reach]) / static_cast<double>(2 * reach + 1));
  }
  return smooth;
}

std::vector<double> log_ticks(double low, double high) {
  std::vector<double> ticks;
  const bool few_decades = high / low < 30;
  const int first = static_cast<int>(std::floor(std::log10(low)));
  const int last = static_cast<int>(std::floor(std::log10(high)));
  for (int decade = first; decade <= last; ++decade) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double tick = factor * std::pow(10.0, decade);
      if ((factor == 1.0 || few_decades) && tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) {
        ticks.push_back(tick);
      }
    }
  }
  return ticks;
}

std::string polyline(const char* kind, const std::vector<double>& curve, std::size_t bucket,
                     double steps, const Scale& scale) {
  std::string points;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const double step = (static_cast<double>(i) + 0.5) * static_cast<double>(bucket);
    points += fixed(100.0 * std::min(step / steps, 1.0), 2) + "," +
              fixed(scale.height(curve[i]), 2) + " ";
  }
  return std::string("<polyline class='") + kind + "' points='" + points + "'/>";
}

std::string at(const char* side, double percent) {
  return std::string(side) + ":" + fixed(percent, 2) + "%";
}

std::string plot(const Report& report, const std::vector<double>& curve, std::size_t bucket,
                 const Scale& scale) {
  const auto steps = static_cast<double>(report.losses.size());
  std::string html =
      std::string("<div class='plot ") + (scale.logarithmic ? "log" : "linear") + "'>";
  for (const double tick :
       scale.logarithmic ? log_ticks(scale.low, scale.high) : linear_ticks(scale.high)) {
    html += "<i class='grid' style='" + at("top", scale.height(tick)) + "'><b>" +
            significant(tick, 6) + "</b></i>";
  }
  for (const double tick : linear_ticks(steps)) {
    html += "<i class='step' style='" + at("left", 100.0 * tick / steps) + "'>" + grouped(tick) +
            "</i>";
  }
  html += "<svg viewBox='0 0 100 100' preserveAspectRatio='none' aria-hidden='true'>";
  html += polyline("raw", curve, bucket, steps, scale) +
          polyline("smooth", smoothed(curve), bucket, steps, scale);
  std::string points;
  for (const Validation& v : report.validations) {
    if (std::isfinite(v.loss)) {
      points += fixed(100.0 * static_cast<double>(v.step) / steps, 2) + "," +
                fixed(scale.height(v.loss), 2) + " ";
    }
  }
  html += "<polyline class='held' points='" + points + "'/></svg>";
  for (const Validation& v : report.validations) {
    if (std::isfinite(v.loss)) {
      html += "<u style='" + at("left", 100.0 * static_cast<double>(v.step) / steps) + ";" +
              at("top", scale.height(v.loss)) + "'></u>";
    }
  }
  return html + "</div>";
}

std::string exact_match_strip(const Report& report) {
  if (report.validations.empty()) {
    return "";
  }
  std::string html = "<div class='strip' aria-label='exact match by step'>";
  for (const Validation& v : report.validations) {
    html += "<i style='--w:" + fixed(v.exact_match, 4) + "' title='step " +
            grouped(static_cast<double>(v.step)) + ": " + percent(v.exact_match) + "'></i>";
  }
  return html +
         "</div><p class='under'><span>Exact match on held-out sequences, from first to last "
         "validation</span><span>" +
         percent(report.validations.front().exact_match) + " → " +
         percent(report.validations.back().exact_match) + "</span></p>";
}

std::string hover_data(const Report& report, const std::vector<double>& curve, std::size_t bucket) {
  std::string html = " data-bucket='" + std::to_string(bucket) + "' data-steps='" +
                     std::to_string(report.losses.size()) + "' data-losses='";
  for (const double loss : curve) {
    html += fixed(loss, 4) + " ";
  }
  html += "' data-held='";
  for (const Validation& v : report.validations) {
    html += std::to_string(v.step) + ":" + fixed(v.loss, 4) + " ";
  }
  return html + "'";
}

}  // namespace

std::vector<double> linear_ticks(double high) {
  const double rough = high / 4.0;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10.0 * power;
  for (const double candidate : {5.0, 2.0, 1.0}) {
    step = candidate * power >= rough ? candidate * power : step;
  }
  std::vector<double> ticks;
  for (int i = 0; i * step <= high * (1 + 1e-9); ++i) {
    ticks.push_back(i * step);
  }
  return ticks;
}

std::string loss_chart(const Report& report) {
  double high = 0;
  std::optional<double> low;
  const auto include = [&](double loss) {
    if (std::isfinite(loss)) {
      high = std::max(high, loss);
      low = loss > 0 ? std::min(low.value_or(loss), loss) : low;
    }
  };
  for (const double loss : report.losses) {
    include(loss);
  }
  for (const Validation& v : report.validations) {
    include(v.loss);
  }
  if (!low) {
    return "<p>No step was taken yet.</p>";
  }
  constexpr std::size_t kMaxPoints = 800;
  const std::size_t bucket = (report.losses.size() + kMaxPoints - 1) / kMaxPoints;
  const std::vector<double> curve = thinned(report.losses, bucket);
  const bool many_decades = high / *low > 30;
  std::string html = "<div class='chart'" + hover_data(report, curve, bucket) + ">";
  html += std::string("<input type='radio' name='scale' id='linear'") +
          (many_decades ? "" : " checked") + "><label for='linear'>linear</label>";
  html += std::string("<input type='radio' name='scale' id='log'") +
          (many_decades ? " checked" : "") + "><label for='log'>logarithmic</label>";
  html += "<span class='key'><i class='train'></i>training<i class='held'></i>held out</span>";
  html += plot(report, curve, bucket, {false, 0.0, high * 1.04});
  html += plot(report, curve, bucket, {true, *low / 1.2, high * 1.2});
  return html + "</div>" + exact_match_strip(report);
}

}  // namespace train
