// Gradients, and functions that take functions.
#include "tests/hostile/typed_calls.h"

namespace tend::test {
namespace {

using autograd::Function;
using autograd::FunctionContext;

// A custom function that does what a number says.
struct Custom : Function<Custom> {
  explicit Custom(std::int64_t number) : kind(number) {}

  Tensor forward(FunctionContext& context, const Tensor& x, const Tensor& y) const {
    context.save_for_backward({x, y});
    if (kind == 10) context.mark_non_differentiable({x});
    if (kind > 10) {
      context.mark_dirty({x});
      return kind == 11 ? x : y;
    }
    return kind == 0 ? Tensor() : kind == 1 ? x : kind == 2 ? x.unsqueeze(0) : x * 2;
  }
  Tensors backward(const FunctionContext& context, const Tensor& grad) const {
    switch (kind) {
      case 3: return {};
      case 4: return {Tensor(), Tensor()};
      case 5: return {ones({7}), grad};
      case 6: return {grad.to(int64), grad};
      case 7: return {context.saved(9), grad};
      case 8: return {context.needs_input_grad(9) ? grad : grad, grad};
      default: return {context.saved(0), grad};
    }
  }
  std::int64_t kind;
};

PublicFunction custom_function() {
  return by_hand("autograd::Function::apply(const Inputs&...)", [](Arguments& a) {
    const std::int64_t kind = a.draws().between(0, 12);
    a.say(kind);
    const Tensor x = a.tensor(), y = a.tensor();
    return DrawnCall([=]() -> Tensors { return {Custom(kind).apply(x, y)}; });
  });
}

PublicFunction list_checkpoint() {
  return by_hand(
      "autograd::checkpoint(const TensorFunction&, const std::vector<Tensor>&, const "
      "CheckpointOptions&)",
      [](Arguments& a) {
        const auto f = drawn<TensorFunction>(a);
        const Tensors inputs = a.tensors(3);
        const autograd::CheckpointOptions options{a.flag()};
        return DrawnCall([=] { return autograd::checkpoint(f, inputs, options); });
      });
}

PublicFunction small_checkpoint() {
  return by_hand("autograd::checkpoint(F, const Tensor&, const CheckpointOptions&)",
                 [](Arguments& a) {
                   const Tensor x = a.tensor();
                   return DrawnCall([=]() -> Tensors {
                     return {autograd::checkpoint([](const Tensor& t) { return t.exp(); }, x)};
                   });
                 });
}

}  // namespace

std::vector<PublicFunction> autograd_functions() {
  using namespace autograd;
  return {
      writing(TEND_FUNCTION(backward, const std::vector<Tensor>&, const std::vector<Tensor>&, Flag,
                            Flag)),
      writing(TEND_FUNCTION(backward, const std::vector<Tensor>&, const std::vector<Tensor>&, Flag,
                            Flag, const std::vector<Tensor>&)),
      With<const Tensors&, const Tensors&, const Tensors&, autograd::GradOptions>::function(
          "autograd::grad(const std::vector<Tensor>&, const std::vector<Tensor>&, const "
          "std::vector<Tensor>&, GradOptions)",
          static_cast<Tensors (*)(const Tensors&, const Tensors&, const Tensors&,
                                  autograd::GradOptions)>(autograd::grad)),
      by_hand("autograd::grad(const Outputs&, const std::vector<Tensor>&, N, GradOptions)",
              [](Arguments& a) {
                return DrawnCall([outputs = drawn<Tensors>(a), inputs = drawn<Tensors>(a),
                                  options = drawn<autograd::GradOptions>(a)] {
                  return autograd::grad(outputs, inputs, None, options);
                });
              }),
      TEND_FUNCTION(autograd::vjp, const TensorFunction&, const std::vector<Tensor>&,
                    const std::vector<Tensor>&, Flag),
      TEND_FUNCTION(autograd::jvp, const TensorFunction&, const std::vector<Tensor>&,
                    const std::vector<Tensor>&, Flag),
      TEND_FUNCTION(autograd::jacobian, const TensorFunction&, const std::vector<Tensor>&, Flag),
      TEND_FUNCTION(autograd::hessian, const TensorFunction&, const std::vector<Tensor>&, Flag),
      TEND_FUNCTION(autograd::hvp, const TensorFunction&, const std::vector<Tensor>&,
                    const std::vector<Tensor>&, Flag),
      TEND_FUNCTION(autograd::jacobian, const TensorFunction&, const Tensor&, Flag),
      TEND_FUNCTION(autograd::hessian, const TensorFunction&, const Tensor&, Flag),
      writing(TEND_FUNCTION(gradcheck, const TensorFunction&, const std::vector<Tensor>&,
                            const GradcheckOptions&)),
      writing(TEND_FUNCTION(gradgradcheck, const TensorFunction&, const std::vector<Tensor>&,
                            const GradcheckOptions&)),
      list_checkpoint(),
      TEND_FUNCTION(autograd::node_names, const std::vector<Tensor>&),
      TEND_FUNCTION(autograd::graph_text, const std::vector<Tensor>&, const LeafNames&),
      TEND_FUNCTION(autograd::graph_dot, const std::vector<Tensor>&, const LeafNames&),
      TEND_FUNCTION(to_string, const Tensor&),
      writing(custom_function()),
      small_checkpoint(),
  };
}

}  // namespace tend::test
