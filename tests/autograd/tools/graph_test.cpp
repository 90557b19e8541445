// How a graph is written as text and for Graphviz.
#include <tend/autograd/tools/graph.h>

#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

namespace {

struct Sample {
  Tensor x = ones({2, 3}, float64).requires_grad_();
  Tensor w = ones({3}, float64).requires_grad_();
  Tensor y = (exp(x) * w).sum();
};

}  // namespace

TEST_CASE("graph_text lists nodes from the result to the leaves with the bytes they save") {
  const Sample s;
  CHECK(autograd::graph_text({s.y}, {{"w", s.w}}) ==
        "%2 sum float64 () <- %1\n"
        "%1 mul float64 (2, 3) <- %0, w (3,); saves 72 B\n"
        "%0 exp float64 (2, 3) <- leaf (2, 3); saves 48 B\n");
  CHECK(autograd::graph_text({s.x}).empty());
}

TEST_CASE("graph_dot writes the same graph for Graphviz") {
  const Sample s;
  CHECK(autograd::graph_dot({s.y}, {{"the \"weight\"", s.w}}) ==
        "digraph tend {\n"
        "  n2 [shape=box, label=\"sum\nfloat64 ()\"];\n"
        "  n1 [shape=box, label=\"mul\nfloat64 (2, 3)\"];\n"
        "  leaf0 [shape=ellipse, label=\"the \\\"weight\\\" (3,)\"];\n"
        "  n0 [shape=box, label=\"exp\nfloat64 (2, 3)\"];\n"
        "  leaf1 [shape=ellipse, label=\"leaf (2, 3)\"];\n"
        "  n1 -> n2;\n"
        "  n0 -> n1;\n"
        "  leaf0 -> n1;\n"
        "  leaf1 -> n0;\n"
        "}\n");
}

TEST_CASE("a leaf is drawn once and without a shape if it was destroyed") {
  Tensor y;
  {
    const Tensor x = ones({2}).requires_grad_();
    y = x + x;
    CHECK(autograd::graph_text({y}, {{"nothing", Tensor()}, {"constant", ones({2})}, {"x", x}}) ==
          "%0 add float32 (2,) <- x (2,), x (2,)\n");
  }
  CHECK(autograd::graph_text({y}) == "%0 add float32 (2,) <- leaf, leaf\n");
  CHECK(autograd::graph_dot({y}) ==
        "digraph tend {\n"
        "  n0 [shape=box, label=\"add\nfloat32 (2,)\"];\n"
        "  leaf0 [shape=ellipse, label=\"leaf\"];\n"
        "  leaf0 -> n0;\n"
        "  leaf0 -> n0;\n"
        "}\n");
}

TEST_CASE("node_names lists the nodes in the graph of tensors") {
  const Tensor x = tensor({1, 2}, float64).requires_grad_();
  CHECK(autograd::node_names({x}).empty());
  const Tensor y = x * x;
  CHECK(autograd::node_names({y.sum(), y + x}) ==
        std::set<std::string>{"AddBackward0", "MulBackward0", "SumBackward0"});
}
