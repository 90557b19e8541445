// Compares runs of an experiment: their rows in one table, and their curves in common charts.

#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include "examples/lab/lab.h"

#include <nlohmann/json.hpp>

namespace {

using Json = nlohmann::json;

/// The results that an experiment wrote with --json, and their name on the page.
struct Run {
  std::string name;
  Json json;
};

Run read(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + " cannot be read");
  Run run{std::filesystem::path(path).replace_extension().string(),
          Json::parse(file, nullptr, false)};
  if (!run.json.contains("rows") || !run.json.contains("charts"))
    throw std::runtime_error(path + " is not what an experiment writes with --json");
  return run;
}

/// The numbers of a JSON array. null becomes NaN.
std::vector<double> numbers(const Json& array) {
  std::vector<double> values;
  for (const Json& each : array)
    values.push_back(each.is_null() ? std::nan("") : each.get<double>());
  return values;
}

/// A table of the results with one column for each run. Rows are in the order in which the runs
/// list them.
lab::Table table_of(const std::vector<Run>& runs) {
  lab::Table table{{"", "published"}, {}};
  for (const Run& run : runs) {
    table.header.push_back(run.name);
    for (const Json& row : run.json.at("rows")) {
      const std::string what = row.at("what");
      auto place = std::find_if(table.rows.begin(), table.rows.end(),
                                [&](const auto& cells) { return cells[0] == what; });
      if (place == table.rows.end())
        place = table.rows.insert(place, std::vector<std::string>{what, row.at("published")});
      place->resize(table.header.size() - 1);
      place->push_back(row.at("reached"));
    }
    for (auto& cells : table.rows) cells.resize(table.header.size());
  }
  return table;
}

/// The object of a JSON array whose `key` is `name`. Null if there is no such object.
Json named(const Json& array, const std::string& key, const Json& name) {
  const auto place = std::find_if(array.begin(), array.end(),
                                  [&](const Json& each) { return each.at(key) == name; });
  return place == array.end() ? Json() : *place;
}

/// Adds the run's curves to the view, if the run has a chart with this heading.
void add_curves(tend::nn::ChartView& view, const Run& run, const Json& heading) {
  const Json chart = named(run.json.at("charts"), "heading", heading);
  if (chart.is_null()) return;
  const Json own = named(chart.at("views"), "name", view.name);
  if (own.is_null()) return;
  for (const Json& curve : own.at("curves")) {
    view.curves.push_back({run.name + " " + curve.at("name").get<std::string>(),
                           numbers(curve.at("x")), numbers(curve.at("y"))});
  }
}

/// The charts of the first run, with the curves of all runs.
void add_charts(tend::nn::RunPage& page, const std::vector<Run>& runs) {
  for (const Json& first : runs[0].json.at("charts")) {
    tend::nn::Chart chart{
        .views = {}, .choice = "Show:", .has_log_scale = true, .x_name = first.at("x")};
    for (const Json& view : first.at("views")) {
      auto& added = chart.views.emplace_back(tend::nn::ChartView{view.at("name"), {}});
      for (const Run& run : runs) add_curves(added, run, first.at("heading"));
    }
    page.add_chart(first.at("heading").get<std::string>(), chart);
  }
}

int run(const std::vector<std::string>& paths, const std::string& out) {
  if (paths.size() < 2)
    throw std::invalid_argument("compare needs the results of at least two runs");
  std::vector<Run> runs;
  runs.reserve(paths.size());
  for (const std::string& path : paths) runs.push_back(read(path));
  tend::nn::RunPage page(runs[0].json.at("title").get<std::string>(), "A comparison of runs.");
  const lab::Table table = table_of(runs);
  page.add_table("Rows", table.header, table.rows);
  add_charts(page, runs);
  tend::nn::write_file(out, page.html());
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) std::cout << (i > 0 ? " | " : "") << row[i];
    std::cout << '\n';
  }
  std::cout << "wrote " << out << '\n';
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  program::CommandLine line("compare", "Compares runs of an experiment, side by side");
  std::vector<std::string> paths;
  std::string out = "compare.html";
  line.add_rest(paths, "FILES: the results of two or more runs, written with --json");
  line.add_file("--out", out, "The page (compare.html)");
  return line.run(argc, argv, [&] { return run(paths, out); });
}
