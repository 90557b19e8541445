#include <tend/attention/expressions/derivative.h>

#include <optional>

namespace tend::attention {
namespace {

using kernels::TileNode;
using kernels::TileOp;
using kernels::TileType;

/// Reverse-mode differentiation over the nodes of a function. It creates new nodes.
class Reverse {
 public:
  Reverse(Trace& trace, const TracedFunction& function)
      : trace_(trace), function_(function), gradients_(function.nodes.size()) {}

  void add(int node, const Expr& gradient) {
    std::optional<Expr>& sum = gradients_[static_cast<std::size_t>(node)];
    sum = sum ? *sum + gradient : gradient;
  }
  const std::optional<Expr>& gradient(int node) const {
    return gradients_[static_cast<std::size_t>(node)];
  }

  /// Adds the gradient of a node to the gradients of its inputs.
  void visit(int index) {
    const TileNode& node = function_.node(index);
    if (!gradient(index) || node.type != TileType::real) return;
    const Expr g = *gradient(index);
    const Expr out = trace_.value(index);
    const auto in = [&](std::size_t i) { return trace_.value(node.inputs[i]); };
    const auto to = [&](std::size_t i, const Expr& value) { add(node.inputs[i], value); };
    switch (node.op) {
      case TileOp::add: to(0, g), to(1, g); break;
      case TileOp::sub: to(0, g), to(1, -g); break;
      case TileOp::mul: to(0, g * in(1)), to(1, g * in(0)); break;
      case TileOp::div: to(0, g / in(1)), to(1, -g * out / in(1)); break;
      // As in minimum and maximum, equal inputs share the gradient. If an input is NaN, each input
      // gets the whole gradient.
      case TileOp::min: choose(g, in(0) > in(1), in(0) < in(1), in(0) == in(1), to); break;
      case TileOp::max: choose(g, in(0) < in(1), in(0) > in(1), in(0) == in(1), to); break;
      case TileOp::neg: to(0, -g); break;
      case TileOp::abs: to(0, where(in(0) > 0.0, g, where(in(0) < 0.0, -g, 0.0))); break;
      case TileOp::exp: to(0, g * out); break;
      case TileOp::log: to(0, g / in(0)); break;
      case TileOp::tanh: to(0, g * (1.0 - out * out)); break;
      case TileOp::where: to(1, where(in(0), g, 0.0)), to(2, where(in(0), 0.0, g)); break;
      default: break;  // the other operations have no real inputs
    }
  }

 private:
  template <class To>
  static void choose(const Expr& g, const Expr& loses0, const Expr& loses1, const Expr& equal,
                     To to) {
    const Expr share = where(equal, g * 0.5, g);
    to(0, where(loses0, 0.0, share));
    to(1, where(loses1, 0.0, share));
  }

  Trace& trace_;
  const TracedFunction& function_;
  std::vector<std::optional<Expr>> gradients_;
};

}  // namespace

TracedDerivative differentiate(const TracedFunction& score) {
  Trace trace(score);
  Reverse reverse(trace, score);
  reverse.add(score.results[0], trace.add(TileOp::grad, TileType::real));
  for (int i = static_cast<int>(score.nodes.size()) - 1; i >= 0; --i) reverse.visit(i);

  std::vector<Expr> results{Expr(0.0)};
  TracedDerivative made;
  for (int i = 0; i < static_cast<int>(score.nodes.size()); ++i) {
    const TileNode& node = score.node(i);
    if (!reverse.gradient(i)) continue;
    if (node.op == TileOp::score) results[0] = *reverse.gradient(i);
    if (node.op != TileOp::lookup || node.type != TileType::real) continue;
    results.push_back(*reverse.gradient(i));
    made.lookups.push_back(i);
  }
  made.function = trace.finish(results);
  return made;
}

}  // namespace tend::attention
