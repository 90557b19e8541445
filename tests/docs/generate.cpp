// Generates sources from the C++ in Markdown pages, so that it can be compiled and tested:
//
//   generate_docs blocks PAGE.md SOURCE         the page's C++ blocks, for page.cpp
//   generate_docs lines PAGE.md JSON SOURCE     the lines of docs/pytorch.md's tables, for
//                                               lines.cpp
//
// A block with a main becomes a separate program. A block that begins with a class or a template is
// placed in the page's namespace. All other blocks of a page become the body of one function, so
// that later blocks may use the variables of earlier blocks. If a text block follows a C++ block,
// the C++ must print exactly that text.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/docs/markdown.h"

using namespace tend::test;

namespace {

std::string quoted(const std::string& text) {
  return "R\"~~~(" + text + ")~~~\"";
}

// Collects the text of a generated source. #line directives make the compiler's messages name the
// page and its lines.
class Source {
 public:
  explicit Source(std::string page) : page_(std::move(page)) {}

  void add(const std::string& text) { body_ << text; }
  void add_from(const std::string& text, int line) {
    std::istringstream lines(text);
    body_ << "#line " << line << " \"" << page_ << "\"\n";
    for (std::string each; std::getline(lines, each); ++line) {
      if (each.starts_with("#include")) {
        includes_.insert(each);
        each.clear();
      }
      body_ << each << '\n';
    }
  }
  std::string text() const {
    std::string all = "#include \"tests/docs/page.h\"\n";
    for (const std::string& include : includes_) all += include + '\n';
    return all + body_.str();
  }

 private:
  std::string page_;
  std::set<std::string> includes_;
  std::ostringstream body_;
};

// The name of a page as a C++ identifier: "start" for ".../docs/start.md".
std::string name_of(const std::string& page) {
  std::string name = page.substr(page.rfind('/') + 1);
  name = name.substr(0, name.find('.'));
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

bool is_program(const CodeBlock& block) {
  return block.text.find("\nint main(") != std::string::npos;
}

bool is_definition(const CodeBlock& block) {
  static const std::regex start("^(//[^\n]*\n|#include[^\n]*\n|\n)*(class|struct|template) ");
  return std::regex_search(block.text, start);
}

// The program with main renamed to `program`. The function returns 0 at its end, as main does.
std::string as_function(std::string program) {
  program.replace(program.find("\nint main(") + 1, 9, "int program(");
  const std::size_t end = program.rfind("}\n");
  return program.substr(0, end) + "return 0;\n}\n";
}

// The call that checks the output of the block at `i`.
std::string check_of(const std::vector<CodeBlock>& blocks, std::size_t i,
                     const std::string& place) {
  const bool is_followed = i + 1 < blocks.size() && blocks[i + 1].language == "text";
  if (!is_followed) return "printed.pass();\n";
  return "printed.expect(" + quoted(place) + ", " + quoted(blocks[i + 1].text) + ");\n";
}

std::string blocks_source(const std::string& page) {
  const std::vector<CodeBlock> blocks = code_blocks(read_page(page));
  const std::string name = name_of(page);
  Source source(page);
  std::string calls;
  source.add("namespace page_" + name + " {\nusing namespace tend;\n");
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const CodeBlock& block = blocks[i];
    if (block.language != "cpp") continue;
    const std::string place = page + ':' + std::to_string(block.line);
    const std::string own = "program_" + std::to_string(block.line);
    if (is_program(block)) {
      source.add("namespace " + own + " {\n");
      source.add_from(as_function(block.text), block.line);
      source.add("}\n");
      const bool takes_arguments = block.text.find("int main()") == std::string::npos;
      calls += "{ Printed printed;\n";
      if (takes_arguments)
        calls += "char name[] = \"program\"; char* arguments[] = {name, nullptr};\n";
      calls += "expect_success(" + quoted(place) + ", " + own + "::program(" +
               (takes_arguments ? "1, arguments" : "") + "));\n" + check_of(blocks, i, place) +
               "}\n";
    } else if (is_definition(block)) {
      source.add_from(block.text, block.line);
    }
  }
  source.add("void run() {\nusing namespace tend::test;\n" + calls + "Printed printed;\n");
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const CodeBlock& block = blocks[i];
    if (block.language != "cpp" || is_program(block) || is_definition(block)) continue;
    source.add_from(block.text, block.line);
    source.add(check_of(blocks, i, page + ':' + std::to_string(block.line)));
  }
  source.add("}\nconst tend::test::Page page(\"" + name + "\", run);\n}\n");
  return source.text();
}

// The statements of a line, split at the semicolons outside of braces and parentheses.
std::vector<std::string> statements_of(const std::string& line) {
  std::vector<std::string> statements(1);
  int depth = 0;
  for (const char c : line) {
    if (c == '{' || c == '(') ++depth;
    if (c == '}' || c == ')') --depth;
    statements.back() += c;
    if (c == ';' && depth == 0) statements.emplace_back();
  }
  if (statements.back().find_first_not_of(' ') == std::string::npos) statements.pop_back();
  return statements;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& part : parts) all += (all.empty() ? "" : ", ") + part;
  return all;
}

// The body of the function for a line. The function returns the items that `expected` lists.
std::string body_of(const std::string& line, const nlohmann::json& expected) {
  std::vector<std::string> statements = statements_of(line);
  std::vector<std::string> given;
  if (expected.contains("names")) {
    given = expected["names"].get<std::vector<std::string>>();
  } else if (expected.contains("changed")) {
    for (const std::string name : expected["changed"]) {
      given.push_back(name);
      given.push_back(name + ".grad()");
    }
  } else {
    given.push_back(statements.back());
    statements.pop_back();
  }
  std::string body;
  for (const std::string& statement : statements)
    body += statement + (statement.ends_with(";") ? " " : "; ");
  return body + "return items_of(" + joined(given) + ");";
}

struct Line {
  std::string python, cpp;
  bool differs;
  int number;
};

std::vector<Line> lines_of(const std::string& page) {
  std::vector<Line> lines;
  for (const TableRow& row : table_rows(page)) {
    if (row.head.at(1) == "lines") {
      for (const std::string& code : code_spans(row.cells.at(1)))
        lines.push_back({code, code, false, row.line});
    } else if (row.head.at(0) == "PyTorch") {
      const std::vector<std::string> python = code_spans(row.cells.at(0));
      const std::vector<std::string> cpp = code_spans(row.cells.at(1));
      if (python.size() != cpp.size() || python.empty())
        throw std::runtime_error("line " + std::to_string(row.line) +
                                 ": the cells have different numbers of code spans");
      for (std::size_t i = 0; i < python.size(); ++i)
        lines.push_back({python[i], cpp[i], row.head.size() == 3, row.line});
    }
  }
  return lines;
}

std::string lines_source(const std::string& page, const std::string& json) {
  const std::string text = read_page(page);
  const auto expected = nlohmann::json::parse(read_page(json)).at("lines");
  const std::vector<CodeBlock> blocks = code_blocks(text);
  const auto first = std::find_if(blocks.begin(), blocks.end(),
                                  [](const CodeBlock& block) { return block.language == "cpp"; });
  Source source(page);
  source.add(
      "#include \"tests/docs/lines.h\"\nnamespace {\nusing namespace tend;\n"
      "using tend::test::Items, tend::test::items_of;\nstruct Lines {\n");
  source.add_from(first->text, first->line);
  const std::vector<Line> lines = lines_of(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto found = expected.find(lines[i].python);
    if (found == expected.end()) {
      throw std::runtime_error(page + ": tests/data/pytorch.json has no " + lines[i].python +
                               "; run tests/data/make_pytorch.py to write the file again");
    }
    source.add_from(
        "Items line_" + std::to_string(i) + "() { " + body_of(lines[i].cpp, *found) + " }\n",
        lines[i].number);
  }
  source.add(
      "};\n}\nnamespace tend::test {\nstd::vector<ComparedLine> compared_lines() {\nreturn {\n");
  for (std::size_t i = 0; i < lines.size(); ++i) {
    source.add("{" + std::to_string(lines[i].number) + ", " + quoted(lines[i].python) + ", " +
               quoted(lines[i].cpp) + ", " + (lines[i].differs ? "true" : "false") +
               ", run<Lines, &Lines::line_" + std::to_string(i) + ">},\n");
  }
  source.add("};\n}\n}\n");
  return source.text();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    std::string source;
    if (arguments.size() == 3 && arguments[0] == "blocks") {
      source = blocks_source(arguments[1]);
    } else if (arguments.size() == 4 && arguments[0] == "lines") {
      source = lines_source(arguments[1], arguments[2]);
    } else {
      std::cerr << "usage: generate_docs blocks PAGE SOURCE\n"
                   "       generate_docs lines PAGE JSON SOURCE\n";
      return 2;
    }
    std::ofstream file(arguments.back());
    file << source << std::flush;
    return file ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
