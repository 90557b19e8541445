#include "examples/train/page/report.h"

#include <limits>

#include "examples/train/page/charts.h"
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

}  // namespace

TEST_CASE("escaping leaves no markup and only valid UTF-8") {
  CHECK(escape_html("a<b>&\"'") == "a&lt;b&gt;&amp;&quot;&#39;");
  CHECK(escape_html("line\nend\ttab") == "line\nend\ttab");
  CHECK(escape_html(std::string("\0\x01\x1b\x7f", 4)) == "␀␁␛␡");
  CHECK(escape_html("é → 🙂") == "é → 🙂");
  CHECK(escape_html("\xff"
                    "a\xc3"
                    "b\xe2\x86") == "�a�b��");
  CHECK(escape_html("\xc0\xaf") == "��");            // an overlong slash
  CHECK(escape_html("\xe0\x80\x80") == "���");       // an overlong NUL
  CHECK(escape_html("\xed\xa0\x80") == "���");       // a surrogate
  CHECK(escape_html("\xf4\x90\x80\x80") == "����");  // past U+10FFFF
  CHECK(escape_html("\xc2\x85") == "�");             // a C1 control character
}

TEST_CASE("numbers read the same in any locale") {
  CHECK(fixed(1234.5678, 2) == "1234.57");
  CHECK(shortest(0.003) == "0.003");
  CHECK(significant(0.1 + 0.2, 6) == "0.3");
  CHECK(grouped(1234567.2) == "1\u202F234\u202F567");
  CHECK(grouped(999) == "999");
  CHECK(grouped(-1234) == "-1\u202F234");
  CHECK(percent(1.0) == "100 %");
  CHECK(percent(0.99996) == "99.99 %");
  CHECK(percent(0.29) == "29 %");
  CHECK(percent(0.0) == "0 %");
  CHECK(duration(7.31) == "7.3 s");
  CHECK(duration(125) == "2 min 05 s");
  CHECK(duration(3725) == "1 h 02 min");
}

TEST_CASE("the page shows what the report holds") {
  const std::string page = render_html(small_report());
  CHECK_THAT(page, ContainsSubstring("<h1>reverse</h1>"));
  CHECK_THAT(page, ContainsSubstring("99.99 %"));
  CHECK_THAT(page, ContainsSubstring("Layer 2, head 1: mirrored diagonal"));
  CHECK_THAT(page, ContainsSubstring("98.7 %"));
  CHECK_THAT(page, ContainsSubstring("<del>33</del> 31"));
  CHECK(count(page, "<button type='button' aria-pressed") == 2);
  CHECK(count(page, "aria-pressed='true'") == 1);
  CHECK(count(page, "class='arc'") == 2);
  CHECK(count(page, "class='arc other'") == 1);
  CHECK(count(page, "<u style") == 4);  // two validations, on two scales
  CHECK(page.find("Stopped after") == std::string::npos);
}

TEST_CASE("the page has every head's scores, at the end and over the steps") {
  const std::string page = render_html(small_report());
  CHECK_THAT(page, ContainsSubstring("<tr><th>1.1</th><td style='--w:0.125'>0.125</td><td>–</td>"
                                     "<td>1.500</td></tr>"));
  CHECK_THAT(page, ContainsSubstring("<tr><th>2.1</th><td style='--w:0.987' class='best'>0.987"));
  CHECK(count(page, "<div class='plot lines'") == 3);  // two patterns, and the entropy
  CHECK(count(page, "<div class='plot lines' hidden") == 2);
  CHECK_THAT(page, ContainsSubstring("data-scores='2:0.1250,0.9870 4:0.1250,0.9870 '"));
  CHECK_THAT(page, ContainsSubstring("data-scores='2:, 4:, '"));
  // The highest score stands at 1 / 1.04 of the height.
  CHECK_THAT(page, ContainsSubstring("points='50.00,3.85 100.00,3.85 '"));
  Report r = small_report();
  r.over_time.clear();
  CHECK(render_html(r).find("Heads over the steps") == std::string::npos);
}

TEST_CASE("the page carries the sequences to choose from") {
  Report r = small_report();
  const std::string page = render_html(r);
  CHECK(count(page, "<option data-inputs=") == 2);
  CHECK_THAT(page, ContainsSubstring("<option data-inputs='9\t2\t→\t2' data-said='\t\t2\t4' "
                                     "data-right='1111' data-links='2,1 3,0 ' data-weights='"));
  CHECK_THAT(page, ContainsSubstring(">92→2</option>"));
  CHECK(count(page, "<p class='sequence' hidden>") == 0);
  r.examples.pop_back();
  CHECK(count(render_html(r), "<p class='sequence' hidden>") == 1);
}

TEST_CASE("the page needs no network") {
  const std::string page = render_html(small_report());
  for (const char* outside : {"http:", "https:", "src=", "href=", "@import", "url("}) {
    CAPTURE(outside);
    CHECK(page.find(outside) == std::string::npos);
  }
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
  CHECK(count(page, "<script>") == 1);
  CHECK(count(page, "</script>") == 1);
  CHECK(page.find('\xff') == std::string::npos);
  CHECK(page.find('\x01') == std::string::npos);
  r.samples = {{evil, evil, ""}};
  CHECK(count(render_html(r), "<script>") == 1);
}

TEST_CASE("a report of almost nothing still makes a page") {
  CHECK_THAT(render_html(Report{}), ContainsSubstring("No step was taken yet"));
  Report r = small_report();
  r.losses = {std::numeric_limits<double>::quiet_NaN(), 1.0};
  r.validations.clear();
  r.findings.clear();
  r.samples.clear();
  r.examples[0].weights[0][0].assign(16, std::numeric_limits<float>::quiet_NaN());
  CHECK_THAT(render_html(r), ContainsSubstring("Layer 1, head 1"));
}

TEST_CASE("packed weights read back within a half of 4095 steps") {
  const std::vector<float> weights{1, 9, 0.25F, 0.75F};
  const std::string packed = packed_weights(weights, 2);
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  REQUIRE(packed.size() == 6);
  const auto value = [&](std::size_t i) {
    return static_cast<double>(64 * digits.find(packed[2 * i]) + digits.find(packed[2 * i + 1])) /
           4095;
  };
  CHECK(value(0) == 1.0);
  CHECK(value(1) == Approx(0.25).margin(0.5 / 4095));
  CHECK(value(2) == Approx(0.75).margin(0.5 / 4095));
}

TEST_CASE("equal neighbours in a heat map are one rectangle") {
  const std::vector<float> weights{1, 0, 0.5F, 0.5F};
  const std::string cells = heat_cells(weights, 2, std::vector<Link>{{1, 0}});
  CHECK_THAT(cells, ContainsSubstring("M0 1h2v1H0z"));
  CHECK(count(cells, "class='mark' d='M0 1h1v1h-1z'") == 1);
}
