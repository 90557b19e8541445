#include <tend/core/kernels/attention/attention.h>
#include <tend/core/kernels/attention/attention_backward.h>

#include "tests/arrays.h"
#include "tests/catch.h"
#include "tests/simd_targets.h"

#include <tend/autograd/ops/helpers.h>
#include <tend/tend.h>

using namespace tend;

namespace {

constexpr std::int64_t kKeys = 200, kHeads = 3, kValueDim = 20;

Tensor attend(const Tensor& query, const Tensor& key, const Tensor& value,
              const kernels::AttentionRule& rule) {
  const std::int64_t queries = query.size(-2);
  Tensor out = empty({kHeads, queries, kValueDim}, query.dtype());
  const Tensor log_sums = empty({kHeads, 2, queries}, query.dtype());
  kernels::attention(out.array(), log_sums.array(), query.array(), key.array(), value.array(),
                     rule);
  return out;
}

bool has_bits(const Tensor& a, const Tensor& b) {
  return test::same_bits(a.array(), b.array());
}

struct Heads {
  Tensor query, key, value;

  explicit Heads(DType dtype)
      : query(randn({kHeads, kKeys, 24}, {.dtype = dtype})),
        key(randn({kHeads, kKeys, 24}, {.dtype = dtype})),
        value(randn({kHeads, kKeys, kValueDim}, {.dtype = dtype})) {}
};

}  // namespace

TEST_CASE("queries at any position have the same bits as in the whole sequence", "[kernels]") {
  manual_seed(1);
  test::for_each_simd_target([](const std::string& target) {
    for (const DType dtype : {float32, float64}) {
      const Heads heads(dtype);
      const Tensor whole = attend(heads.query, heads.key, heads.value, {.is_causal = true});
      for (const std::int64_t position : {0, 1, 5, 15, 16, 47, 63, 64, 70, 127, 128, 150}) {
        for (const std::int64_t count : {1, 2, 3, 5, 7, 8, 17, 50}) {
          CAPTURE(target, dtype, position, count);
          const std::int64_t keys = position + count;
          const Tensor query = heads.query.narrow(-2, position, count);
          const Tensor key = heads.key.narrow(-2, 0, keys);
          const Tensor value = heads.value.narrow(-2, 0, keys);
          const Tensor wanted = whole.narrow(-2, position, count);
          const kernels::AttentionRule rule{.is_causal = true, .position = position};
          CHECK(has_bits(attend(query, key, value, rule), wanted));
          // Later keys and other strides change nothing.
          CHECK(has_bits(attend(query, heads.key, heads.value, rule), wanted));
          const Tensor columns = key.transpose(-1, -2).contiguous().transpose(-1, -2);
          CHECK(has_bits(attend(query, columns, value, rule), wanted));
          if (count > 1) continue;
          CHECK(has_bits(attend(query, key, value, {}), wanted));
        }
      }
    }
  });
}

TEST_CASE("a few queries have the same bits as in a longer sequence with masks and dropout",
          "[kernels]") {
  manual_seed(2);
  const Heads heads(float32);
  const Tensor allowed = rand({kHeads, kKeys, kKeys}) < 0.5;
  const Tensor added = randn({kHeads, kKeys, kKeys});
  const Array kept = draw_kept(kHeads * kKeys * kKeys, 0.3, default_generator());
  for (const Tensor& mask : {allowed, added}) {
    const kernels::AttentionRule all{.is_causal = true, .mask = mask.array()};
    const Tensor whole = attend(heads.query, heads.key, heads.value, all);
    for (const std::int64_t position : {0, 60, 62, 100}) {
      CAPTURE(position, mask.dtype());
      kernels::AttentionRule rule = all;
      rule.position = position;
      rule.mask = mask.narrow(-2, position, 5).array();
      CHECK(has_bits(attend(heads.query.narrow(-2, position, 5), heads.key, heads.value, rule),
                     whole.narrow(-2, position, 5)));
    }
  }
  // The bits of `kept` are numbered continuously through all heads. So dropout keeps the same
  // weights for a few queries and for many queries only in the first head.
  const kernels::AttentionRule rule{.kept = kept, .keep_factor = 2};
  const auto first = [](const Tensor& x) { return x.narrow(0, 0, 1); };
  for (const std::int64_t count : {1, 3, 7}) {
    CAPTURE(count);
    const Tensor few = attend(heads.query.narrow(-2, 0, count), heads.key, heads.value, rule);
    const Tensor many = attend(heads.query, heads.key, heads.value, rule);
    CHECK(has_bits(first(few), first(many).narrow(-2, 0, count)));
  }
}

TEST_CASE("the bits of a query do not depend on the number of queries or on hidden keys",
          "[kernels]") {
  manual_seed(3);
  test::for_each_simd_target([](const std::string& target) {
    for (const DType dtype : {float32, float64}) {
      const Heads heads(dtype);
      for (const std::int64_t keys : {5, 20, 64, 100, 200}) {
        const Tensor key = heads.key.narrow(-2, 0, keys), value = heads.value.narrow(-2, 0, keys);
        const Tensor many = attend(heads.query, key, value, {});
        const Tensor seen = arange(0, kKeys) < keys;
        const kernels::AttentionRule rule{.mask = seen.expand({kHeads, kKeys, kKeys}).array()};
        CHECK(has_bits(attend(heads.query, heads.key, heads.value, rule), many));
        for (const std::int64_t count : {1, 3, 7, 8, 12, 70}) {
          CAPTURE(target, dtype, keys, count);
          CHECK(has_bits(attend(heads.query.narrow(-2, 0, count), key, value, {}),
                         many.narrow(-2, 0, count)));
        }
      }
      // A causal mask gives the same bits as is_causal.
      const Tensor causal = attention::causal_mask(kKeys, kKeys).expand({kHeads, kKeys, kKeys});
      CHECK(has_bits(attend(heads.query, heads.key, heads.value, {.mask = causal.array()}),
                     attend(heads.query, heads.key, heads.value, {.is_causal = true})));
    }
  });
}

namespace {

// The result of attention and the gradients of its inputs.
std::vector<Tensor> results_of(const std::vector<Tensor>& inputs,
                               const attention::AttentionOptions& options, const Tensor& grad) {
  std::vector<Tensor> leaves;
  for (const Tensor& input : inputs) leaves.push_back(input.detach().requires_grad_());
  const Tensor out =
      attention::scaled_dot_product_attention(leaves[0], leaves[1], leaves[2], options);
  out.backward(grad);
  return {out, leaves[0].grad(), leaves[1].grad(), leaves[2].grad()};
}

// Random heads of shape (3, heads, rows, dim). In memory, the rows of different heads alternate, as
// in a model.
Tensor heads_of(std::int64_t heads, std::int64_t rows, std::int64_t dim, DType dtype) {
  return randn({3, rows, heads, dim}, {.dtype = dtype}).transpose(1, 2);
}

}  // namespace

// If there is a mask, attention uses the kernel for heads of any length. Here the masks hide no
// other keys than is_causal does.
TEST_CASE("the kernel for many short heads gives the same bits as the general one", "[kernels]") {
  manual_seed(3);
  test::for_each_simd_target([](const std::string& target) {
    for (const DType dtype : {float32, float64}) {
      for (const auto& [queries, keys, dim] : std::vector<std::array<std::int64_t, 3>>{
               {1, 3, 32}, {3, 3, 5}, {8, 8, 16}, {9, 2, 20}, {16, 16, 7}}) {
        const std::vector<Tensor> inputs = {heads_of(11, queries, dim, dtype),
                                            heads_of(11, keys, dim, dtype),
                                            heads_of(11, keys, dim + 1, dtype)};
        const Tensor grad = heads_of(11, queries, dim + 1, dtype);
        for (const bool is_causal : {false, true}) {
          CAPTURE(target, dtype, queries, keys, dim, is_causal);
          const Tensor all = ones({queries, keys}, boolean);
          const auto short_heads = results_of(inputs, {.is_causal = is_causal}, grad);
          const auto others = results_of(inputs, {.attn_mask = is_causal ? tril(all) : all}, grad);
          for (std::size_t i = 0; i < others.size(); ++i) {
            CHECK(has_bits(short_heads[i], others[i]));
          }
        }
      }
    }
  });
}
