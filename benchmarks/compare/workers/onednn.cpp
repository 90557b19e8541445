// The rows in oneDNN: primitives on memory that is already allocated. Heads are strided views.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

#include "../inputs.h"
#include "../worker.h"

namespace compare {
namespace {

using Dims = dnnl::memory::dims;
using Desc = dnnl::memory::desc;

Desc strided(const Dims& sizes, const Dims& strides) {
  return {sizes, dnnl::memory::data_type::f32, strides};
}

Desc dense(const Dims& sizes) {
  Dims strides(sizes.size(), 1);
  for (std::size_t i = sizes.size() - 1; i-- > 0;) strides[i] = strides[i + 1] * sizes[i + 1];
  return strided(sizes, strides);
}

Desc transposed(std::int64_t rows, std::int64_t columns) {
  return strided({rows, columns}, {1, rows});
}

/// A view of (B, T, H * D) as (B, H, T, D), as attention uses it.
Desc heads(const Work& w) {
  const std::int64_t b = w[0], h = w[1], t = w[2], d = w[3];
  return strided({b, h, t, d}, {t * h * d, d, h * d, 1});
}

/// The memory of one primitive.
class Primitive {
 public:
  Primitive(const dnnl::engine& engine, std::uint64_t seed) : engine_(engine), seed_(seed) {}

  /// Adds an input of random numbers. `place` is the number of inputs before it.
  void add_input(int argument, const Desc& desc, std::uint64_t place) {
    const dnnl::memory& memory = add(argument, desc);
    const std::vector<float> values =
        random_values(seed_ + place, static_cast<std::int64_t>(desc.get_size() / sizeof(float)));
    std::copy(values.begin(), values.end(), static_cast<float*>(memory.get_data_handle()));
  }

  Task task(const dnnl::primitive& primitive, int output_argument, const Desc& output) {
    const dnnl::memory result_memory = add(output_argument, output);
    auto once = [primitive, stream = dnnl::stream(engine_), arguments = arguments_]() mutable {
      primitive.execute(stream, arguments);
      stream.wait();
    };
    return make_task(once, [once, result_memory](Result& result) mutable {
      once();
      result.add({static_cast<const float*>(result_memory.get_data_handle()),
                  result_memory.get_desc().get_size() / sizeof(float)});
    });
  }

 private:
  const dnnl::memory& add(int argument, const Desc& desc) {
    return arguments_.insert_or_assign(argument, dnnl::memory(desc, engine_)).first->second;
  }

  dnnl::engine engine_;
  std::uint64_t seed_;
  std::unordered_map<int, dnnl::memory> arguments_;
};

Task product(const dnnl::engine& engine, std::uint64_t seed, const Desc& a, const Desc& b,
             const Desc& out) {
  Primitive all(engine, seed);
  all.add_input(DNNL_ARG_SRC, a, 0);
  all.add_input(DNNL_ARG_WEIGHTS, b, 1);
  return all.task(dnnl::matmul({engine, a, b, out}), DNNL_ARG_DST, out);
}

Task products(const dnnl::engine& engine, std::uint64_t seed, const Work& w) {
  if (w.operation == "gemm") {
    const std::int64_t m = w[2], n = w[3], k = w[4];
    return product(engine, seed, w[0] != 0 ? transposed(m, k) : dense({m, k}),
                   w[1] != 0 ? transposed(k, n) : dense({k, n}), dense({m, n}));
  }
  const std::int64_t b = w[0], h = w[1], t = w[2], d = w[3];
  const Desc weights = dense({b, h, t, t});
  if (w.operation == "context")
    return product(engine, seed, weights, heads(w), dense({b, h, t, d}));
  const Desc key = strided({b, h, d, t}, {t * h * d, d, 1, h * d});
  return product(engine, seed, heads(w), key, weights);
}

Task on_matrix(const dnnl::engine& engine, std::uint64_t seed, const Work& w) {
  constexpr auto kInference = dnnl::prop_kind::forward_inference;
  const Desc x = dense({w[0], w[1]});
  Primitive all(engine, seed);
  const std::string& op = w.operation;
  if (op == "transpose") {
    const Desc from = transposed(w[1], w[0]);
    const Desc to = dense({w[1], w[0]});
    all.add_input(DNNL_ARG_FROM, from, 0);
    return all.task(dnnl::reorder({engine, from, engine, to}), DNNL_ARG_TO, to);
  }
  all.add_input(DNNL_ARG_SRC, x, 0);  // DNNL_ARG_FROM and DNNL_ARG_SRC_0 are the same number
  if (op == "copy") return all.task(dnnl::reorder({engine, x, engine, x}), DNNL_ARG_TO, x);
  if (op == "exp" || op == "gelu") {
    const auto function =
        op == "exp" ? dnnl::algorithm::eltwise_exp : dnnl::algorithm::eltwise_gelu_erf;
    return all.task(dnnl::eltwise_forward({engine, kInference, function, x, x}), DNNL_ARG_DST, x);
  }
  if (op == "softmax") {
    return all.task(dnnl::softmax_forward({engine, kInference, dnnl::algorithm::softmax_accurate, x,
                                           x, static_cast<int>(w[2])}),
                    DNNL_ARG_DST, x);
  }
  if (op == "add") {
    all.add_input(DNNL_ARG_SRC_1, x, 1);
    return all.task(dnnl::binary({engine, dnnl::algorithm::binary_add, x, x, x}), DNNL_ARG_DST, x);
  }
  if (op == "sum") {
    const Desc sums = dense({w[0], 1});
    return all.task(dnnl::reduction({engine, dnnl::algorithm::reduction_sum, x, sums, 0.0F, 0.0F}),
                    DNNL_ARG_DST, sums);
  }
  if (op == "layer_norm") {
    all.add_input(DNNL_ARG_SCALE, dense({w[1]}), 1);
    all.add_input(DNNL_ARG_SHIFT, dense({w[1]}), 2);
    const auto flags = dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;
    return all.task(dnnl::layer_normalization_forward({engine, kInference, x, x, 1e-5F, flags}),
                    DNNL_ARG_DST, x);
  }
  return {};
}

std::string isa_name() {
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::sse41: return "SSE4.1";
    case dnnl::cpu_isa::avx: return "AVX";
    case dnnl::cpu_isa::avx2: return "AVX2";
    case dnnl::cpu_isa::avx2_vnni: return "AVX2 VNNI";
    case dnnl::cpu_isa::avx512_core: return "AVX-512";
    case dnnl::cpu_isa::avx512_core_vnni: return "AVX-512 VNNI";
    case dnnl::cpu_isa::avx512_core_bf16: return "AVX-512 BF16";
    default: return "another";
  }
}

Task prepare(const Work& w, const Setup& setup) {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  const std::string& op = w.operation;
  if (op == "gemm" || op == "scores" || op == "context") return products(engine, setup.seed, w);
  const bool is_on_matrix = w.sizes.size() <= 3;  // rows, columns, and maybe a dimension
  return is_on_matrix ? on_matrix(engine, setup.seed, w) : Task{};
}

std::string about(const Setup&) {
  const dnnl_version_t* version = dnnl::version();
  return "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
         std::to_string(version->patch) + ", instruction set " + isa_name();
}

}  // namespace
}  // namespace compare

int main(int argc, char** argv) {
  return compare::serve(argc, argv, {compare::about, compare::prepare});
}
