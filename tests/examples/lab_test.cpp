// Runs the programs of the laboratory as a user does, with --quick.
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/examples/process.h"

#include <nlohmann/json.hpp>

using Catch::Matchers::ContainsSubstring;
using namespace tend::test;

namespace {

const std::string kLab = TEND_EXAMPLES "/lab/";

// The experiments that were built: all programs in the folder except `all` and `compare`.
std::set<std::string> experiments() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kLab)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && name.find('.') == std::string::npos && name != "Makefile" &&
        name != "all" && name != "lab_all" && name != "compare" && name != "lab_compare")
      names.insert(name);
  }
  return names;
}

void write(const std::string& path, const nlohmann::json& json) {
  std::ofstream(path) << json.dump();
}

// Results like those that an experiment writes with --json: one row and one curve.
nlohmann::json run_of(const std::string& reached) {
  return nlohmann::json::parse(R"({
    "title": "Sums",
    "rows": [{"what": "digits", "published": "3", "reached": ")" +
                               reached + R"("}],
    "charts": [{"heading": "Loss", "x": "step", "views": [
      {"name": "", "curves": [{"name": "test", "x": [1, 2], "y": [0.5, null]}]}]}]})");
}

}  // namespace

TEST_CASE("all experiments run at their quick size and write rows and a page") {
  const TemporaryFolder folder;
  const Ended ended =
      run_program(kLab + "all", {"--quick", "--out", "o", "--json", "r.json"}, folder);
  CAPTURE(ended.output);
  REQUIRE(ended.code == 0);
  const auto results = nlohmann::json::parse(content(folder.file("r.json")));
  std::set<std::string> seen;
  for (const auto& row : results.at("rows")) {
    if (row.contains("seconds")) seen.insert(row.at("experiment"));
    CHECK_FALSE(row.at("what").get<std::string>().empty());
  }
  for (const std::string& name : experiments()) {
    CAPTURE(name);
    CHECK(seen.contains(name));
    CHECK_THAT(content(folder.file("o/" + name + ".html")),
               ContainsSubstring("Published and here"));
  }
  CHECK(seen.contains("recall"));  // a task of `train`
  CHECK_THAT(content(folder.file("o/lab.html")), ContainsSubstring("<a href='recall.html'>"));
}

TEST_CASE("lab programs exit with 2 for wrong usage before they write anything") {
  const TemporaryFolder folder;
  for (const std::string& name : experiments()) {
    CAPTURE(name);
    CHECK(run_program(kLab + name, {"--nonsense"}, folder).code == 2);
  }
  CHECK(run_program(kLab + "compare", {"one.json"}, folder).code == 2);
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("compare puts the rows and curves of runs side by side") {
  const TemporaryFolder folder;
  const nlohmann::json first = run_of("3");
  nlohmann::json second = run_of("2");
  second["rows"].push_back({{"what", "letters"}, {"published", ""}, {"reached", "7"}});
  write(folder.file("a.json"), first);
  write(folder.file("b.json"), second);
  const Ended ended = run_program(kLab + "compare", {"a.json", "b.json"}, folder);
  REQUIRE(ended.code == 0);
  CHECK_THAT(ended.output, ContainsSubstring("digits | 3 | 3 | 2\n"));
  CHECK_THAT(ended.output, ContainsSubstring("letters |  |  | 7\n"));
  const std::string page = content(folder.file("compare.html"));
  CHECK_THAT(page, ContainsSubstring("a test"));
  CHECK_THAT(page, ContainsSubstring("b test"));
  write(folder.file("c.json"), {{"rows", {}}});
  const Ended refused = run_program(kLab + "compare", {"a.json", "c.json"}, folder);
  CHECK(refused.code == 1);
  CHECK_THAT(refused.output, ContainsSubstring("c.json is not what an experiment writes"));
}
