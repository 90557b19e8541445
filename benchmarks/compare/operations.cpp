#include "operations.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "examples/program.h"

namespace compare {
namespace {

using nlohmann::json;

/// The results are float32 sums of millions of elements in different orders. For the norm of order
/// 3 of a 4096 x 1024 matrix, PyTorch's error is 0.8e-3, and tend's is 2e-7. The error of PyTorch's
/// gradient is twice as large.
constexpr double kTolerance = 3e-3;
/// Below this ratio of PyTorch's time to tend's, tend counts as slower.
constexpr double kBehind = 0.95;

struct MatrixSize {
  const char* name;
  int rows;
  int columns;
};
constexpr MatrixSize kSizes[] = {{"512x512", 512, 512}, {"4096x1024", 4096, 1024}, {"own", 0, 0}};

/// The output of `program` with one argument.
std::string output_of(const std::string& program, const std::string& argument) {
  // The path is absolute so that the shell does not search PATH.
  const std::string path = std::filesystem::absolute(program);
  const std::string command = program::shell_quoted(path) + " " + argument;
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot start " + command);
  std::string text;
  char part[4096];
  while (const std::size_t count = std::fread(part, 1, sizeof part, pipe)) text.append(part, count);
  if (pclose(pipe) != 0) throw std::runtime_error(command + " failed");
  return text;
}

OperationRow make_row(std::size_t index, const json& op, const MatrixSize& size, bool is_double,
                      bool is_transposed, int pass) {
  constexpr const char* kPasses[] = {"forward", "both", "in place"};
  OperationRow made{{},
                    op["python"],
                    size.name,
                    is_double ? "float64" : "float32",
                    is_transposed ? "transposed" : "contiguous",
                    kPasses[pass]};
  if (!op["is_real"].get<bool>()) made.dtype = "whole";
  made.row.name =
      made.python + " " + made.size + " " + made.dtype + " " + made.layout + " " + made.pass;
  made.row.work = "row";
  for (const int each : {static_cast<int>(index), size.rows, size.columns, int{is_double},
                         int{is_transposed}, pass}) {
    made.row.work += " " + std::to_string(each);
  }
  made.row.tolerance = kTolerance;
  return made;
}

void add_cases(std::size_t index, const json& op, std::vector<OperationRow>& rows) {
  if (!op["has_sample"].get<bool>()) return;
  for (const MatrixSize& size : kSizes) {
    if (op["scales"].get<bool>() == (size.rows == 0)) continue;
    for (const bool is_double : {false, true}) {
      if (is_double && !op["is_real"].get<bool>()) continue;
      for (const bool is_transposed : {false, true}) {
        if (is_transposed && !op["any_layout"].get<bool>()) continue;
        // The values of Pass in operation_cases.h: forward, both, in place.
        for (const int pass : {0, 1, 2}) {
          if (pass == 1 && !op["has_gradient"].get<bool>()) continue;
          if (pass == 2 && !op["has_in_place"].get<bool>()) continue;
          rows.push_back(make_row(index, op, size, is_double, is_transposed, pass));
        }
      }
    }
  }
}

/// The geometric mean of the ratios of the results for which `f` is true, and their number.
template <class F>
std::string mean_text(const std::vector<OperationResult>& results, F f) {
  double sum = 0;
  int count = 0;
  for (const OperationResult& each : results) {
    if (!f(each)) continue;
    sum += std::log(each.ratio());
    ++count;
  }
  char text[64];
  std::snprintf(text, sizeof text, "%.2f (%d cases)", count == 0 ? 0.0 : std::exp(sum / count),
                count);
  return text;
}

/// True if a case counts in the means. Python adds microseconds to each of PyTorch's calls, so very
/// short operations, such as views, would say little about the operation itself.
bool counts(const OperationResult& result) {
  constexpr double kLong = 20e-6;  // seconds
  return result.row.size != "own" && std::max(result.tend, result.pytorch) >= kLong;
}

}  // namespace

std::vector<Peer> operation_peers(const std::string& folder, const std::string& tend, int threads) {
  const auto path = [&folder](const char* name) { return folder + "/" + name; };
  return {{"tend", tend.empty() ? path("tend_operations") : tend, Role::subject, {{}}},
          {"PyTorch", path("torch_operations"), Role::peer, torch_thread_settings(threads)},
          {"machine", path("machine"), Role::limit, {{}}}};
}

std::vector<OperationRow> operation_rows(const Peer& tend) {
  const json listed = json::parse(output_of(tend.program, "list"));
  std::vector<OperationRow> rows;
  for (std::size_t i = 0; i < listed.size(); ++i) add_cases(i, listed[i], rows);
  return rows;
}

InputsFile::InputsFile() {
  setenv("COMPARE_INPUTS", file_.path().c_str(), 1);
}

double InputsFile::bytes() const {
  std::ifstream file(file_.path(), std::ios::binary);
  std::string head;
  std::getline(file, head);
  return json::parse(head)["bytes"].get<double>();
}

std::string operations_report(std::vector<OperationResult> results) {
  std::sort(results.begin(), results.end(),
            [](const auto& a, const auto& b) { return a.ratio() < b.ratio(); });
  std::string text =
      "| PyTorch / tend | operation | size | dtype | layout | pass | tend | PyTorch | of a copy's "
      "speed |\n|---:|---|---|---|---|---|---:|---:|---:|\n";
  for (const OperationResult& each : results) {
    char ratio[32];
    char share[32];
    std::snprintf(ratio, sizeof ratio, "%.2f", each.ratio());
    std::snprintf(share, sizeof share, "%.0f %%", 100 * each.copy / each.tend);
    const OperationRow& row = each.row;
    for (const std::string& cell :
         {std::string(ratio), "`" + row.python + "`", row.size, row.dtype, row.layout, row.pass,
          time_text(each.tend), time_text(each.pytorch), std::string(share)}) {
      text.append("| ").append(cell).append(" ");
    }
    text += "|\n";
  }
  const auto behind = std::count_if(results.begin(), results.end(),
                                    [](const auto& each) { return each.ratio() < kBehind; });
  text += "\nGeometric mean of PyTorch / tend: " + mean_text(results, counts) +
          "; where memory does not bound tend: " +
          mean_text(results,
                    [](const auto& each) { return counts(each) && !each.is_bound_by_memory(); }) +
          ".\nBelow 0.95: " + std::to_string(behind) + " of " + std::to_string(results.size()) +
          ".\n";
  return text;
}

json operations_json(const std::vector<OperationResult>& results, const Facts& facts) {
  json rows = json::array();
  for (const OperationResult& each : results) {
    rows.push_back({{"operation", each.row.python},
                    {"size", each.row.size},
                    {"dtype", each.row.dtype},
                    {"layout", each.row.layout},
                    {"pass", each.row.pass},
                    {"tend_s", each.tend},
                    {"pytorch_s", each.pytorch},
                    {"pytorch_settings", each.settings},
                    {"ratio", each.ratio()},
                    {"copy_s", each.copy},
                    {"bound_by_memory", each.is_bound_by_memory()}});
  }
  return {{"about", facts}, {"rows", rows}};
}

}  // namespace compare
