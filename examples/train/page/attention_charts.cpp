#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "examples/train/page/charts.h"
#include "examples/train/page/format.h"

namespace train {

namespace {

constexpr int kShades = 16;

/// A weight as a number that is surely within [0, 1].
double share(float weight) {
  return weight > 0 ? std::min(static_cast<double>(weight), 1.0) : 0.0;
}

/// Weights near zero still differ from none, so small ones get more than their part of the kShades.
int shade(float weight) {
  return static_cast<int>(std::lround(kShades * std::pow(share(weight), 0.7)));
}

std::string text(const char* kind, double x, double y, const std::string& label) {
  return std::string("<text class='") + kind + "' x='" + fixed(x, 1) + "' y='" + fixed(y, 1) +
         "'>" + escape_html(label) + "</text>";
}

/// A half ellipse from the query, on the right, over to the key.
std::string arc(double query_x, double key_x, double y, double weight, bool expected) {
  const double radius = (query_x - key_x) / 2;
  std::string path;
  if (radius > 0) {
    path = "M" + fixed(query_x, 1) + " " + fixed(y, 1) + "A" + fixed(radius, 1) + " " +
           fixed(radius * 0.72, 1) + " 0 0 0 " + fixed(key_x, 1) + " " + fixed(y, 1);
  } else {  // a token that looks at itself
    path = "M" + fixed(query_x + 4, 1) + " " + fixed(y, 1) + "c6 -16 -14 -16 -8 0";
  }
  return std::string("<path class='") + (expected ? "arc" : "arc other") + "' d='" + path +
         "' stroke-width='" + fixed(0.6 + 3.0 * weight, 2) + "' opacity='" +
         fixed(0.15 + 0.85 * weight, 2) + "'><title>" + fixed(weight, 3) + "</title></path>";
}

std::string token_box(const AttentionExample& example, std::size_t i, double x, double y,
                      double cell) {
  const bool asked = !example.predictions[i].empty();
  std::string svg = "<rect x='" + fixed(x + 1.5, 1) + "' y='" + fixed(y, 1) + "' width='" +
                    fixed(cell - 3, 1) + "' height='" + fixed(cell, 1) + "' rx='" +
                    fixed(cell / 5, 1) + "'/>" +
                    text("token", x + cell / 2, y + cell / 2, example.inputs[i]);
  if (asked) {
    svg += text(example.correct[i] ? "said" : "said wrong", x + cell / 2, y + cell * 1.75,
                example.predictions[i]);
  }
  return svg;
}

}  // namespace

std::string arc_diagram(const Report& report, std::size_t number) {
  const AttentionExample& example = report.examples.front();
  const HeadFinding& finding = report.findings[number];
  const std::size_t size = example.inputs.size();
  const std::vector<float>& weights = example.weights.at(finding.layer - 1).at(finding.head - 1);
  constexpr double kCell = 30;
  std::map<std::size_t, std::vector<std::size_t>> keys_of;
  double highest = kCell;
  for (const Link& link : example.links.at(number)) {
    keys_of[link.query].push_back(link.key);
  }
  std::map<std::size_t, std::string> arcs_of;
  for (const auto& [query, expected] : keys_of) {
    for (std::size_t key = 0; key <= query; ++key) {
      const double weight = share(weights[query * size + key]);
      if (weight >= 0.04) {
        highest = std::max(highest, static_cast<double>(query - key) * kCell / 2 * 0.72);
        const bool is_expected = std::find(expected.begin(), expected.end(), key) != expected.end();
        arcs_of[query] += arc((static_cast<double>(query) + 0.5) * kCell,
                              (static_cast<double>(key) + 0.5) * kCell, -4, weight, is_expected);
      }
    }
  }
  const double width = static_cast<double>(size) * kCell;
  const double top = -highest - 12;
  std::string svg =
      "<div class='scroll'><svg class='arcs' role='img' data-finding='" + std::to_string(number) +
      "' data-head='" +
      std::to_string((finding.layer - 1) * example.weights.front().size() + finding.head - 1) +
      "' aria-label='" + escape_html(finding.pattern) + "' viewBox='-2 " + fixed(top, 0) + " " +
      fixed(width + 4, 0) + " " + fixed(kCell * 2.3 - top, 0) +
      "' style='min-width:" + std::to_string(size * 17) +
      "px;max-width:" + std::to_string(size * 44) + "px'>";
  for (std::size_t i = 0; i < size; ++i) {
    const auto arcs = arcs_of.find(i);
    const bool asks = keys_of.contains(i);
    const double hue = 250 - 290.0 * static_cast<double>(i) / static_cast<double>(size);
    svg += std::string("<g class='") + (asks ? "query" : "plain") +
           "' style='--h:" + fixed(hue, 0) + "'>" + (arcs == arcs_of.end() ? "" : arcs->second) +
           token_box(example, i, static_cast<double>(i) * kCell, 0, kCell) + "</g>";
  }
  return svg + "</svg></div>";
}

std::string heat_cells(std::span<const float> weights, std::size_t size,
                       std::span<const Link> links) {
  std::array<std::string, kShades + 1> paths;
  for (std::size_t query = 0; query < size; ++query) {
    for (std::size_t key = 0; key <= query;) {
      const int level = shade(weights[query * size + key]);
      std::size_t end = key + 1;
      while (end <= query && shade(weights[query * size + end]) == level) {
        ++end;
      }
      paths[static_cast<std::size_t>(level)] +=
          "M" + std::to_string(key) + " " + std::to_string(query) + "h" +
          std::to_string(end - key) + "v1H" + std::to_string(key) + "z";
      key = end;
    }
  }
  std::string svg;
  for (std::size_t level = 1; level < paths.size(); ++level) {
    if (!paths[level].empty()) {
      svg += "<path fill-opacity='" + fixed(static_cast<double>(level) / kShades, 3) + "' d='" +
             paths[level] + "'/>";
    }
  }
  if (!links.empty()) {
    svg += "<path class='mark' d='";
    for (const Link& link : links) {
      svg += "M" + std::to_string(link.key) + " " + std::to_string(link.query) + "h1v1h-1z";
    }
    svg += "'/>";
  }
  return svg;
}

std::string heat_map(const AttentionExample& example, const std::string& cells) {
  const std::size_t size = example.inputs.size();
  constexpr std::size_t kCell = 16;
  constexpr double kMiddle = kCell / 2.0;
  const std::size_t edge = size * kCell;
  std::string svg =
      "<div class='scroll'><svg class='heat' role='img' aria-label='attention weights' "
      "data-size='" +
      std::to_string(size) + "' viewBox='-34 -24 " + std::to_string(edge + 68) + " " +
      std::to_string(edge + 28) + "' style='min-width:" + std::to_string(size * 11 + 40) +
      "px;max-width:" + std::to_string(size * 26 + 70) + "px'>";
  svg += "<path class='ground' d='M0 0";
  for (std::size_t i = 1; i <= size; ++i) {
    svg += "H" + std::to_string(i * kCell) + "V" + std::to_string(i * kCell);
  }
  svg += "H0z'/><g class='cells' transform='scale(" + std::to_string(kCell) + ")'>" + cells +
         "</g><path class='cross' d=''/>";
  for (std::size_t i = 0; i < size; ++i) {
    const double center = static_cast<double>(i * kCell) + kMiddle;
    svg +=
        text("row", -6, center, example.inputs[i]) + text("column", center, -8, example.inputs[i]);
    if (!example.predictions[i].empty()) {
      svg += text(example.correct[i] ? "said" : "said wrong", static_cast<double>(edge) + 6, center,
                  example.predictions[i]);
    }
  }
  return svg + "</svg></div>";
}

std::string packed_weights(std::span<const float> weights, std::size_t size) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string packed;
  packed.reserve(size * (size + 1));
  for (std::size_t query = 0; query < size; ++query) {
    for (std::size_t key = 0; key <= query; ++key) {
      const auto steps =
          static_cast<std::size_t>(std::lround(share(weights[query * size + key]) * 4095));
      packed += kDigits[steps >> 6];
      packed += kDigits[steps & 63];
    }
  }
  return packed;
}

}  // namespace train
