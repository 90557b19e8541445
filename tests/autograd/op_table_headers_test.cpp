// Compares the operation table with the headers that declare operations, and checks the names of
// nodes.
#include <cstdint>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
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

// The text of a header without comments. If the header includes a table, the table's text follows.
std::string read_source(const std::string& path) {
  std::string text = read_text(path);
  std::smatch table;
  const std::regex include("#define TEND_TABLE <tend/([a-z_/]+\\.h)>");
  if (std::regex_search(text, table, include)) text += '\n' + read_text(table[1]);
  return std::regex_replace(text, std::regex("//[^\n]*"), "");
}

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

// The names that the first group of `pattern` matches in a header.
std::set<std::string> names_in(const std::string& header, const std::string& pattern) {
  const std::string text = read_source(header);
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
    names.merge(names_in(header, "\nTEND_[A-Z_]+\\(([a-z0-9_]+)[,)]"));  // a row of a table
  }
  return names;
}

// Functions without a derivative.
const std::set<std::string> kNotDifferentiable = {
    // creation.h
    "arange", "empty", "eye", "from_blob", "full", "full_like", "linspace", "ones", "ones_like",
    "tensor", "vector_of", "zeros", "zeros_like",
    // random.h
    "bernoulli", "multinomial", "normal", "rand", "randint", "randn", "randperm",
    // compare.h
    "allclose", "equal", "empty_like", "rand_like", "randn_like", "tensor_of", "tril_indices",
    "triu_indices"};

// In-place methods that are not the in-place form of an operation in the table.
const std::set<std::string> kOnlyInPlace = {"bernoulli", "copy",    "exponential", "fill",
                                            "normal",    "uniform", "zero"};

}  // namespace

TEST_CASE("every declared operation has a row and every row has an operation", "[table]") {
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

TEST_CASE("every in-place method has a row", "[table]") {
  std::set<std::string> rows;
  for (const Op& op : op_table()) {
    if (!op.in_place_forms.empty()) rows.insert(op.name);
  }
  std::set<std::string> methods =
      names_in("autograd/tensor/in_place_methods.h", "\n *const Tensor& ([a-z0-9_]+)_\\(");
  for (const std::string& header : operation_headers()) {
    methods.merge(
        names_in(header, "\nTEND_(?:UNARY|BINARY|COMPARISON|LOGICAL|BITWISE)\\(([a-z0-9_]+)[,)]"));
  }
  for (const std::string& name : methods) {
    INFO(name);
    CHECK(rows.count(name) + kOnlyInPlace.count(name) == 1);
  }
}

namespace {

// All nodes in the graph of the tensors.
std::set<const Node*> graph_nodes(const Tensors& outputs) {
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

// Graphs, anomaly mode and errors show these names, so no node may have the name of a helper.
TEST_CASE("nodes have the names of operations that users call", "[table]") {
  std::set<std::string> names;
  for (const Op& op : op_table()) names.insert({op.name, op.name + '_'});
  for (const std::string& name : kOnlyInPlace) names.insert(name + '_');
  std::size_t nodes = 0;
  for_each_case([&](const Op& op, const Sample& sample, Layout layout) {
    if (layout == Layout::expanded) return;  // some rows do not support it
    const Case made = make_case(op, sample, layout);
    const Tensors outputs = op.call(made.inputs);  // these own the nodes
    for (const Node* node : graph_nodes(outputs)) {
      INFO(node->operation() << ", which prints as " << node->grad_fn());
      CHECK(names.count(node->operation()) == 1);
      ++nodes;
    }
  });
  CHECK(nodes > 1000);  // the loop has checked something
}
