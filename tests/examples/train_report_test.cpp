#include "examples/train/page/report.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "examples/train/page/format.h"
#include "tests/catch.h"

using namespace train;
using Catch::Matchers::ContainsSubstring;

namespace {

Report small_report() {
  Report r;
  r.task = "reverse";
  r.goal = "Read two digits, then write them backwards.";
  r.steps_done = r.steps_planned = 4;
  r.exact_match = 0.99996;
  r.held_out = 1000;
  r.losses = {2.5, 1.0, 0.1, 0.02};
  r.validations = {{2, 1.1, 0.25}, {4, 0.03, 1.0}};
  AttentionExample example;
  example.inputs = {"4", "2", "→", "2"};
  example.predictions = {"", "", "2", "4"};
  example.correct = {true, true, true, true};
  const std::vector<float> weights{1, 0, 0, 0, 0.5F, 0.5F, 0, 0, 0, 1, 0, 0, 0.75F, 0.25F, 0, 0};
  example.weights = {{weights}, {weights}};
  example.links = {{{2, 1}, {3, 0}}};
  r.examples = {example, example};
  r.examples.back().inputs.front() = "9";
  r.findings = {{"mirrored diagonal", "It looks back.", 2, 1, 0.987}};
  r.patterns = {"mirrored diagonal", "same token"};
  const double never = std::numeric_limits<double>::quiet_NaN();
  r.scores = {{{0.125, never}, 1.5}, {{0.987, never}, 0.25}};
  r.over_time = {{2, r.scores}, {4, r.scores}};
  r.samples = {{"42→", "24", "24"}, {"13→", "33", "31"}};
  r.options = {{"steps", "4"}};
  return r;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

std::vector<nlohmann::json> data_of(const std::string& page) {
  const std::string start = "<script type='application/json'>";
  std::vector<nlohmann::json> found;
  for (std::size_t at = page.find(start); at != std::string::npos; at = page.find(start, at)) {
    at += start.size();
    found.push_back(nlohmann::json::parse(page.substr(at, page.find("</script>", at) - at)));
  }
  return found;
}

}  // namespace

TEST_CASE("numbers read the same in any locale") {
  CHECK(fixed(1234.5678, 2) == "1234.57");
  CHECK(shortest(0.003) == "0.003");
  CHECK(grouped(1234567.2) == "1\u202F234\u202F567");
  CHECK(grouped(999.0) == "999");
  CHECK(grouped(-1234.0) == "-1\u202F234");
  CHECK(percent(1.0) == "100 %");
  CHECK(percent(0.99996) == "99.99 %");
  CHECK(percent(0.29) == "29 %");
  CHECK(percent(0.0) == "0 %");
  CHECK(duration(7.31) == "7.3 s");
  CHECK(duration(125) == "2 min 05 s");
  CHECK(duration(3725) == "1 h 02 min");
  CHECK(printable("é\n\x1b[2J") == "é\n␛[2J");
}

TEST_CASE("the page shows the contents of the report") {
  const std::string page = render_html(small_report());
  CHECK_THAT(page, ContainsSubstring("<h1>reverse</h1>"));
  CHECK_THAT(page, ContainsSubstring("99.99 %"));
  CHECK_THAT(page, ContainsSubstring("Layer 2, head 1: mirrored diagonal"));
  CHECK_THAT(page, ContainsSubstring("98.7 %"));
  CHECK_THAT(page, ContainsSubstring("<del>33</del> 31"));
  CHECK(count(page, "<svg class='arcs'") == 1);
  CHECK(page.find("Stopped after") == std::string::npos);
  CHECK_THAT(page, ContainsSubstring("<tr><th>1.1</th><td style='--w:0.125'>0.125</td><td>–</td>"
                                     "<td>1.500</td></tr>"));
  CHECK_THAT(page, ContainsSubstring("<tr><th>2.1</th><td style='--w:0.987' class='best'>0.987"));
}

TEST_CASE("the page has curves of the losses and of every head over the steps") {
  const std::vector<nlohmann::json> data = data_of(render_html(small_report()));
  REQUIRE(data.size() == 3);  // the losses, the heads of sequences, the heads over the steps
  const nlohmann::json& losses = data[0].at("views").at(0).at("curves");
  CHECK(losses.at(0).at("y") == std::vector<double>{2.5, 1.0, 0.1, 0.02});
  CHECK(losses.at(1).at("x") == std::vector<double>{2, 4});
  CHECK(losses.at(1).at("y") == std::vector<double>{1.1, 0.03});
  const nlohmann::json& views = data[2].at("views");
  REQUIRE(views.size() == 3);  // two patterns, and the entropy
  CHECK(views.at(0).at("curves").at(1).at("name") == "2.1");
  CHECK(views.at(0).at("curves").at(1).at("y") == std::vector<double>{0.987, 0.987});
  CHECK(views.at(1).at("curves").at(0).at("y").at(0).is_null());
  Report r = small_report();
  r.over_time.clear();
  CHECK(render_html(r).find("Heads over the steps") == std::string::npos);
}

TEST_CASE("the page has several sequences, with each head's weights in thousandths") {
  const nlohmann::json heads = data_of(render_html(small_report())).at(1);
  CHECK(heads.at("layers") == std::vector<int>{1, 1});
  CHECK(heads.at("findings").at(0).at("head") == 1);
  REQUIRE(heads.at("examples").size() == 2);
  const nlohmann::json& second = heads.at("examples").at(1);
  CHECK(second.at("inputs") == std::vector<std::string>{"9", "2", "→", "2"});
  CHECK(second.at("said") == std::vector<std::string>{"", "", "2", "4"});
  CHECK(second.at("links") == nlohmann::json{{{2, 1}, {3, 0}}});
  CHECK(second.at("weights").at(1) == std::vector<int>{1000, 500, 500, 0, 1000, 0, 750, 250, 0, 0});
}

TEST_CASE("a page of an interrupted run says so") {
  Report r = small_report();
  r.steps_planned = 10;
  CHECK_THAT(render_html(r), ContainsSubstring("Stopped after 4 of 10 steps"));
}

TEST_CASE("no text of a report becomes markup") {
  const std::string evil = "\"'><script>alert(1)</script>\xff\x01";
  Report r = small_report();
  r.task = r.goal = evil;
  r.examples.front().inputs.assign(4, evil);
  r.examples.front().predictions.assign(4, evil);
  r.patterns.assign(2, evil);
  r.findings.front().pattern = r.findings.front().words = evil;
  r.samples = {{evil, evil, evil}, {evil, evil, "x"}};
  r.options = {{evil, evil}};
  const std::string page = render_html(r);
  CHECK(count(page, "<script") == 4);  // three with data
  CHECK(count(page, "</script>") == 4);
  CHECK(page.find('\xff') == std::string::npos);
  r.samples = {{evil, evil, ""}};
  CHECK(count(render_html(r), "<script") == 4);
}
