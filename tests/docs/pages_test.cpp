// Tests of the pages for users: links, programs, operations, printed results and figures.
#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/docs/markdown.h"
#include "tests/op_table/op_table.h"

using namespace tend::test;

namespace {

const std::filesystem::path kRoot(TEND_SOURCE);

// The paths of all pages that users read, relative to tend's top folder.
std::vector<std::string> pages() {
  std::vector<std::string> found = {"README.md", "CONTRIBUTING.md", "CHANGELOG.md",
                                    "benchmarks/README.md"};
  for (const auto& entry : std::filesystem::directory_iterator(kRoot / "docs")) {
    if (entry.path().extension() == ".md")
      found.push_back("docs/" + entry.path().filename().string());
  }
  return found;
}

std::string text_of(const std::string& page) {
  return read_page((kRoot / page).string());
}

bool has_anchor(const std::filesystem::path& page, const std::string& anchor) {
  const std::vector<std::string> known = anchors(read_page(page.string()));
  return std::find(known.begin(), known.end(), anchor) != known.end();
}

// The strings that the first group of `pattern` matches in a text.
std::set<std::string> matches(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  std::set<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at)
    found.insert((*at)[1]);
  return found;
}

// The text of a page without code.
std::string prose_of(const std::string& page) {
  const std::string text = text_of(page);
  std::string prose;
  bool in_code = false;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    const std::string line = text.substr(begin, end - begin);
    if (line.starts_with("```")) {
      in_code = !in_code;
    } else if (!in_code) {
      prose += line;
    }
    begin = end;
  }
  return std::regex_replace(prose, std::regex("`[^`]*`"), "");
}

}  // namespace

TEST_CASE("links between pages lead to pages, headings and headers that exist") {
  std::size_t followed = 0;
  for (const std::string& page : pages()) {
    for (const Link& link : links(text_of(page))) {
      if (link.target.find("://") != std::string::npos) continue;
      INFO(page << ':' << link.line << ": " << link.target);
      const std::size_t hash = link.target.find('#');
      const std::string path = link.target.substr(0, hash);
      const std::filesystem::path file =
          path.empty() ? kRoot / page : (kRoot / page).parent_path() / path;
      ++followed;
      REQUIRE(std::filesystem::exists(file));
      if (hash != std::string::npos) CHECK(has_anchor(file, link.target.substr(hash + 1)));
    }
  }
  CHECK(followed > 120);
}

TEST_CASE("programs that the pages name exist") {
  std::size_t named = 0;
  for (const std::string& page : pages()) {
    for (const std::string& program :
         matches(text_of(page), "build/release/((?:examples|benchmarks)/(?:lab/)?[a-z0-9_]+)")) {
      INFO(page << ": " << program);
      ++named;
      CHECK((std::filesystem::exists(kRoot / (program + ".cpp")) ||
             std::filesystem::exists(kRoot / program / "main.cpp")));
    }
  }
  CHECK(named > 25);
}

TEST_CASE("every operation of the table is on the page for PyTorch users") {
  std::string lines;
  for (const TableRow& row : table_rows(text_of("docs/pytorch.md"))) {
    for (const std::string& code : code_spans(row.cells.at(1))) lines += code + '\n';
  }
  const std::set<std::string> named = matches(lines, "([A-Za-z_0-9]+)\\(");
  // The page writes x[{n}] for index and x[{Slice(1, 2)}] for slice. unfold_backward has no line.
  const std::set<std::string> written_otherwise = {"index", "slice", "unfold_backward"};
  for (const Op& op : op_table()) {
    // PyTorch does not have all operations of these families.
    if (op.family == "attention" || op.family == "flex") continue;
    INFO(op.name << ": tests/data/make_pytorch.py adds its line");
    CHECK((named.contains(op.name) || written_otherwise.contains(op.name)));
  }
}

TEST_CASE("the C++ on the pages prints what the Python printed") {
  const auto printed =
      nlohmann::json::parse(read_page(TEND_TEST_DATA "/pytorch.json")).at("printed");
  std::size_t compared = 0;
  for (const auto& [page, texts] : printed.items()) {
    const std::vector<CodeBlock> blocks = code_blocks(text_of(page));
    auto text = texts.begin();
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (blocks[i].language != "python") continue;
      REQUIRE(text != texts.end());
      const std::string expected = *text++;
      if (expected.empty()) continue;
      INFO(page << ':' << blocks[i].line);
      // The next text block is the output of the C++, which may begin with more text.
      const auto next = std::find_if(blocks.begin() + static_cast<std::ptrdiff_t>(i), blocks.end(),
                                     [](const CodeBlock& b) { return b.language == "text"; });
      REQUIRE(next != blocks.end());
      CHECK_THAT(next->text, Catch::Matchers::EndsWith(expected));
      ++compared;
    }
    CHECK(text == texts.end());
  }
  CHECK(compared == 2);
}

TEST_CASE("every figure of the README is on the page that gives its command") {
  // Numbers with a unit, decimal fractions, and large integers that count something.
  const std::string figure =
      "(?:^|[^0-9.])((?:[0-9][0-9.]*[0-9]|[0-9]) "
      "(?:%|ms|us|ns|MB/s|GFLOP/s)|[0-9]\\.[0-9]{2,}(?!\\.)|"
      "1e-[0-9]+|[0-9]{3,}(?= (?:operations|values|lines)))";
  const std::set<std::string> claimed = matches(prose_of("README.md"), figure);
  const std::string page = text_of("docs/measured.md");
  std::vector<std::string> missing;
  for (const std::string& each : claimed) {
    if (page.find(each) == std::string::npos) missing.push_back(each);
  }
  const std::vector<std::string> none;
  CHECK(missing == none);
  CHECK(claimed.size() > 10);
}
