#include "tests/catch.h"

#include <tend/tend.h>

using namespace tend;
using namespace tend::attention;

TEST_CASE("gated feed-forward networks have gate and up in one matrix") {
  manual_seed(1);
  const Tensor x = randn({3, 4});
  for (const auto kind : {FeedForwardKind::swiglu, FeedForwardKind::geglu}) {
    const FeedForward layer(GPTConfig{.width = 4,
                                      .num_heads = 1,
                                      .gelu = GeluKind::tanh,
                                      .feed_forward = kind,
                                      .hidden_width = 5,
                                      .feed_forward_bias = false});
    CHECK(layer.parameters().size() == 2);
    REQUIRE(layer.up.weight.shape() == Shape{10, 4});
    const Tensor gate = linear(x, layer.up.weight.narrow(0, 0, 5));
    const Tensor up = linear(x, layer.up.weight.narrow(0, 5, 5));
    const Tensor opened = kind == FeedForwardKind::swiglu ? silu(gate) : gelu(gate, GeluKind::tanh);
    // The tolerance is for sums of four and five products. Both sides have the same products.
    CHECK(allclose(layer(x), linear(opened * up, layer.down.weight), 1e-6, 1e-6));
  }
  CHECK_THROWS_AS(FeedForward(GPTConfig{.width = 4, .num_heads = 1, .hidden_width = 0}),
                  ShapeError);
}

TEST_CASE("a network with ReLU is down(relu(up(x))) and one of kind none has no parameters") {
  manual_seed(1);
  const Tensor x = randn({3, 4});
  const FeedForward layer(
      GPTConfig{.width = 4, .num_heads = 1, .feed_forward = FeedForwardKind::relu});
  CHECK(equal(layer(x), layer.down(relu(layer.up(x)))));
  const FeedForward none(
      GPTConfig{.width = 4, .num_heads = 1, .feed_forward = FeedForwardKind::none});
  CHECK(none.parameters().empty());
  CHECK_THROWS_AS(none(x), Error);
}
