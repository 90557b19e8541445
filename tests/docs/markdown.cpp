#include "tests/docs/markdown.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>

#include "tests/text.h"

namespace tend::test {

namespace {

// Calls text(line, number) for each line. Lines in code blocks are passed as empty strings.
template <class Text>
void for_each_text_line(const std::string& page, Text text) {
  std::istringstream lines(page);
  bool in_code = false;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.starts_with("```")) {
      in_code = !in_code;
      text("", number);
    } else {
      text(in_code ? std::string() : line, number);
    }
  }
}

// The cells of "| a | b |". A bar in a cell has a backslash before it.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::size_t begin = 1;
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (line[i] != '|' || line[i - 1] == '\\') continue;
    cells.push_back(trimmed(line.substr(begin, i - begin)));
    begin = i + 1;
  }
  return cells;
}

}  // namespace

std::string read_page(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file || text.str().empty()) throw std::runtime_error("cannot read " + path);
  return text.str();
}

std::vector<CodeBlock> code_blocks(const std::string& page) {
  std::vector<CodeBlock> blocks;
  std::istringstream lines(page);
  bool in_code = false;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.starts_with("```")) {
      in_code = !in_code;
      if (in_code) blocks.push_back({line.substr(3), "", number + 1});
    } else if (in_code) {
      blocks.back().text += line + '\n';
    }
  }
  return blocks;
}

std::vector<TableRow> table_rows(const std::string& page) {
  std::vector<TableRow> rows;
  std::vector<std::string> head;
  for_each_text_line(page, [&](const std::string& line, int number) {
    if (!line.starts_with("|")) {
      head.clear();
    } else if (head.empty()) {
      head = cells_of(line);
    } else if (line.find_first_not_of("|-: ") != std::string::npos) {
      rows.push_back({head, cells_of(line), number});
    }
  });
  return rows;
}

std::vector<Link> links(const std::string& page) {
  static const std::regex code("`[^`]*`"), link(R"(\]\(([^)\s]+)\))");
  std::vector<Link> found;
  for_each_text_line(page, [&](const std::string& line, int number) {
    const std::string text = std::regex_replace(line, code, "");
    for (std::sregex_iterator at(text.begin(), text.end(), link), end; at != end; ++at)
      found.push_back({(*at)[1], number});
  });
  return found;
}

std::vector<std::string> anchors(const std::string& page) {
  std::vector<std::string> found;
  for_each_text_line(page, [&](const std::string& line, int) {
    const std::size_t level = line.find_first_not_of('#');
    if (level == 0 || level == std::string::npos || line[level] != ' ') return;
    std::string anchor;
    for (const char c : trimmed(line.substr(level))) {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_') {
        anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      } else if (c == ' ') {
        anchor += '-';
      }
    }
    const auto same = std::count(found.begin(), found.end(), anchor);
    found.push_back(same == 0 ? anchor : anchor + '-' + std::to_string(same));
  });
  return found;
}

std::vector<std::string> code_spans(const std::string& cell) {
  static const std::regex span("`([^`]+)`"), bar(R"(\\\|)");
  std::vector<std::string> spans;
  for (std::sregex_iterator at(cell.begin(), cell.end(), span), end; at != end; ++at)
    spans.push_back(std::regex_replace((*at)[1].str(), bar, "|"));
  return spans;
}

}  // namespace tend::test
