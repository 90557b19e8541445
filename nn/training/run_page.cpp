#include <tend/nn/training/run_page.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include <tend/core/base/error.h>
#include <tend/nn/training/run_page_script.h>

namespace tend::nn {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostPoints = 800;  // a screen cannot show more

/// The value rounded to four digits, which take less space in the page.
double rounded(double value) {
  char digits[32];
  const auto [end, error] =
      std::to_chars(digits, std::end(digits), value, std::chars_format::general, 4);
  std::from_chars(digits, end, value);
  return value;
}

/// Replaces a long curve with is_smoothed by the means of groups of neighbouring points, at most
/// kMostPoints. Returns other curves as they are.
Curve thinned(const Curve& curve) {
  const std::size_t size = std::min(curve.x.size(), curve.y.size());
  const std::size_t bucket = (size + kMostPoints - 1) / kMostPoints;
  if (!curve.is_smoothed || bucket < 2) return curve;
  Curve means = curve;
  means.x.clear();
  means.y.clear();
  for (std::size_t begin = 0; begin < size; begin += bucket) {
    const std::size_t end = std::min(begin + bucket, size);
    double x = 0, y = 0;
    for (std::size_t i = begin; i < end; ++i) {
      x += curve.x[i];
      y += curve.y[i];
    }
    means.x.push_back(x / static_cast<double>(end - begin));
    means.y.push_back(y / static_cast<double>(end - begin));
  }
  return means;
}

Json json_of(const ChartView& view) {
  Json curves = Json::array();
  for (const Curve& each : view.curves) {
    const Curve curve = thinned(each);
    curves.push_back({{"name", curve.name},
                      {"x", curve.x},
                      {"y", curve.y},  // NaN becomes null
                      {"smoothed", curve.is_smoothed},
                      {"marked", curve.is_marked}});
  }
  return {{"name", view.name}, {"curves", curves}};
}

std::string file_name_of(std::string_view heading) {
  std::string name;
  for (const char c : heading) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    name += is_letter ? static_cast<char>(c | 0x20) : '-';
  }
  return name;
}

}  // namespace

std::string RunPage::escaped(std::string_view text) {
  // Conversion to JSON and back replaces bytes that are not UTF-8.
  const std::string json = Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string safe;
  for (const char c : Json::parse(json).get<std::string>()) {
    switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '"': safe += "&quot;"; break;
      case '\'': safe += "&#39;"; break;
      default: safe += c >= 0 && c < ' ' && c != '\n' && c != '\t' ? ' ' : c;
    }
  }
  return safe;
}

std::string RunPage::data(std::string_view json) {
  std::string html = "<script type='application/json'>";
  for (const char c : json) {
    if (c == '<') {  // "</script>" would end the element
      html += "\\u003c";
    } else {
      html += c;
    }
  }
  return html + "</script>";
}

RunPage::RunPage(std::string_view title, std::string_view goal) : title_(escaped(title)) {
  body_ = "<header><p class='above'>tend</p><h1>" + title_ + "</h1><p class='goal'>" +
          escaped(goal) +
          "</p><button id='theme' title='light or dark' aria-label='light or dark'>◐</button>"
          "</header><noscript><p class='note'>The charts need JavaScript.</p></noscript>";
}

void RunPage::add_text(std::string_view text) {
  body_ += "<p class='soft'>" + escaped(text) + "</p>";
}

void RunPage::add_note(std::string_view text) {
  body_ += "<p class='note'>" + escaped(text) + "</p>";
}

void RunPage::add_figures(
    const std::vector<std::pair<std::string, std::string>>& values_and_meanings) {
  body_ += "<div class='tiles'>";
  for (const auto& [value, meaning] : values_and_meanings)
    body_ += "<div><b>" + escaped(value) + "</b><span>" + escaped(meaning) + "</span></div>";
  body_ += "</div>";
}

void RunPage::add_list(std::string_view heading,
                       const std::vector<std::pair<std::string, std::string>>& names_and_values) {
  std::string html = "<dl class='list'>";
  for (const auto& [name, value] : names_and_values)
    html += "<div><dt>" + escaped(name) + "</dt><dd>" + escaped(value) + "</dd></div>";
  add_section(heading, html + "</dl>");
}

void RunPage::add_chart(std::string_view heading, const Chart& chart, std::string_view html_below) {
  Json views = Json::array();
  std::string choice = "<p class='choice'><label>" + escaped(chart.choice) + " <select>";
  for (const ChartView& view : chart.views) {
    views.push_back(json_of(view));
    choice += "<option>" + escaped(view.name) + "</option>";
  }
  const Json json{{"name", file_name_of(heading)},
                  {"log", chart.has_log_scale},
                  {"bars", chart.has_bars},
                  {"x", chart.x_name},
                  {"views", views}};
  std::string html;
  if (chart.views.size() > 1) html += choice + "</select></label></p>";
  if (chart.has_log_scale)
    html += "<p class='scale'><button>linear</button><button>logarithmic</button></p>";
  html += "<div class='chart'><svg role='img' aria-label='" + escaped(heading) + "'></svg>" +
          data(json.dump(-1, ' ', false, Json::error_handler_t::replace)) + "</div>";
  add_section(heading, html.append(html_below));
}

void RunPage::add_maps(std::string_view heading, const Maps& maps, std::string_view html_below) {
  std::size_t size = maps.rows.size() * maps.columns.size();
  std::string html = maps.choices.empty() ? "" : "<p class='choice'>";
  Json choices = Json::array(), values = Json::array();
  for (const Choice& choice : maps.choices) {
    size *= choice.names.size();
    choices.push_back({{"label", choice.label}, {"names", choice.names}});
    html += "<label>" + escaped(choice.label) + " <select>";
    for (std::size_t i = 0; i < choice.names.size(); ++i)
      html += (i == choice.first ? "<option selected>" : "<option>") + escaped(choice.names[i]) +
              "</option>";
    html += "</select></label>";
  }
  if (!maps.choices.empty()) html += "</p>";
  if (maps.values.size() != size) {
    throw ShapeError(as_text("[RunPage.add_maps] the maps must have ", size,
                             " values together, but have ", maps.values.size()));
  }
  for (const double value : maps.values) values.push_back(rounded(value));
  const Json json{{"name", file_name_of(heading)},
                  {"choices", choices},
                  {"rows", maps.rows},
                  {"columns", maps.columns},
                  {"rowName", maps.row_name},
                  {"columnName", maps.column_name},
                  {"values", values}};
  html += "<div class='map'><div class='map-scroll'><svg role='img' aria-label='" +
          escaped(heading) + "'></svg></div>" +
          data(json.dump(-1, ' ', false, Json::error_handler_t::replace)) +
          "</div><p class='readout soft'>Point at a square to read its value.</p>";
  add_section(heading, html.append(html_below));
}

void RunPage::add_table(std::string_view heading, const std::vector<std::string>& header,
                        const std::vector<std::vector<std::string>>& rows,
                        std::string_view html_below) {
  std::string html =
      "<div class='table-scroll'><table data-name='" + file_name_of(heading) + "'><tr>";
  for (const std::string& cell : header) html += "<th>" + escaped(cell) + "</th>";
  for (const std::vector<std::string>& row : rows) {
    if (row.size() != header.size()) {
      throw ShapeError(as_text("[RunPage.add_table] a row must have ", header.size(),
                               " cells like the header, but has ", row.size()));
    }
    html += "</tr><tr>";
    for (const std::string& cell : row) html += "<td>" + escaped(cell) + "</td>";
  }
  html += "</tr></table></div>";
  add_section(heading, html.append(html_below));
}

void RunPage::add_section(std::string_view heading, std::string_view html) {
  body_ += "<section><h2>" + escaped(heading) + "</h2>";
  body_.append(html) += "</section>";
}

std::string RunPage::html() const {
  std::string page =
      "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'><meta name='viewport' "
      "content='width=device-width,initial-scale=1'><meta name='color-scheme' "
      "content='light dark'><title>" +
      title_ + " · tend</title><style>";
  page.append(detail::run_page_style()) +=
      style_ + "</style></head>\n<body>" + body_ +
      "<footer>Made by tend; this file needs no network.</footer>\n<script>";
  page.append(detail::run_page_script()) += script_ + "</script></body></html>\n";
  return page;
}

}  // namespace tend::nn
