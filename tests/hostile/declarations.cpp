#include "tests/hostile/declarations.h"

#include <cstddef>
#include <fstream>
#include <iterator>
#include <regex>
#include <stdexcept>

#include "tests/text.h"

namespace tend::test {
namespace {

// As one line, whose words stand one space apart.
std::string on_one_line(const std::string& text) {
  return trimmed(std::regex_replace(text, std::regex("\\s+"), " "));
}

// Without comments and preprocessor lines.
std::string read_code(const std::string& path) {
  std::ifstream file(std::string(TEND_SOURCE) + "/" + path);
  if (!file) throw std::runtime_error("no header " + path);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  text = std::regex_replace(text, std::regex("//[^\n]*"), "");
  text = std::regex_replace(text, std::regex("/\\*[^*]*\\*/"), "");
  return std::regex_replace(text, std::regex("(^|\n)#([^\n]*\\\\\n)*[^\n]*"), "\n");
}

// Behind the bracket that closes the one at `open`.
std::size_t behind_bracket(const std::string& text, std::size_t open) {
  const char opening = text[open];
  const char closing = opening == '(' ? ')' : opening == '<' ? '>' : '}';
  int depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    if (text[at] == opening) ++depth;
    if (text[at] == closing && --depth == 0) return at + 1;
  }
  return text.size();
}

// The text between brackets, cut at commas that are in none.
std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  std::string part;
  int depth = 0;
  for (const char c : text) {
    if (c == '(' || c == '<' || c == '{') ++depth;
    if (c == ')' || c == '>' || c == '}') --depth;
    if (c == ',' && depth == 0) {
      parts.push_back(part);
      part.clear();
    } else {
      part += c;
    }
  }
  if (!on_one_line(part).empty() || !parts.empty()) parts.push_back(part);
  return parts;
}

// "const Tensor&" of "const Tensor& x = {}".
std::string type_of(std::string parameter) {
  parameter = on_one_line(parameter.substr(0, parameter.find('=')));
  std::smatch match;
  if (std::regex_match(parameter, match, std::regex("(.*[ &*>.])([A-Za-z_][A-Za-z_0-9]*)")) &&
      on_one_line(match[1]) != "const") {
    return on_one_line(match[1]);
  }
  return parameter;
}

// The function that a statement declares, "" for none.
std::string function_in(std::string statement) {
  statement = on_one_line(statement);
  static const std::regex passed_over(
      R"(^(friend|using|typedef|static_assert|return|extern)\b.*|.*= delete.*|.*~.*\(\).*)");
  if (std::regex_match(statement, passed_over)) return {};
  while (statement.starts_with("template")) {
    const std::size_t open = statement.find('<');
    statement = on_one_line(statement.substr(behind_bracket(statement, open)));
  }
  while (statement.starts_with("requires")) {
    statement = on_one_line(statement.substr(8));
    if (statement.starts_with("(")) {
      statement = on_one_line(statement.substr(behind_bracket(statement, 0)));
      continue;
    }
    while (statement.starts_with("std::") || statement.starts_with("|| ")) {
      if (statement.starts_with("|| ")) statement = statement.substr(3);
      statement = on_one_line(statement.substr(behind_bracket(statement, statement.find('<'))));
    }
  }
  static const std::regex result("^(?:inline |static |virtual |explicit )*decltype\\(auto\\) ");
  statement = std::regex_replace(statement, result, "auto ");
  std::smatch match;
  static const std::regex name(R"((operator ?(?:\(\)|\[\]|[^( ]+)|[A-Za-z_][A-Za-z_0-9]*) ?\()");
  if (!std::regex_search(statement, match, name)) return {};
  const std::string before = match.prefix();
  if (before.find('=') != std::string::npos) return {};            // a variable
  if (before.ends_with("::") || before.ends_with("<")) return {};  // defined outside; a type
  if (match[1].str().starts_with("TEND_")) return {};              // a field
  const auto open = static_cast<std::size_t>(match.position() + match.length() - 1);
  const std::size_t close = behind_bracket(statement, open);
  std::string text = match[1].str() + "(";
  bool first = true;
  for (const std::string& part : parts_of(statement.substr(open + 1, close - open - 2))) {
    text += (first ? "" : ", ") + type_of(part);
    first = false;
  }
  return text + ")";
}

struct Scope {
  std::string name;  // empty for a namespace or class that is passed over
  bool is_public = true;
};

class Reader {
 public:
  explicit Reader(std::string code) : code_(std::move(code)) {}

  std::vector<std::string> read() {
    int depth = 0;
    for (std::size_t at = 0; at < code_.size(); ++at) {
      const char c = code_[at];
      if (c == '(') ++depth;
      if (c == ')') --depth;
      if (depth > 0) {
        statement_ += c;
      } else if (c == '{') {
        at = open_bracket(at);
      } else if (c == '}') {
        if (!scopes_.empty()) scopes_.pop_back();
        statement_.clear();
      } else if (c == ';') {
        note(statement_);
        statement_.clear();
      } else if (c == ':' && is_access(on_one_line(statement_))) {
        scopes_.back().is_public = on_one_line(statement_) == "public";
        statement_.clear();
      } else {
        statement_ += c;
      }
    }
    return found_;
  }

 private:
  static bool is_access(const std::string& word) {
    return word == "public" || word == "private" || word == "protected";
  }

  // Where the reading goes on.
  std::size_t open_bracket(std::size_t at) {
    const std::string statement = on_one_line(statement_);
    std::smatch match;
    static const std::regex space("namespace ?([A-Za-z_:]*)");
    static const std::regex type(
        "(?:template ?<.*> ?)?(class|struct) (?:alignas\\(.*\\) )?([A-Za-z_0-9]+)[^()]*");
    if (std::regex_match(statement, match, space)) {
      scopes_.push_back({match[1], true});
      statement_.clear();
      return at;
    }
    if (std::regex_match(statement, match, type)) {
      scopes_.push_back({match[2], match[1] == "struct"});
      statement_.clear();
      return at;
    }
    const bool is_function = !function_in(statement).empty();
    const std::size_t end = behind_bracket(code_, at) - 1;
    // An initialiser of a member may follow the parameters of a constructor.
    if (is_function && !std::regex_search(code_.substr(end + 1, 8), std::regex("^\\s*[,{]"))) {
      note(statement_);
      statement_.clear();
    } else if (statement.find("enum") == 0) {
      statement_.clear();
    }
    return end;
  }

  void note(const std::string& statement) {
    std::string scope;
    for (const Scope& each : scopes_) {
      if (!each.is_public || each.name == "detail") return;
      if (!each.name.empty()) scope += each.name + "::";
    }
    const std::string function = function_in(statement);
    if (function.empty()) return;
    if (scope.starts_with("tend::")) scope = scope.substr(6);
    if (scope.starts_with("methods::")) scope = "Tensor::";
    const std::string& type = scopes_.empty() ? scope : scopes_.back().name;
    if (function == type + "(const " + type + "&)" || function == type + "(" + type + "&&)") return;
    if (function.starts_with("operator=(")) return;
    found_.push_back(scope + function);
  }

  std::string code_;
  std::string statement_;
  std::vector<Scope> scopes_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> declarations_of(const std::string& path) {
  return Reader(read_code(path)).read();
}

}  // namespace tend::test
