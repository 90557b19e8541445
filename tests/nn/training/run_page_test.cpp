// Pages about runs: their content, and that no text becomes markup.
#include <cmath>
#include <string>
#include <vector>

#include "tests/catch.h"

#include <tend/nn/training/run_page.h>

#include <nlohmann/json.hpp>

using Catch::Matchers::ContainsSubstring;
using tend::nn::RunPage;

namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

// The JSON of the page's first chart.
nlohmann::json chart_of(const RunPage& page) {
  const std::string html = page.html(), start = "<script type='application/json'>";
  const std::size_t begin = html.find(start) + start.size();
  return nlohmann::json::parse(html.substr(begin, html.find("</script>", begin) - begin));
}

}  // namespace

TEST_CASE("escaped text has no markup and only valid UTF-8") {
  CHECK(RunPage::escaped("a<b>&\"'") == "a&lt;b&gt;&amp;&quot;&#39;");
  CHECK(RunPage::escaped("line\nend\ttab") == "line\nend\ttab");
  CHECK(RunPage::escaped("é → 🙂") == "é → 🙂");
  CHECK(RunPage::escaped("a\xff\x01") == "a\uFFFD ");
}

TEST_CASE("a page has its parts in order and a chart's points as data") {
  RunPage page("sort", "Sort digits.");
  page.add_note("Stopped early.");
  page.add_figures({{"0.5", "loss"}});
  page.add_chart("Loss", {.views = {{"", {{"training", {1, 2, 3}, {4, std::nan(""), 2}, true}}}},
                          .has_log_scale = true});
  page.add_list("Settings", {{"width", "8"}});
  const std::string html = page.html();
  std::size_t at = 0;
  for (const std::string part : {"<h1>sort</h1>", "Stopped early.", "<b>0.5</b><span>loss</span>",
                                 "<h2>Loss</h2>", "<dt>width</dt><dd>8</dd>", "</html>"}) {
    CAPTURE(part);
    const std::size_t found = html.find(part, at);
    CHECK(found != std::string::npos);
    at = found;
  }
  const nlohmann::json chart = chart_of(page);
  CHECK(chart.at("log") == true);
  CHECK(chart.at("views").at(0).at("curves").at(0) == nlohmann::json{{"name", "training"},
                                                                     {"x", {1.0, 2.0, 3.0}},
                                                                     {"y", {4.0, nullptr, 2.0}},
                                                                     {"smoothed", true},
                                                                     {"marked", false}});
}

TEST_CASE("a long curve is shown as means of neighbouring points") {
  std::vector<double> x, y;
  for (int i = 1; i <= 1600; ++i) {
    x.push_back(i);
    y.push_back(i % 2);
  }
  RunPage page("", "");
  page.add_chart("Loss", {.views = {{"", {{"training", x, y, true}}}}});
  const nlohmann::json curve = chart_of(page).at("views").at(0).at("curves").at(0);
  CHECK(curve.at("x").size() == 800);
  CHECK(curve.at("x").at(0) == 1.5);
  CHECK(curve.at("y").at(799) == 0.5);
}

TEST_CASE("no text becomes markup and the page needs no network") {
  const std::string evil = "\"'></script><script>alert(1)</script>\xff\x01";
  RunPage page(evil, evil);
  page.add_text(evil);
  page.add_note(evil);
  page.add_figures({{evil, evil}});
  page.add_list(evil, {{evil, evil}});
  page.add_chart(evil, {.views = {{evil, {{evil, {1}, {1}}}}, {evil, {}}}, .choice = evil});
  page.add_maps(evil, {{{evil, {evil}}}, {evil}, {evil}, {1}, evil, evil});
  page.add_table(evil, {evil}, {{evil}});
  const std::string html = page.html();
  CHECK(count(html, "<script") == 3);  // the data of two pictures, and the page's script
  CHECK(count(html, "</script>") == 3);
  CHECK(html.find('\xff') == std::string::npos);
  CHECK(html.find('\x01') == std::string::npos);
  for (const char* outside : {"http:", "https:", "src=", "href=", "@import", "url("}) {
    CAPTURE(outside);
    CHECK(html.find(outside) == std::string::npos);
  }
}

TEST_CASE("maps have values with four digits and a choice for each dimension") {
  RunPage page("", "");
  page.add_maps("Pattern", {.choices = {{"layer", {"0", "1"}, 1}},
                            .rows = {"a", "b"},
                            .columns = {"x"},
                            .values = {0.123456, -2, std::nan(""), 1e-9}});
  const nlohmann::json maps = chart_of(page);
  CHECK(maps.at("values") == nlohmann::json{0.1235, -2.0, nullptr, 1e-9});
  CHECK(maps.at("rows") == nlohmann::json{"a", "b"});
  CHECK_THAT(page.html(), ContainsSubstring("<option>0</option><option selected>1</option>"));
  CHECK_THROWS_AS(page.add_maps("", {.choices = {}, .rows = {"a"}, .columns = {"x"}, .values = {}}),
                  tend::ShapeError);
}

TEST_CASE("a table has its cells as text and refuses rows of another length") {
  RunPage page("", "");
  page.add_table("Runs", {"name", "loss"}, {{"<b>", "1"}});
  CHECK_THAT(page.html(),
             ContainsSubstring("<th>name</th><th>loss</th></tr><tr><td>&lt;b&gt;</td>"));
  CHECK_THROWS_AS(page.add_table("", {"name"}, {{"a", "b"}}), tend::ShapeError);
  CHECK_THROWS_AS(page.add_table("", {"name", "loss"}, {{"a"}}), tend::ShapeError);
}
