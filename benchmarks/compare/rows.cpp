#include "rows.h"

#include <cstdint>
#include <initializer_list>
#include <span>
#include <sstream>
#include <utility>

#include "attention_work.h"
#include "generation_work.h"

namespace compare {
namespace {

using Size = std::int64_t;

// Results are compared in float32, whose unit is 6e-8 at 1.

/// For the same operations in the same order.
constexpr double kExact = 0;
/// For exp, erf and sqrt, which each library computes with an error of some units.
constexpr double kFunction = 2e-6;
/// For sums of up to some thousand terms, which each library adds in another order.
constexpr double kSum = 1e-5;
/// For chains of such sums, and for numbers that are divided by a small variance.
constexpr double kChain = 1e-4;

template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

std::string work(const std::string& operation, std::span<const Size> sizes) {
  std::string line = operation;
  for (Size size : sizes) line += " " + std::to_string(size);
  return line;
}

std::string work(const std::string& operation, std::initializer_list<Size> sizes) {
  return work(operation, std::span(sizes.begin(), sizes.size()));
}

double product(std::initializer_list<Size> sizes) {
  double result = 1;
  for (Size size : sizes) result *= static_cast<double>(size);
  return result;
}

Row gemm(const std::string& name, bool ta, bool tb, Size m, Size n, Size k) {
  return {name, work("gemm", {ta, tb, m, n, k}), product({2, m, n, k}), 0, kSum};
}

void add_products(std::vector<Row>& rows) {
  for (Size n : {256, 512, 1024, 2048})
    rows.push_back(gemm(text("matmul ", n), false, false, n, n, n));
  struct Heads {
    Size batch, heads, length, width;
  };
  constexpr Heads kShapes[] = {{8, 4, 64, 32}, {8, 8, 256, 64}, {4, 12, 1024, 64}};
  for (const bool is_scores : {true, false}) {
    for (const auto& [b, h, t, d] : kShapes) {
      rows.push_back({text(is_scores ? "Q K^T" : "P V", " B", b, " H", h, " T", t, " D", d),
                      work(is_scores ? "scores" : "context", {b, h, t, d}),
                      product({2, b, h, t, t, d}), 0, kSum});
    }
  }
}

/// Rows that are limited by memory. Each array that is read or written counts once.
void add_memory_rows(std::vector<Row>& rows) {
  constexpr Size kRows = 4096;
  constexpr Size kColumns = 1024;
  constexpr double kCopy = 8.0 * kRows * kColumns;
  const auto add = [&](const std::string& name, const std::string& operation, double bytes,
                       double tolerance) {
    rows.push_back({name + " 4096x1024", work(operation, {kRows, kColumns}), 0, bytes, tolerance});
  };
  rows.push_back(
      {"softmax 4096x1024, last dim", work("softmax", {kRows, kColumns, 1}), 0, kCopy, kSum});
  rows.push_back(
      {"softmax 4096x1024, dim 0", work("softmax", {kRows, kColumns, 0}), 0, kCopy, kSum});
  // The work is a softmax over the rows of a matrix; the leading dimensions make no difference.
  rows.push_back({"softmax B4 H12 T1024x1024", work("softmax", {Size{4} * 12 * 1024, 1024, 1}), 0,
                  8.0 * 4 * 12 * 1024 * 1024, kSum});
  add("exp", "exp", kCopy, kFunction);
  add("gelu", "gelu", kCopy, kFunction);
  add("layer_norm", "layer_norm", kCopy, kSum);
  add("transposed copy", "transpose", kCopy, kExact);
  add("add", "add", 1.5 * kCopy, kExact);
  rows.push_back({"row sums 4096x1024", work("sum", {kRows, kColumns}), 0, 0, kSum});
  rows.back().reads = kCopy / 2;
  add("copy", "copy", kCopy, kExact);
}

void add_tiny_rows(std::vector<Row>& rows) {
  rows.push_back({"add of two 6x3", work("add", {6, 3}), 0, 0, kExact, false, true});
  rows.push_back({"matmul 6x3 by 3x2", work("gemm", {0, 0, 6, 2, 3}), 0, 0, kSum, false, true});
}

/// Causal multi-head attention. The work is the projections, and the causal half of the products
/// for scores and context.
///
/// The backward has two products for each product of the forward, and computes the scores again.
/// For a projection of the input, the backward has only one product, because the input gets no
/// gradient.
Row attention(const std::string& name, bool with_backward, Size b, Size t, Size c_in, Size c,
              Size h) {
  const double projection = product({2, b, t, c_in, c});
  const double out_projection = product({2, b, t, c, c});
  const double heads = product({2, b, t, t, c}) / 2;
  double flops = 3 * projection + out_projection + 2 * heads;
  if (with_backward) flops += 3 * projection + 2 * out_projection + 5 * heads;
  return {text(name, with_backward ? ", both" : ", forward"),
          work(with_backward ? "mha_grad" : "mha", {b, t, c_in, c, h}), flops, 0,
          with_backward ? kChain : kSum};
}

void add_attention_rows(std::vector<Row>& rows) {
  for (const bool both : {false, true}) {
    Row row = attention("notebooks' MultiHeadAttention (2,6,3), 2 heads", both, 2, 6, 3, 2, 2);
    row.flops = 0;
    rows.push_back(row);
  }
  struct Sizes {
    Size batch, length, width, heads;
  };
  constexpr Sizes kShapes[] = {{8, 64, 128, 4}, {4, 256, 384, 6}, {2, 1024, 768, 12}};
  for (const auto& [b, t, c, h] : kShapes) {
    for (const bool both : {false, true}) {
      rows.push_back(
          attention(text("causal MHA B", b, " T", t, " C", c, " H", h), both, b, t, c, c, h));
    }
  }
}

/// Training steps of GPTs. Each layer has 12 C^2 weights. A weight is used in one product of the
/// forward and two of the backward.
void add_training_rows(std::vector<Row>& rows) {
  struct Sizes {
    Size vocabulary, length, width, layers, heads, batch;
  };
  constexpr Sizes kShapes[] = {{65, 64, 128, 4, 4, 12}, {65, 256, 384, 6, 6, 4}};
  for (const auto& [v, t, c, l, h, b] : kShapes) {
    const double weights = product({12, c, c, l}) + product({v, c});
    const double heads = 7 * product({2, b, t, t, c, l}) / 2;
    rows.push_back({text("GPT step V", v, " T", t, " C", c, " L", l, " H", h, " B", b),
                    work("gpt", {v, t, c, l, h, b}), 6 * product({b, t}) * weights + heads, 0,
                    kChain, true});
  }
}

/// A training step of each experiment of the laboratory (examples/lab), at the experiment's sizes.
///
/// The steps differ from the experiments in some parts. All use AdamW, LayerNorm, ReLU (book:
/// GELU), position embeddings instead of relative positions, and float32 (microgpt uses float64).
void add_lab_rows(std::vector<Row>& rows) {
  struct Sizes {
    const char* name;
    Size vocabulary, length, width, layers, heads, batch, hidden;
    bool has_norms, has_gelu;
  };
  constexpr Sizes kModels[] = {{"microgpt", 27, 8, 16, 1, 4, 1, 64, true, false},
                               {"grokking p = 59", 60, 3, 128, 1, 4, 1044, 512, false, false},
                               {"induction", 64, 48, 64, 2, 4, 64, 0, false, false},
                               {"bigrams", 2, 100, 16, 2, 1, 64, 0, true, false},
                               {"markov", 2, 1024, 8, 1, 1, 16, 32, false, false},
                               {"mqar", 8192, 64, 64, 2, 1, 64, 0, true, false},
                               {"adders", 10, 33, 5, 1, 1, 256, 2, true, false},
                               {"book", 50257, 256, 768, 12, 12, 2, 3072, true, true}};
  for (const auto& [name, v, t, c, l, h, b, hidden, norms, gelu] : kModels) {
    rows.push_back({text("lab step ", name),
                    work("lab_gpt", {v, t, c, l, h, b, hidden, norms, gelu}), 0, 0, kChain, true});
  }
  rows.push_back({"lab step incontext", work("lab_linear", {2048, 10, 11}), 0, 0, kChain, true});
  rows.push_back({"lab step causal", work("lab_disentangled", {1024, 20, 10}), 0, 0, kChain, true});
}

/// A GPT's logits without a graph. The rows also record all activations, or the attention pattern
/// of one head of the first layer.
void add_lens_rows(std::vector<Row>& rows) {
  const std::string sizes = "V65 T256 C384 L6 H6 B4";
  rows.push_back(
      {"run_with_cache " + sizes, work("lens_cache", {65, 256, 384, 6, 6, 4}), 0, 0, kChain, true});
  rows.push_back({"pattern of one head of the fused path " + sizes,
                  work("lens_head", {65, 256, 384, 6, 6, 4}), 0, 0, kChain, true});
}

/// The products of the larger GPT step, one row for each shape: x W^T for the forward, g W for the
/// input's gradient, g^T x for the weight's gradient.
void add_step_products(std::vector<Row>& rows) {
  constexpr Size kTokens = 1024;  // 4 sequences of 256
  struct Layer {
    const char* name;
    Size in, out;
  };
  constexpr Layer kLayers[] = {
      {"projection", 384, 384}, {"up", 384, 1536}, {"down", 1536, 384}, {"head", 384, 65}};
  for (const auto& [name, in, out] : kLayers) {
    const std::string start = text("sgemm ", name, " ");
    rows.push_back(gemm(start + "forward", false, true, kTokens, out, in));
    rows.push_back(gemm(start + "input gradient", false, false, kTokens, in, out));
    rows.push_back(gemm(start + "weight gradient", true, false, out, in, kTokens));
  }
}

void add_growth_rows(std::vector<Row>& rows) {
  for (Size t = 64; t <= 4096; t *= 2) {
    rows.push_back(
        attention(text("growth with T: MHA B1 T", t, " C256 H4"), true, 1, t, 256, 256, 4));
  }
  for (Size c = 64; c <= 1024; c *= 2) {
    rows.push_back(attention(text("growth with C: MHA B4 T128 C", c, " H", c / 64), true, 4, 128, c,
                             c, c / 64));
  }
}

/// Adds a row for the forward and a row for forward and backward. Only visible pairs count. Each
/// pair has two products in the forward and five in the backward, which computes the scores again.
void add_attention(std::vector<Row>& rows, const std::string& name, AttentionWork w) {
  const double product_flops = 2 * static_cast<double>(w.width) * visible_pairs(w);
  for (const bool both : {false, true}) {
    w.both = both;
    rows.push_back({text(name, both ? ", both" : ", forward"), work(w.kind, sizes_of(w)),
                    (both ? 7 : 2) * product_flops, 0, both ? kChain : kSum, true});
  }
}

void add_masked_attention_rows(std::vector<Row>& rows) {
  add_attention(rows, "attention grouped H32/8 T1024 D64",
                {"attend_grouped", false, 1, 32, 8, 1024, 1024, 64});
  add_attention(rows, "attention window 128 H8 T4096 D64",
                {"attend_window", false, 1, 8, 8, 4096, 4096, 64, 128});
  add_attention(rows, "attention documents H8 T4096 D64",
                {"attend_documents", false, 1, 8, 8, 4096, 4096, 64, 8});
  add_attention(rows, "attention ALiBi H8 T2048 D64",
                {"attend_alibi", false, 1, 8, 8, 2048, 2048, 64});
  add_attention(rows, "attention padded batch B8 H8 T512 D64",
                {"attend_padded", false, 8, 8, 8, 512, 512, 64});
  add_attention(rows, "attention padded batch, causal B8 H8 T512 D64",
                {"attend_padded_causal", false, 8, 8, 8, 512, 512, 64});
  // Decoding a token has no backward. The limit is the time to read the keys and values.
  for (Size keys : {1024, 8192}) {
    const AttentionWork w{"attend_query", false, 1, 8, 8, 1, keys, 64};
    Row row{text("attention one query of ", keys, " keys H8 D64"),
            work(w.kind, sizes_of(w)),
            0,
            0,
            kSum,
            true};
    row.reads = product({2, w.heads, keys, w.width, sizeof(float)});
    rows.push_back(row);
  }
}

/// Many short sequences, as in toy tasks. Three shapes come from the experiments on grokking
/// (a + b =), induction heads (chains of 100 symbols) and recall (MQAR). Two have other lengths.
void add_short_attention_rows(std::vector<Row>& rows) {
  struct Sizes {
    Size batch, heads, length, width;
  };
  constexpr Sizes kShapes[] = {
      {3830, 4, 3, 32}, {256, 4, 8, 32}, {128, 4, 16, 32}, {64, 1, 100, 16}, {512, 1, 64, 64}};
  for (const auto& [b, h, t, d] : kShapes) {
    add_attention(rows, text("attention short B", b, " H", h, " T", t, " D", d),
                  {"attend_grouped", false, b, h, h, t, t, d});
  }
}

/// The logits after a prompt, and the logits after one more token, which is decoded with a cache.
///
/// The prompt is limited by arithmetic. Decoding is limited by reading: all weights once, and the
/// cached keys and values. Decoding reads only one vector of the position embedding. It reads only
/// one vector of the token embedding, too, unless this matrix is also the weight of the head.
void add_generation_rows(std::vector<Row>& rows) {
  const std::pair<const char*, GenerationWork> models[] = {
      {"GPT-2 124M", {50257, 1024, 768, 12, 12, true, 512}},
      {"10M", {8192, 1024, 256, 8, 8, false, 512}},
      {"10M of characters", {65, 256, 384, 6, 6, false, 128}}};
  for (const auto& [name, w] : models) {
    const Size c = w.width, l = w.layers, prompt = w.prompt;
    const double layers = product({12, c, c, l});
    const double head = product({w.vocabulary, c});
    const double vectors = product({13, c, l}) + product({4, c});  // biases, norms, embeddings
    const double cached = product({2, prompt + 1, c, l});
    rows.push_back({text("generate ", name, ": prompt ", prompt),
                    work("generate_prompt", sizes_of(w)),
                    product({2, prompt}) * layers + 2 * head + product({2, prompt, prompt, c, l}),
                    0, kChain, true});
    rows.push_back({text("generate ", name, ": decode"), work("generate_decode", sizes_of(w)), 0, 0,
                    kChain, true});
    rows.back().reads = sizeof(float) * (layers + head + vectors + cached);
  }
}

}  // namespace

std::vector<Row> all_rows() {
  std::vector<Row> rows;
  add_products(rows);
  add_memory_rows(rows);
  add_tiny_rows(rows);
  add_attention_rows(rows);
  add_training_rows(rows);
  add_lab_rows(rows);
  add_lens_rows(rows);
  add_step_products(rows);
  add_growth_rows(rows);
  add_masked_attention_rows(rows);
  add_short_attention_rows(rows);
  add_generation_rows(rows);
  return rows;
}

}  // namespace compare
