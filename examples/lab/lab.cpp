#include "examples/lab/lab.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <locale>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include <tend/nn/training/progress_line.h>

namespace lab {

using tend::nn::Chart;
using tend::nn::Maps;
using tend::nn::RunPage;

namespace {

using Json = nlohmann::ordered_json;

tend::nn::ProgressLine& progress() {
  static tend::nn::ProgressLine line;
  return line;
}

void add_section(RunPage& page, const Section& section) {
  const std::string text =
      section.text.empty() ? "" : "<p class='soft'>" + RunPage::escaped(section.text) + "</p>";
  if (const auto* chart = std::get_if<Chart>(&section.content)) {
    page.add_chart(section.heading, *chart, text);
  } else if (const auto* maps = std::get_if<Maps>(&section.content)) {
    page.add_maps(section.heading, *maps, text);
  } else {
    const auto& table = std::get<Table>(section.content);
    page.add_table(section.heading, table.header, table.rows, text);
  }
}

std::string page_of(const Experiment& experiment, const Call& call, const Findings& findings,
                    double seconds) {
  RunPage page(experiment.title, experiment.question);
  page.add_text("Source: " + experiment.source);
  if (call.quick)
    page.add_note("This run has a small size, to test the program. Its results mean nothing.");
  Table table{{"", "published", "here", ""}, {}};
  for (const Row& row : findings.rows)
    table.rows.push_back({row.what, row.published, row.reached, verdict(row.passed)});
  page.add_table("Published and here", table.header, table.rows);
  for (const Section& section : findings.sections) add_section(page, section);
  auto settings = experiment.settings;
  settings.emplace_back("seed", std::to_string(call.seed));
  settings.emplace_back("seconds", seconds_text(seconds));
  page.add_list("Settings", settings);
  return page.html();
}

Json json_of(const Chart& chart, const std::string& heading) {
  Json views = Json::array();
  for (const auto& view : chart.views) {
    Json curves = Json::array();
    for (const auto& curve : view.curves)
      curves.push_back({{"name", curve.name}, {"x", curve.x}, {"y", curve.y}});
    views.push_back({{"name", view.name}, {"curves", curves}});
  }
  return {{"heading", heading}, {"x", chart.x_name}, {"views", views}};
}

std::string json_of(const Experiment& experiment, const Call& call, const Findings& findings,
                    double seconds) {
  Json rows = Json::array(), charts = Json::array();
  for (const Row& row : findings.rows) {
    rows.push_back({{"what", row.what}, {"published", row.published}, {"reached", row.reached}});
    rows.back()["passed"] = row.passed ? Json(*row.passed) : Json(nullptr);
  }
  for (const Section& section : findings.sections) {
    if (const auto* chart = std::get_if<Chart>(&section.content))
      charts.push_back(json_of(*chart, section.heading));
  }
  return Json{{"experiment", experiment.name},
              {"title", experiment.title},
              {"quick", call.quick},
              {"seed", call.seed},
              {"seconds", seconds},
              {"rows", rows},
              {"charts", charts}}
      .dump(1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string number(double value, int digits) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  const bool is_small = value != 0 && std::abs(value) < 0.5 * std::pow(10.0, -digits);
  text << (is_small ? std::scientific : std::fixed) << std::setprecision(is_small ? 1 : digits)
       << value;
  return text.str();
}

std::string seconds_text(double seconds) {
  return number(std::max(seconds, 0.1), 1);
}

std::string verdict(std::optional<bool> passed) {
  if (!passed) return "";
  return *passed ? "reached" : "not reached";
}

void Findings::compare(const std::string& what, double published, double reached, double tolerance,
                       int digits) {
  add(what, number(published, digits), number(reached, digits),
      std::abs(published - reached) <= tolerance);
}

void Findings::compare_text(const std::string& what, const std::string& published,
                            const std::string& reached) {
  add(what, published, reached, published == reached);
}

void Findings::add(std::string what, std::string published, std::string reached,
                   std::optional<bool> passed) {
  rows.push_back({std::move(what), std::move(published), std::move(reached), passed});
}

void Findings::show(std::string heading, std::variant<Chart, Maps, Table> content,
                    std::string text) {
  sections.push_back({std::move(heading), std::move(content), std::move(text)});
}

void show_progress(const std::string& text) {
  progress().show_when_due(text);
}

Program::Program(Experiment experiment)
    : experiment_(std::move(experiment)),
      line_(experiment_.name, experiment_.question + "\nSource: " + experiment_.source) {
  call_.seed = experiment_.seed;
  line_.add_flag("--quick", call_.quick, "Run at a small size, which only tests the program");
  line_.add_whole("--seed", call_.seed, "Seed of all random numbers")
      .default_text(std::to_string(experiment_.seed));
  line_.add_threads();
  line_.add_json(json_);
  line_.add_text("--out", call_.out, "Folder for the page (default: the current folder)");
}

int Program::run(int argc, const char* const* argv,
                 const std::function<Findings(const Call&)>& work) {
  return line_.run(argc, argv, [&] {
    program::check_can_write(json_);
    if (!call_.out.empty()) std::filesystem::create_directories(call_.out);
    const auto start = std::chrono::steady_clock::now();
    const Findings findings = work(call_);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    progress().clear();
    return finish(findings, took.count());
  });
}

int Program::finish(const Findings& findings, double seconds) const {
  bool all_passed = true;
  std::cout << experiment_.title << '\n';
  for (const Row& row : findings.rows) {
    std::cout << "  " << row.what << ": " << row.reached;
    if (!row.published.empty()) std::cout << " (published " << row.published << ')';
    if (row.passed) std::cout << "  " << verdict(row.passed);
    std::cout << '\n';
    all_passed = all_passed && row.passed.value_or(true);
  }
  const std::string page =
      (std::filesystem::path(call_.out) / (experiment_.name + ".html")).string();
  tend::nn::write_file(page, page_of(experiment_, call_, findings, seconds));
  program::write_results(json_, [&] { return json_of(experiment_, call_, findings, seconds); });
  std::cout << "  " << seconds_text(seconds) << " s; wrote " << page << '\n';
  return all_passed || call_.quick ? 0 : 1;
}

}  // namespace lab
