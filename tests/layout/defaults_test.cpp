// C++ wants a default argument wherever it is used: at a function, at the method and at the
// in-place twin. This holds them together.
#include <algorithm>
#include <map>
#include <regex>
#include <span>

#include "tests/catch.h"
#include "tests/layout/sources.h"
#include "tests/text.h"

using namespace tend::test;

namespace {

struct Parameter {
  std::string type, value;  // "Flag", "false"; no value where there is no default
};

struct Declaration {
  std::string name;
  std::vector<Parameter> parameters;
};

// "const Dims& dims = {}" is {"const Dims&", "{}"}.
Parameter parameter_of(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string declared = trimmed(text.substr(0, equals));
  Parameter out;
  out.type = trimmed(declared.substr(0, declared.find_last_of(' ')));
  if (equals != std::string::npos) out.value = trimmed(text.substr(equals + 1));
  return out;
}

// Parts of a list, at the commas that are in no bracket.
std::vector<Parameter> parameters_of(const std::string& list) {
  std::vector<Parameter> out;
  std::string part;
  int depth = 0;
  for (const char c : list + ",") {
    if (c == ',' && depth == 0) {
      if (!trimmed(part).empty()) out.push_back(parameter_of(trimmed(part)));
      part.clear();
      continue;
    }
    depth += c == '(' || c == '{' || c == '<' ? 1 : c == ')' || c == '}' || c == '>' ? -1 : 0;
    part += c;
  }
  return out;
}

// What `pattern` finds in a header: a name and a list of parameters.
std::vector<Declaration> declarations_in(const Source& source, const std::string& pattern) {
  std::string text;
  for (const std::string& line : source.lines) text += line.substr(0, line.find("//")) + ' ';
  text = std::regex_replace(text, std::regex(" +"), " ");
  std::vector<Declaration> out;
  const std::regex declaration(pattern);
  for (std::sregex_iterator at(text.begin(), text.end(), declaration), end; at != end; ++at) {
    out.push_back({(*at)[1], parameters_of((*at)[2])});
  }
  return out;
}

bool same_types(std::span<const Parameter> a, std::span<const Parameter> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Parameter& x, const Parameter& y) { return x.type == y.type; });
}

}  // namespace

TEST_CASE("methods and in-place twins have the default arguments of their functions") {
  std::multimap<std::string, Declaration> functions;
  std::vector<Declaration> methods;
  for (const Source& source : sources_of("autograd")) {
    if (source.path.starts_with("autograd/ops/") && source.path.ends_with(".h")) {
      for (Declaration& each : declarations_in(source, R"((\w+)\(([^;]*)\);)")) {
        functions.emplace(each.name, std::move(each));
      }
    } else if (source.path.ends_with("_methods.h")) {
      for (Declaration& each : declarations_in(source, R"((\w+)\(([^;]*)\) const;)")) {
        methods.push_back(std::move(each));
      }
    }
  }
  std::size_t compared = 0;
  for (const Declaration& method : methods) {
    const bool twin = method.name.ends_with('_');
    const std::string name = twin ? method.name.substr(0, method.name.size() - 1) : method.name;
    const auto [first, last] = functions.equal_range(name);
    for (auto at = first; at != last; ++at) {
      const std::vector<Parameter>& of_function = at->second.parameters;
      if (of_function.empty() || of_function[0].type != "const Tensor&") continue;
      const std::span<const Parameter> others = std::span(of_function).subspan(1);
      if (!same_types(others, method.parameters)) continue;
      for (std::size_t i = 0; i < others.size(); ++i) {
        INFO(method.name << ", parameter " << i);
        // bernoulli_() has a p, while bernoulli(x) takes x for the probabilities.
        const bool own = method.name == "bernoulli_" && others[i].type == "double";
        CHECK(method.parameters[i].value == (own ? "0.5" : others[i].value));
        compared += others[i].value.empty() ? 0 : 1;
      }
    }
  }
  CHECK(compared > 60);  // the test has looked at something
}
