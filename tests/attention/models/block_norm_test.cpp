#include <tend/attention/models/block_norm.h>

#include "tests/catch.h"

#include <tend/tend.h>

using namespace tend;
using attention::Norm;
using attention::NormKind;

TEST_CASE("a Norm computes what the layer of its kind computes and prints the kind") {
  manual_seed(1);
  const Tensor x = randn({3, 4});
  CHECK(equal(Norm(NormKind::layer, 4, 1e-5)(x), nn::LayerNorm({4})(x)));
  CHECK(equal(Norm(NormKind::rms, 4, 1e-6)(x), nn::RMSNorm({4}, 1e-6)(x)));
  CHECK(Norm(NormKind::layer, 4, 1e-5).extra_repr() == "layer, (4,), eps=1e-05");
  CHECK(Norm(NormKind::rms, 4, 1e-6).extra_repr() == "rms, (4,), eps=1e-06");
  CHECK(Norm(NormKind::layer, 4, 1e-5, /*with_bias=*/false).parameters().size() == 1);
}
