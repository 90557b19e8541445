// Reads Markdown pages, for tests and generators.
#pragma once

#include <string>
#include <vector>

namespace tend::test {

/// A block between ``` lines.
struct CodeBlock {
  std::string language;  // "cpp"
  std::string text;      // its lines, each with a newline
  int line = 0;          // the number of its first line, counted from 1
};

/// A row of a table, together with the table's head.
struct TableRow {
  std::vector<std::string> head;
  std::vector<std::string> cells;
  int line = 0;
};

/// A link or an image outside of code.
struct Link {
  std::string target;  // "threads.md#allowed"
  int line = 0;
};

/// The text of a page. Throws std::runtime_error if it cannot be read.
std::string read_page(const std::string& path);

std::vector<CodeBlock> code_blocks(const std::string& page);
std::vector<TableRow> table_rows(const std::string& page);
std::vector<Link> links(const std::string& page);
/// The anchors that GitHub gives to the headings of a page.
std::vector<std::string> anchors(const std::string& page);
/// The pieces of code between backticks in a cell. `\|` becomes a bar.
std::vector<std::string> code_spans(const std::string& cell);

}  // namespace tend::test
