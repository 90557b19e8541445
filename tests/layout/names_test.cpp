// Lists of names that follow other names in the code.
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/layout/sources.h"

using namespace tend::test;

namespace {

std::string text_of(const Source& source) {
  std::string text;
  for (const std::string& line : source.lines) text += line + '\n';
  return text;
}

// f(each match) in the sources of all floors.
template <class F>
void for_each_match(const char* pattern, F f) {
  const std::regex regex(pattern);
  for (const std::string& floor : kFloors) {
    for (const Source& source : sources_of(floor)) {
      const std::string text = text_of(source);
      for (std::sregex_iterator i(text.begin(), text.end(), regex), end; i != end; ++i) f(*i);
    }
  }
}

}  // namespace

TEST_CASE("the words of an enumeration stand in the order of its enumerators") {
  std::map<std::string, std::vector<std::string>> enumerators;
  for_each_match(R"(enum class (\w+) \{([a-z0-9_,\s]+)\})", [&](const std::smatch& match) {
    enumerators[match.str(1)] = words_of(std::regex_replace(match.str(2), std::regex(","), " "));
  });
  std::size_t checked = 0;
  for_each_match(R"rx(kWords<(?:\w+::)*(\w+)>\s*=\s*"[a-z_]+: ([^"]+)")rx",
                 [&](const std::smatch& match) {
                   const std::vector<std::string>& names = enumerators[match.str(1)];
                   const std::vector<std::string> words = words_of(match.str(2));
                   CAPTURE(match.str(1), names, words);
                   REQUIRE(names.size() == words.size());
                   for (std::size_t i = 0; i < words.size(); ++i) {
                     // PyTorch's "fan_in" is Fan::in, and its "none" GeluKind::exact.
                     const bool is_exact = words[i] == "none" && names[i] == "exact";
                     CHECK((is_exact || words[i].ends_with(names[i])));
                   }
                   ++checked;
                 });
  CHECK(checked > 10);
}

TEST_CASE("an activation can be called in a score, or is deleted there by its name") {
  std::string activations, expressions;
  for (const Source& source : sources_of("autograd")) {
    if (source.path == "autograd/ops/activation.h") activations = text_of(source);
  }
  for (const Source& source : sources_of("attention")) {
    if (source.path == "attention/expressions/expr.h") expressions = text_of(source);
  }
  std::vector<std::string> missing;
  std::size_t functions = 0;
  const std::regex declaration(R"(\nTensor (\w+)\(const Tensor& self)");
  for (std::sregex_iterator i(activations.begin(), activations.end(), declaration), end; i != end;
       ++i, ++functions) {
    if (expressions.find(' ' + i->str(1) + "(const Expr&") == std::string::npos)
      missing.push_back(i->str(1));
  }
  const std::vector<std::string> none;
  CHECK(missing == none);
  CHECK(functions > 20);
}
