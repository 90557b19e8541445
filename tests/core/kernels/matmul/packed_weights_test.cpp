// linear with packed weights.
#include <tend/core/kernels/matmul/gemm.h>
#include <tend/core/kernels/matmul/matmul_path.h>
#include <tend/core/kernels/matmul/packed_weights.h>

#include "tests/arrays.h"
#include "tests/catch.h"
#include "tests/simd_targets.h"

using namespace tend;
using namespace tend::test;
using kernels::PackedWeights;

namespace {

struct Layer {
  Array weight, bias;  // bias may be undefined
};

Array applied(const Layer& layer, const Array& x) {
  const Array out = Array::full({x.size(0), layer.weight.size(0)}, NAN, x.dtype());
  kernels::linear(out, x, layer.weight, layer.bias);
  return out;
}

Array applied_packed(const Layer& layer, const Array& x, PackedWeights& weights) {
  const PackedWeights::Use use(&weights);
  return applied(layer, x);
}

}  // namespace

TEST_CASE("a packed weight gives the same bits as the weight itself") {
  for_each_simd_target([](const std::string& target) {
    for (const DType dtype : {float32, float64}) {
      for (const std::int64_t in : {64, 257, 1024, 2500}) {
        for (const std::int64_t out : {64, 65, 191, 320}) {
          const Layer layer = {random_array({out, in}, dtype), random_array({out}, dtype)};
          PackedWeights weights;
          for (const std::int64_t rows : {1, 2, 7, 8, 48, 49}) {
            const Array x = random_array({rows, in}, dtype);
            CAPTURE(target, dtype, in, out, rows);
            CHECK(same_bits(applied_packed(layer, x, weights), applied(layer, x)));
            const Layer no_bias = {layer.weight, {}};
            CHECK(same_bits(applied_packed(no_bias, x, weights), applied(no_bias, x)));
          }
          CHECK(weights.bytes() >= layer.weight.numel() * item_size(dtype));
        }
      }
    }
  });
}

TEST_CASE("a weight is packed again after it was changed") {
  const Array weight = random_array({64, 64}, float32), x = random_array({1, 64}, float32, 2);
  PackedWeights weights;
  applied_packed({weight, {}}, x, weights);
  weight.fill(0.5);
  weight.storage()->bump_version("fill");
  CHECK(same_bits(applied_packed({weight, {}}, x, weights), applied({weight, {}}, x)));
}

TEST_CASE("weights are packed only if they are neither small nor huge and the input has few rows") {
  PackedWeights weights;
  const auto bytes_after = [&](const Shape& weight, std::int64_t rows) {
    applied_packed({Array::zeros(weight, float32), {}}, Array::zeros({rows, weight[1]}, float32),
                   weights);
    return weights.bytes();
  };
  CHECK(bytes_after({63, 65}, 1) == 0);
  CHECK(bytes_after({64, 64}, 49) == 0);
  CHECK(bytes_after({4097, 4096}, 1) == 0);
  const std::int64_t one = bytes_after({64, 64}, 1);
  CHECK(one == 64 * 64 * 4);
  const MatmulPathGuard guard(MatmulPath::blas);
  CHECK(bytes_after({64, 64}, 1) == one);
}
