// Checks the gradients of all context vectors against central differences, first and second order.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <limits>
#include <memory>
#include <set>

#include "cases.h"

#include <nlohmann/json.hpp>

namespace {

struct Row {
  std::string name;
  int order;
  tend::GradcheckEntry entry;
};

struct Options {
  std::string json_path;
  std::string broken;
  std::uint64_t seed = 123;
  int threads = 0;
};

tend::GradcheckReport check(const Case& each, int order) {
  tend::GradcheckOptions options;
  options.names = each.names;
  const auto f = [&](const std::vector<tend::Tensor>&) { return each.context(); };
  return order == 1 ? tend::gradcheck(f, each.inputs, options)
                    : tend::gradgradcheck(f, each.inputs, options);
}

// The nodes of the forward graphs and of the graphs of their gradients.
std::set<std::string> all_node_names(const std::vector<Case>& cases) {
  std::set<std::string> names;
  for (const Case& each : cases) {
    const tend::Tensor context = each.context();
    names.merge(tend::autograd::node_names({context}));
    names.merge(tend::autograd::node_names(
        tend::autograd::grad({context}, each.inputs, {tend::ones(context.shape(), tend::float64)},
                             {.create_graph = true, .allow_unused = true})));
  }
  return names;
}

// A check that cannot be made (gradients with noise differ from one evaluation to the next) is a
// failed one.
std::vector<tend::GradcheckEntry> entries(const Case& each, int order) {
  try {
    return check(each, order).inputs;
  } catch (const tend::AutogradError& error) {
    std::cerr << each.name << ", order " << order << ": " << error.what() << '\n';
    tend::GradcheckEntry entry;
    entry.name = "all";
    entry.passed = false;
    entry.max_abs_error = entry.max_rel_error = std::numeric_limits<double>::infinity();
    return {entry};
  }
}

std::vector<Row> check_all(const std::vector<Case>& cases) {
  std::vector<Row> rows;
  for (const Case& each : cases) {
    for (const int order : {1, 2}) {
      for (tend::GradcheckEntry& entry : entries(each, order))
        rows.push_back({each.name, order, std::move(entry)});
    }
  }
  return rows;
}

void print(const std::vector<Row>& rows) {
  std::printf("%-46s %5s  %-28s %9s %9s\n", "context vectors of", "order", "with respect to",
              "abs error", "rel error");
  for (const Row& row : rows) {
    std::printf("%-46s %5d  %-28s %9.1e %9.1e %s\n", row.name.c_str(), row.order,
                row.entry.name.c_str(), row.entry.max_abs_error, row.entry.max_rel_error,
                row.entry.passed ? "ok" : "FAILED");
  }
}

void write_json(const std::string& path, const std::vector<Row>& rows) {
  // JSON has no NaN or infinity; a broken gradient may have both.
  const auto number = [](double value) -> nlohmann::ordered_json {
    if (std::isfinite(value)) return value;
    return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  };
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Row& row : rows) {
    list.push_back({{"name", row.name},
                    {"order", row.order},
                    {"wrt", row.entry.name},
                    {"max_abs_error", number(row.entry.max_abs_error)},
                    {"max_rel_error", number(row.entry.max_rel_error)},
                    {"passed", row.entry.passed}});
  }
  std::ofstream file(path);
  if (!(file << list.dump(1) << '\n' << std::flush))
    throw tend::IoError("gradcheck: cannot write " + path);
}

int run(const Options& options) {
  if (options.threads > 0) tend::set_num_threads(options.threads);
  tend::manual_seed(options.seed);
  const std::vector<Case> cases = attention_cases();
  std::unique_ptr<tend::autograd::GradientNoise> noise;
  if (!options.broken.empty()) {
    const std::set<std::string> names = all_node_names(cases);
    if (names.count(options.broken) == 0) {
      std::cerr << "--break: no node is named " << options.broken << "; there are:\n";
      for (const std::string& name : names) std::cerr << "  " << name << '\n';
      return 2;
    }
    noise = std::make_unique<tend::autograd::GradientNoise>(options.broken);
  }
  const std::vector<Row> rows = check_all(cases);
  print(rows);
  if (!options.json_path.empty()) write_json(options.json_path, rows);
  const auto failed =
      std::count_if(rows.begin(), rows.end(), [](const Row& row) { return !row.entry.passed; });
  std::printf("%zu gradients checked, %td failed\n", rows.size(), failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Gradients of all attention modules against central differences.");
  Options options;
  app.add_option("--json", options.json_path, "write the table to this file");
  app.add_option("--break", options.broken,
                 "spoil the gradients of the nodes with this name, to see the check fail");
  app.add_option("--seed", options.seed, "seed of inputs and weights")->capture_default_str();
  app.add_option("--threads", options.threads, "threads to use (default: all cores)")
      ->check(CLI::PositiveNumber);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    return run(options);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
