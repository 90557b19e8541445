// Runs the experiments of the laboratory, each as its own program, and prints one table: the
// published results, our results and the times. All pages and results go to one folder.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "examples/lab/lab.h"

#include <nlohmann/json.hpp>

namespace {

using Json = nlohmann::ordered_json;
using Words = std::vector<std::string>;

struct Options {
  bool quick = false;
  std::optional<std::uint64_t> seed;
  std::optional<int> threads;
  std::string out = "lab", json;
  Words only, skip;
  /// Files and folders of the user, by the names of their options.
  std::map<std::string, std::string> files{{"--names", ""},   {"--story", ""}, {"--gpt2", ""},
                                           {"--weights", ""}, {"--text", ""},  {"--data", ""}};
};

/// A program to run, and a function that makes a row from the JSON that it writes.
struct Entry {
  std::string name;
  std::string program;  ///< Its path, relative to the folder of `all`.
  Words arguments;
  Words files;                                    ///< The file options that the program needs.
  std::function<lab::Row(const Json&)> row = {};  ///< Empty if the JSON has rows already.
};

/// The experiments, and other programs whose results fit into a row.
std::vector<Entry> entries() {
  const std::map<std::string, Words> files{
      {"book", {"--story", "--gpt2"}}, {"microgpt", {"--names"}}, {"pizza", {"--weights"}}};
  std::vector<Entry> all;
  std::istringstream names(LAB_EXPERIMENTS);
  for (std::string name; names >> name;)
    all.push_back({name, name, {}, files.contains(name) ? files.at(name) : Words()});
  for (const std::string task : {"reverse", "copy", "sort", "add", "add-reversed", "recall"}) {
    const auto row = [](const Json& r) {
      return lab::Row{"share of right held-out answers", "", lab::number(r.at("exact_match")),
                      r.at("learned") == true};
    };
    all.push_back({task,
                   "../train",
                   {"--task", task, "--report", task + ".html", "--checkpoint", "none"},
                   {},
                   row});
  }
  all.push_back({"nanogpt", "../nanogpt", {}, {"--text"}, [](const Json& r) {
                   const double loss = r.at("validation_loss");
                   return lab::Row{"validation loss", "1.88", lab::number(loss, 3), loss < 1.885};
                 }});
  all.push_back(
      {"fashion", "../fashion", {}, {"--data"}, [](const Json& r) {
         return lab::Row{"share of right new images", "", lab::number(r.at("share_right")), {}};
       }});
  return all;
}

bool contains(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// The option for a file that the entry needs but the user did not give. Empty if there is no such
/// option.
std::string missing_file(const Entry& entry, const Options& o) {
  if (o.quick && !entry.row) return "";  // with --quick, experiments make their own small data
  for (const std::string& option : entry.files) {
    if (o.files.at(option).empty()) return option;
  }
  return "";
}

/// Runs the program and returns the JSON that it wrote. Throws std::runtime_error if it wrote none.
Json results_of(const Entry& entry, const Options& o) {
  const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const std::string json = o.out + "/" + entry.name + ".json";
  std::filesystem::remove(json);
  Words words{(here / entry.program).string(), "--json", json};
  words.insert(words.end(), entry.arguments.begin(), entry.arguments.end());
  for (const std::string& option : entry.files) {
    if (!o.files.at(option).empty()) words.insert(words.end(), {option, o.files.at(option)});
  }
  if (entry.program != "../fashion") words.insert(words.end(), {"--out", o.out});
  if (entry.program == "../train") words.push_back("--overwrite");
  if (o.quick && !entry.row) words.push_back("--quick");
  if (o.quick && entry.row) words.insert(words.end(), {"--steps", "3"});
  if (o.seed) words.insert(words.end(), {"--seed", std::to_string(*o.seed)});
  if (o.threads) words.insert(words.end(), {"--threads", std::to_string(*o.threads)});
  std::string command;
  for (const std::string& word : words) command += program::shell_quoted(word) + ' ';
  std::cout << "+ " << command << std::endl;
  std::system((command + "1>&2").c_str());  // NOLINT: all words are quoted
  std::ifstream file(json);
  if (!file) throw std::runtime_error(entry.name + " ended without results");
  return Json::parse(file);
}

/// The rows of an entry in the table.
Json rows_of(const Entry& entry, const Options& o) {
  const auto as_json = [&](const lab::Row& row) {
    Json json{{"experiment", entry.name}, {"what", row.what}, {"published", row.published}};
    json["reached"] = row.reached;
    json["passed"] = row.passed ? Json(*row.passed) : Json(nullptr);
    return json;
  };
  if (const std::string option = missing_file(entry, o); !option.empty())
    return Json::array({as_json({"not run, needs " + option, "", "", {}})});
  const Json results = results_of(entry, o);
  Json rows = Json::array();
  if (entry.row) {
    rows.push_back(as_json(entry.row(results)));
  } else {
    for (const Json& row : results.at("rows")) {
      Json named{{"experiment", entry.name}};
      named.update(row);
      rows.push_back(named);
    }
  }
  if (!rows.empty()) rows[0]["seconds"] = results.at("seconds");
  return rows;
}

std::string verdict_of(const Json& row) {
  const Json& passed = row.at("passed");
  return lab::verdict(passed.is_null() ? std::nullopt : std::optional(passed.get<bool>()));
}

/// Prints the table, and writes it to the page with links to the pages of the experiments.
void print(const Json& rows, const Options& o) {
  lab::Table table{{"experiment", "", "published", "here", "", "seconds"}, {}};
  std::string links;
  for (const Json& row : rows) {
    const std::string name = row.at("experiment");
    const std::string seconds = row.contains("seconds") ? lab::seconds_text(row.at("seconds")) : "";
    table.rows.push_back({seconds.empty() ? "" : name, row.at("what"), row.at("published"),
                          row.at("reached"), verdict_of(row), seconds});
    std::cout << std::left << std::setw(13) << name << row.at("what").get<std::string>() << ": "
              << row.at("reached").get<std::string>();
    if (const std::string published = row.at("published"); !published.empty())
      std::cout << " (published " << published << ')';
    std::cout << "  " << verdict_of(row) << (seconds.empty() ? "" : "  " + seconds + " s") << '\n';
    if (!seconds.empty() && std::filesystem::exists(o.out + "/" + name + ".html"))
      links.append("<a href='").append(name).append(".html'>").append(name).append("</a> ");
  }
  tend::nn::RunPage page("The laboratory",
                         "Published results of small attention models, reproduced.");
  page.add_section("Pages", "<p>" + links + "</p>");
  page.add_table("Published and here", table.header, table.rows);
  tend::nn::write_file(o.out + "/lab.html", page.html());
  std::cout << "wrote " << o.out << "/lab.html\n";
}

int run(const Options& o) {
  program::check_can_write(o.json);
  std::filesystem::create_directories(o.out);
  Json rows = Json::array();
  bool all_passed = true;
  for (const Entry& entry : entries()) {
    if ((!o.only.empty() && !contains(o.only, entry.name)) || contains(o.skip, entry.name))
      continue;
    for (const Json& row : rows_of(entry, o)) {
      all_passed = all_passed && row.at("passed") != false;
      rows.push_back(row);
    }
  }
  print(rows, o);
  program::write_results(o.json, [&] { return Json{{"quick", o.quick}, {"rows", rows}}.dump(1); });
  return all_passed || o.quick ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  program::CommandLine line(
      "all", "Runs all experiments, and compares their results with the published ones");
  Options o;
  line.add_flag("--quick", o.quick, "Run at small sizes, which only test the programs");
  line.add_whole("--seed", o.seed,
                 "Seed of all random numbers (default: each experiment has its own)");
  line.add_whole("--threads", o.threads, "Number of threads (default: all cores)", 1,
                 tend::kMaxThreads);
  line.add_text("--out", o.out, "Folder for all pages and results (lab)");
  line.add_json(o.json);
  line.add_words("--only", o.only, "Run only these experiments (names, separated by commas)");
  line.add_words("--skip", o.skip, "Do not run these experiments");
  line.add_file("--names", o.files["--names"], "File of names for microgpt, one per line");
  line.add_file("--story", o.files["--story"], "The story of the book, the-verdict.txt, for book");
  line.add_file("--gpt2", o.files["--gpt2"],
                "Folder with GPT-2's vocab.json and merges.txt, for book");
  line.add_file("--weights", o.files["--weights"], "Checkpoint for pizza");
  line.add_file("--text", o.files["--text"], "Text for nanogpt");
  line.add_file("--data", o.files["--data"], "Folder with the data for fashion");
  return line.run(argc, argv, [&] { return run(o); });
}
