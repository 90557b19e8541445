#include <tend/attention/functions/flex_attention.h>

#include "tests/arrays.h"
#include "tests/catch.h"
#include "tests/numbers.h"

#include <tend/attention/expressions/masks.h>
#include <tend/attention/expressions/scores.h>
#include <tend/attention/tend.h>

using namespace tend;
using namespace tend::attention;

TEST_CASE("probe") {
  manual_seed(1);
  const Tensor q = randn({2, 3, 130, 16}, {.dtype = float64, .requires_grad = true});
  const Tensor k = randn({2, 3, 140, 16}, {.dtype = float64, .requires_grad = true});
  const Tensor v = randn({2, 3, 140, 8}, {.dtype = float64, .requires_grad = true});
  const Tensor slopes = rand({3}, {.dtype = float64, .requires_grad = true});
  const Tensor ids = randint(0, 3, Shape{2, 140});
  const auto slope = lookup(slopes), document = lookup(ids);
  FlexOptions options{.score = [&](auto s, auto at) { return s - slope(at.head) * (at.query - at.key); },
                      .mask = [&](auto at) {
                        return at.key <= at.query && at.query - at.key < 40 &&
                               document(at.batch, at.query) == document(at.batch, at.key);
                      }};
  options.path = AttentionPath::composed;
  const Tensor a = flex_attention(q, k, v, options);
  options.path = AttentionPath::fused;
  const Tensor b = flex_attention(q, k, v, options);
  CHECK((a - b).abs().max().item<double>() < 1e-12);
  const Tensor g = randn(a.shape(), {.dtype = float64});
  const auto ga = autograd::grad({a}, {q, k, v, slopes}, {g});
  const auto gb = autograd::grad({b}, {q, k, v, slopes}, {g});
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK((ga[i] - gb[i]).abs().max().item<double>() < 1e-10);
    CHECK(ga[i].abs().max().item<double>() > 1e-3);
  }
}
