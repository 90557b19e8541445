// docs/options.md lists every struct of options. The page is generated from the headers.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/docs/markdown.h"

using namespace tend::test;

namespace {

namespace fs = std::filesystem;

const fs::path kSource(TEND_SOURCE);
const std::string kHead = R"(# Options

Every struct of options, with its fields in the order of PyTorch's arguments. Name the fields that you set, in this order:
`optim::SGD(model.parameters(), {.lr = 0.1, .momentum = 0.9})`. The headers say what each field does.

The compiler refuses a different order. For an unknown name, its error is `no matching function`. A
note after the error names the struct: `no known conversion for argument 3 from '<brace-enclosed initializer list>' to 'const LossOptions&'`.

This page is generated from the headers: `TEND_WRITE_OPTIONS=1 build/release/tests/docs/test_docs "docs/options.md*"`.
)";

std::string squeezed(const std::string& text) {
  const std::string spaces = std::regex_replace(text, std::regex("\\s+"), " ");
  return std::regex_replace(spaces, std::regex("^ | $"), "");
}

// The fields of a struct, without comments. All fields have defaults.
std::vector<std::string> fields_of(const std::string& body) {
  const std::string code = std::regex_replace(body, std::regex("//[^\n]*"), "");
  const std::regex field("\n  (?!friend )(\\w[^=;{]*=[^;]*);");
  std::vector<std::string> fields;
  for (std::sregex_iterator at(code.begin(), code.end(), field), end; at != end; ++at) {
    fields.push_back(squeezed((*at)[1]));
  }
  return fields;
}

// The first sentence of the comment that ends before `end`.
std::string comment_before(const std::string& text, std::size_t end) {
  std::string comment;
  while (end > 0) {
    const std::size_t begin = end < 2 ? 0 : text.rfind('\n', end - 2) + 1;
    const std::string line = text.substr(begin, end - begin);
    if (line.starts_with("/// ")) {
      comment = line.substr(4) + comment;
    } else if (line == "///\n") {
      comment.clear();  // what follows the first paragraph
    } else if (!line.starts_with("template <")) {
      break;
    }
    end = begin;
  }
  std::smatch found;
  comment = squeezed(comment);
  return std::regex_search(comment, found, std::regex("^.*?\\.(?= |$)")) ? found[0].str() : comment;
}

std::string row_of(const std::string& name, const std::string& comment, const std::string& body,
                   const std::string& header) {
  INFO(header << ": " << name << " needs a comment, /// The options of ...");
  CHECK_FALSE(comment.empty());
  std::string row = "| [`" + name + "`](../" + header + ") | " + comment + " | ";
  const std::vector<std::string> fields = fields_of(body);
  CHECK_FALSE(fields.empty());
  for (const std::string& field : fields) {
    row += '`' + std::regex_replace(field, std::regex("\\|"), "\\|") + "`<br>";
  }
  return row.substr(0, row.size() - 4) + " |\n";
}

std::string page_from_headers() {
  std::vector<fs::path> headers;
  for (const char* floor : {"core", "autograd", "nn", "attention"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kSource / floor)) {
      if (entry.path().extension() == ".h") headers.push_back(fs::relative(entry.path(), kSource));
    }
  }
  std::sort(headers.begin(), headers.end());
  const std::regex declaration("\nstruct ([A-Za-z0-9]*(?:Options|Config)) \\{([^]*?)\n\\};");
  std::string page = kHead, folder;
  for (const fs::path& header : headers) {
    const std::string text = read_page((kSource / header).string());
    for (std::sregex_iterator at(text.begin(), text.end(), declaration), end; at != end; ++at) {
      if (header.parent_path() != folder) {
        folder = header.parent_path().string();
        page += "\n## " + folder + "\n\n| options | of | fields |\n|---|---|---|\n";
      }
      const std::size_t begin = static_cast<std::size_t>(at->position()) + 1;
      const std::size_t space = text.rfind("\nnamespace tend", begin) + 15;
      std::string scope = text.substr(space, text.find(' ', space) - space);  // "::nn", or empty
      if (!scope.empty()) scope = scope.substr(2) + "::";
      page +=
          row_of(scope + (*at)[1].str(), comment_before(text, begin), (*at)[2], header.string());
    }
  }
  return page;
}

}  // namespace

TEST_CASE("docs/options.md is generated from the headers") {
  const std::string page = page_from_headers();
  if (std::getenv("TEND_WRITE_OPTIONS") != nullptr) {
    std::ofstream(kSource / "docs/options.md") << page;
  }
  const std::string current = read_page((kSource / "docs/options.md").string());
  INFO("run TEND_WRITE_OPTIONS=1 build/release/tests/docs/test_docs \"docs/options.md*\"");
  CHECK(current == page);
}
