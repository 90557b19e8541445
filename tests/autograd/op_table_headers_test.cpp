// The operation table against the headers that declare operations: rows, error cases, comments, and
// the names that nodes have.
#include <cstdint>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <tend/autograd/graph/node.h>

#include "tests/autograd/op_cases.h"
#include "tests/counts.h"

using namespace tend;
using namespace tend::test;

namespace {

using Tensors = std::vector<Tensor>;

std::string read_text(const std::string& path) {
  std::ifstream file(std::string(TEND_SOURCE) + "/" + path);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string read_source(const std::string& path) {
  return std::regex_replace(read_text(path), std::regex("//[^\n]*"), "");
}

// A header of operations with the table of rows that it includes, if it does.
std::string with_table(const std::string& header) {
  const std::string text = read_text(header);
  std::smatch table;
  const std::regex include("#define TEND_TABLE <tend/([a-z_/]+\\.h)>");
  return std::regex_search(text, table, include) ? text + '\n' + read_text(table[1]) : text;
}

// Rows of tables, and of those the ones that have an in-place twin.
const std::string kRow = "TEND_[A-Z_]+\\(([a-z0-9_]+)[,)]";
const std::string kRowWithTwin =
    "\nTEND_(?:UNARY|BINARY|COMPARISON|LOGICAL|BITWISE)\\(([a-z0-9_]+)[,)]";

// The headers that declare operations.
std::vector<std::string> operation_headers() {
  std::vector<std::string> headers = {
      "attention/functions/flex_attention.h", "attention/functions/masked_softmax.h",
      "attention/functions/rotary.h", "attention/functions/scaled_dot_product.h"};
  const std::string umbrella = read_source("autograd/ops/ops.h");
  const std::regex include("<tend/(autograd/ops/[a-z_]+\\.h)>");
  for (std::sregex_iterator at(umbrella.begin(), umbrella.end(), include), end; at != end; ++at) {
    headers.push_back((*at)[1]);
  }
  return headers;
}

// The names that `pattern` catches in a header and its table.
std::set<std::string> names_in(const std::string& header, const std::string& pattern) {
  const std::string text = std::regex_replace(with_table(header), std::regex("//[^\n]*"), "");
  const std::regex expression(pattern);
  std::set<std::string> names;
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at) {
    names.insert((*at)[1]);
  }
  return names;
}

std::set<std::string> declared_operations() {
  std::set<std::string> names;
  for (const std::string& header : operation_headers()) {
    names.merge(names_in(header, "\n[A-Za-z:<>][A-Za-z:<>, ]* ([a-z][a-z0-9_]*)\\("));
    names.merge(names_in(header, "\n" + kRow));
  }
  return names;
}

// Methods that write in place, without the underscore.
std::set<std::string> in_place_methods() {
  std::set<std::string> names =
      names_in("autograd/tensor/in_place_methods.h", "\n *const Tensor& ([a-z0-9_]+)_\\(");
  for (const std::string& header : operation_headers()) {
    names.merge(names_in(header, kRowWithTwin));
  }
  return names;
}

// The functions of a header, operators too, each with its /// comment or that of its ///@{ group.
std::vector<std::pair<std::string, std::string>> comments_in(const std::string& header) {
  const std::regex function("^[A-Za-z:<>][A-Za-z:<>, ]* (operator..?|[a-z][a-z0-9_]*)\\(");
  const std::regex row('^' + kRow);
  std::vector<std::pair<std::string, std::string>> found;
  std::istringstream lines(with_table(header));
  std::string comment;
  bool in_group = false;
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (line == "///@{" || line == "///@}") {
      in_group = line.back() == '{';
      comment.clear();
    } else if (line.starts_with("///")) {
      comment += line;
    } else {
      if (std::regex_search(line, match, function) || std::regex_search(line, match, row))
        found.emplace_back(match[1], comment);
      if (!in_group) comment.clear();
    }
  }
  return found;
}

// Functions without a derivative.
const std::set<std::string> kNotDifferentiable = {
    // creation.h
    "arange", "empty", "eye", "from_blob", "full", "full_like", "linspace", "ones", "ones_like",
    "tensor", "zeros", "zeros_like",
    // random.h
    "bernoulli", "multinomial", "normal", "rand", "randint", "randn", "randperm",
    // compare.h
    "allclose", "equal", "empty_like", "rand_like", "randn_like", "tensor_of", "tril_indices",
    "triu_indices"};

// Operations that take any tensor of any dtype, and have no other argument that could be wrong.
const std::set<std::string> kCannotFail = {
    // functions of an element, for which integers and bools become floating
    "acos", "asin", "atan", "cos", "cosh", "entr", "erf", "erfc", "exp", "exp2", "expm1", "log",
    "log10", "log1p", "log2", "digamma", "erfinv", "lgamma", "logit", "reciprocal", "rsqrt",
    "sigmoid", "sin", "sinh", "sqrt", "tan", "tanh",
    // functions of an element that every dtype has
    "isfinite", "isinf", "isnan", "logical_not", "nan_to_num", "sign", "square",
    // any shape and dtype, too
    "isin", "kron", "nonzero", "nonzero_numpy",
    // copies
    "clone", "contiguous", "to"};

// Methods that write in place and have no twin that computes.
const std::set<std::string> kOnlyInPlace = {"bernoulli", "copy",    "exponential", "fill",
                                            "normal",    "uniform", "zero"};

}  // namespace

TEST_CASE("every declared operation has a row, and every row an operation", "[table]") {
  const std::set<std::string> declared = declared_operations();
  CHECK(declared.count("matmul") == 1);
  std::set<std::string> rows;
  for (const Op& op : op_table()) rows.insert(op.name);
  for (const std::string& name : declared) {
    INFO(name);
    CHECK(rows.count(name) + kNotDifferentiable.count(name) == 1);
  }
  for (const std::string& name : rows) {
    INFO(name);
    CHECK(declared.count(name) == 1);
  }
  for (const std::string& name : kNotDifferentiable) {
    INFO(name);
    CHECK(declared.count(name) == 1);
  }
  write_count("operations", static_cast<std::int64_t>(rows.size()));
  write_count("rows", static_cast<std::int64_t>(op_table().size()));
}

TEST_CASE("every operation has an error case, but for those that cannot fail", "[table]") {
  std::set<std::string> all, refusing;
  for (const Op& op : op_table()) {
    all.insert(op.name);
    if (!op.refusals.empty()) refusing.insert(op.name);
  }
  for (const std::string& name : all) {
    INFO(name);
    CHECK(refusing.count(name) + kCannotFail.count(name) == 1);
  }
  for (const std::string& name : kCannotFail) {
    INFO(name);
    CHECK(all.count(name) == 1);
  }
}

// From which the site makes the reference.
TEST_CASE("every operation has a comment that tells its gradient, and its family a reference",
          "[table]") {
  const std::string reference = read_text("docs/reference.md");
  const std::regex gradient("gradient", std::regex::icase);
  for (const std::string& header : operation_headers()) {
    INFO(header);
    CHECK(reference.find("(../" + header + ")") != std::string::npos);
    for (const auto& [name, comment] : comments_in(header)) {
      INFO(name);
      CHECK_FALSE(comment.empty());
      if (!kNotDifferentiable.contains(name)) {
        CHECK(std::regex_search(comment, gradient));
      }
    }
  }
}

TEST_CASE("every in-place method has a row", "[table]") {
  std::set<std::string> rows;
  for (const Op& op : op_table()) {
    if (!op.twins.empty()) rows.insert(op.name);
  }
  for (const std::string& name : in_place_methods()) {
    INFO(name);
    CHECK(rows.count(name) + kOnlyInPlace.count(name) == 1);
  }
}

namespace {

// The nodes behind tensors.
std::set<const Node*> nodes_behind(const Tensors& outputs) {
  std::vector<const Node*> found;
  for (const Tensor& output : outputs) found.push_back(output.impl()->grad_fn.get());
  std::set<const Node*> nodes;
  while (!found.empty()) {
    const Node* node = found.back();
    found.pop_back();
    if (node == nullptr || !nodes.insert(node).second) continue;
    for (const Edge& edge : node->edges()) found.push_back(edge.node.get());
  }
  return nodes;
}

}  // namespace

// Graphs, anomaly mode and errors show these names: none may be that of a helper.
TEST_CASE("nodes have the names that users call operations by", "[table]") {
  std::set<std::string> names = declared_operations();
  for (const std::string& name : in_place_methods()) names.insert(name + '_');
  std::size_t nodes = 0;
  for_each_case([&](const Op& op, const Sample& sample, Layout layout) {
    if (layout == Layout::expanded) return;  // some rows do not have it
    const Case made = make_case(op, sample, layout);
    const Tensors outputs = op.call(made.inputs);  // which keep the nodes
    for (const Node* node : nodes_behind(outputs)) {
      INFO(node->operation() << ", which prints as " << node->grad_fn());
      CHECK(names.count(node->operation()) == 1);
      ++nodes;
    }
  });
  CHECK(nodes > 1000);  // the test has looked at something
}
