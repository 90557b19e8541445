// Layers, losses, attention and initialisation.
#include <tuple>

#include "tests/hostile/typed_calls.h"

namespace tend::test {
namespace {

// A method of a module, made by `make` for each call, of one tensor; usually it fits `usual`.
template <class Make, class Method>
PublicFunction of_module(std::string signature, Make make, const Tensor& usual, Method method) {
  return by_hand(std::move(signature), [=](Arguments& a) {
    const Tensor x = a.draws().chance(0.7) ? a.tensor(usual) : a.tensor();
    return DrawnCall([method, x, module = make()]() -> Tensors {
      return results_of([&] { return method(module, x); });
    });
  });
}

#define TEND_FORWARD(Class, usual, ...)                                                  \
  of_module(                                                                             \
      #Class "::forward(const Tensor&)", [] { return tend::Class(__VA_ARGS__); }, usual, \
      [](const auto& module, const Tensor& input) { return module(input); })
#define TEND_WITH_WEIGHTS(Class, usual, ...)                                                  \
  of_module(                                                                                  \
      #Class "::with_weights(const Tensor&)", [] { return tend::Class(__VA_ARGS__); }, usual, \
      [](const auto& module, const Tensor& input) { return module.with_weights(input); })

nn::LayerNormOptions draw_norm_options(Arguments& a) {
  return {.eps = a.real(), .elementwise_affine = a.flag(), .bias = a.flag()};
}

std::vector<PublicFunction> layers() {
  const Tensor x = leaf_of_ones({2, 3}), tokens = zeros({2, 3}, int64),
               channels = leaf_of_ones({2, 4, 3});
  const Tensor sequence = leaf_of_ones({2, 3, 4});
  return {
      TEND_FORWARD(nn::ReLU, x),
      TEND_FORWARD(nn::Sigmoid, x),
      TEND_FORWARD(nn::Tanh, x),
      TEND_FORWARD(nn::LogSigmoid, x),
      TEND_FORWARD(nn::SiLU, x),
      TEND_FORWARD(nn::Mish, x),
      TEND_FORWARD(nn::LeakyReLU, x, 0.1),
      TEND_FORWARD(nn::ELU, x, 0.5),
      TEND_FORWARD(nn::GLU, channels, 1),
      TEND_FORWARD(nn::GELU, x, GeluKind::tanh),
      TEND_FORWARD(nn::ReLU6, x),
      TEND_FORWARD(nn::SELU, x),
      TEND_FORWARD(nn::CELU, x, 0.5),
      TEND_FORWARD(nn::Hardsigmoid, x),
      TEND_FORWARD(nn::Hardswish, x),
      TEND_FORWARD(nn::Hardtanh, x, -2, 2),
      TEND_FORWARD(nn::Softsign, x),
      TEND_FORWARD(nn::Softplus, x, 2),
      TEND_FORWARD(nn::PReLU, x, 3),
      TEND_FORWARD(nn::Softmax, x, 1),
      TEND_FORWARD(nn::LogSoftmax, x, 1),
      TEND_FORWARD(nn::Softmin, x, 1),
      TEND_FORWARD(nn::Conv1d, channels, 4, 2, 3),
      TEND_FORWARD(nn::Dropout, x, 0.5),
      TEND_FORWARD(nn::Flatten, channels, 0, 1),
      TEND_FORWARD(nn::Identity, x),
      TEND_FORWARD(nn::Linear, x, 3, 2),
      TEND_FORWARD(nn::Embedding, tokens, 5, 3, 1),
      TEND_FORWARD(nn::LayerNorm, x, Shape{3}),
      TEND_FORWARD(nn::RMSNorm, x, Shape{3}),
      TEND_FORWARD(nn::GroupNorm, channels, 2, 4),
      TEND_FORWARD(nn::BatchNorm1d, channels, 4),
      TEND_FORWARD(nn::Sequential, x, nn::Linear(3, 4), nn::ReLU(), nn::Linear(4, 2)),
      TEND_FORWARD(attention::SelfAttentionV1, sequence, 4, 2),
      TEND_FORWARD(attention::SelfAttentionV2, sequence, 4, 2),
      TEND_FORWARD(attention::CausalAttention, sequence, 4, 2, 5, 0.1),
      TEND_FORWARD(attention::MultiHeadAttentionWrapper, sequence, 4, 2, 5, 0.1, 2),
      TEND_FORWARD(attention::MultiHeadAttention, sequence, 4, 4, 5, 0.1, 2),
      TEND_FORWARD(attention::FeedForward, sequence, 4),
      TEND_FORWARD(attention::TransformerBlock, sequence, {8, 4, 4, 2, 1}),
      TEND_WITH_WEIGHTS(attention::SelfAttentionV1, sequence, 4, 2),
      TEND_WITH_WEIGHTS(attention::SelfAttentionV2, sequence, 4, 2),
      TEND_WITH_WEIGHTS(attention::CausalAttention, sequence, 4, 2, 5, 0.1),
      TEND_WITH_WEIGHTS(attention::MultiHeadAttentionWrapper, sequence, 4, 2, 5, 0.1, 2),
      TEND_WITH_WEIGHTS(attention::MultiHeadAttention, sequence, 4, 4, 5, 0.1, 2),
      TEND_WITH_WEIGHTS(attention::TransformerBlock, sequence, {8, 4, 4, 2, 1}),
      TEND_WITH_WEIGHTS(attention::GPT, tokens, {8, 4, 4, 2, 1}),
  };
}

// A module that is called with as many tensors as its forward has; usually they fit `usual`.
template <class Make, class... Usual>
PublicFunction of_loss(std::string signature, Make make, const Usual&... usual) {
  return by_hand(std::move(signature), [=](Arguments& a) {
    const auto draw = [&](const Tensor& fitting) {
      return a.draws().chance(0.7) ? a.tensor(fitting) : a.tensor();
    };
    return DrawnCall([inputs = std::tuple{draw(usual)...}, module = make()]() -> Tensors {
      return {std::apply(module, inputs)};
    });
  });
}
#define TEND_PAIR_LOSS(Class, usual, target, ...)                                                \
  of_loss(                                                                                       \
      #Class "::forward(const Tensor&, const Tensor&)", [] { return tend::Class(__VA_ARGS__); }, \
      usual, target)
#define TEND_TRIPLE_LOSS(Class, usual, second, third, ...)             \
  of_loss(                                                             \
      #Class "::forward(const Tensor&, const Tensor&, const Tensor&)", \
      [] { return tend::Class(__VA_ARGS__); }, usual, second, third)

std::vector<PublicFunction> losses() {
  const Tensor x = leaf_of_ones({2, 3}), classes = zeros({2}, int64), row = leaf_of_ones({2});
  return {
      TEND_PAIR_LOSS(nn::MSELoss, x, x),
      TEND_PAIR_LOSS(nn::L1Loss, x, x),
      TEND_PAIR_LOSS(nn::BCELoss, x, x, Reduction::mean, ones({3})),
      TEND_PAIR_LOSS(nn::BCEWithLogitsLoss, x, x, Reduction::sum, ones({3})),
      TEND_PAIR_LOSS(nn::SmoothL1Loss, x, x),
      TEND_PAIR_LOSS(nn::HuberLoss, x, x),
      TEND_PAIR_LOSS(nn::CrossEntropyLoss, x, classes),
      TEND_PAIR_LOSS(nn::NLLLoss, x, classes, {}, ones({3})),
      TEND_PAIR_LOSS(nn::KLDivLoss, x, x),
      TEND_PAIR_LOSS(nn::PoissonNLLLoss, x, x),
      TEND_PAIR_LOSS(nn::HingeEmbeddingLoss, x, x),
      TEND_PAIR_LOSS(nn::CosineSimilarity, x, x),
      TEND_PAIR_LOSS(nn::PairwiseDistance, x, x),
      TEND_TRIPLE_LOSS(nn::GaussianNLLLoss, x, x, x),
      TEND_TRIPLE_LOSS(nn::TripletMarginLoss, x, x, x),
      TEND_TRIPLE_LOSS(nn::MarginRankingLoss, row, row, row),
      TEND_TRIPLE_LOSS(nn::CosineEmbeddingLoss, x, x, row),
      TEND_CONSTRUCTOR(nn::MSELoss, OrWord<Reduction>),
      TEND_CONSTRUCTOR(nn::L1Loss, OrWord<Reduction>),
      TEND_CONSTRUCTOR(nn::BCELoss, OrWord<Reduction>, const Tensor&),
      With<const Tensor&, OrWord<Reduction>>::constructor<nn::BCELoss>(
          "nn::BCELoss", "const T&, OrWord<Reduction>"),
      With<const Tensor&, OrWord<Reduction>, const Tensor&>::constructor<nn::BCEWithLogitsLoss>(
          "nn::BCEWithLogitsLoss", "const T&, OrWord<Reduction>, const Tensor&"),
      With<const Tensor&, const CrossEntropyOptions&>::constructor<nn::CrossEntropyLoss>(
          "nn::CrossEntropyLoss", "const T&, const CrossEntropyOptions&"),
      With<const Tensor&, const NllLossOptions&>::constructor<nn::NLLLoss>(
          "nn::NLLLoss", "const T&, const NllLossOptions&"),
      TEND_CONSTRUCTOR(nn::BCEWithLogitsLoss, OrWord<Reduction>, const Tensor&, const Tensor&),
      TEND_CONSTRUCTOR(nn::SmoothL1Loss, OrWord<Reduction>, double),
      TEND_CONSTRUCTOR(nn::HuberLoss, OrWord<Reduction>, double),
      TEND_CONSTRUCTOR(nn::CrossEntropyLoss, const CrossEntropyOptions&, const Tensor&),
      TEND_CONSTRUCTOR(nn::NLLLoss, const NllLossOptions&, const Tensor&),
      TEND_CONSTRUCTOR(nn::KLDivLoss, const KlDivOptions&),
      With<KlReduction, Flag>::constructor<nn::KLDivLoss>("nn::KLDivLoss", "const R&, Flag"),
      TEND_CONSTRUCTOR(nn::PoissonNLLLoss, const PoissonNllLossOptions&),
      TEND_CONSTRUCTOR(nn::GaussianNLLLoss, const GaussianNllLossOptions&),
      TEND_CONSTRUCTOR(nn::TripletMarginLoss, const TripletMarginLossOptions&),
      TEND_CONSTRUCTOR(nn::MarginRankingLoss, double, OrWord<Reduction>),
      TEND_CONSTRUCTOR(nn::HingeEmbeddingLoss, double, OrWord<Reduction>),
      TEND_CONSTRUCTOR(nn::CosineEmbeddingLoss, double, OrWord<Reduction>),
      TEND_CONSTRUCTOR(nn::CosineSimilarity, std::int64_t, double),
      TEND_CONSTRUCTOR(nn::PairwiseDistance, double, double, Flag),
  };
}

std::vector<PublicFunction> constructors() {
  using attention::Draw, nn::LinearOptions, nn::Conv1dLayerOptions;
  return {
      TEND_CONSTRUCTOR(nn::LeakyReLU, double),
      TEND_CONSTRUCTOR(nn::ELU, double),
      TEND_CONSTRUCTOR(nn::GLU, std::int64_t),
      TEND_CONSTRUCTOR(nn::GELU, OrWord<GeluKind>),
      TEND_CONSTRUCTOR(nn::CELU, double),
      TEND_CONSTRUCTOR(nn::Hardtanh, double, double),
      TEND_CONSTRUCTOR(nn::Softplus, double, double),
      TEND_CONSTRUCTOR(nn::PReLU, std::int64_t, double),
      TEND_CONSTRUCTOR(nn::Softmax, std::int64_t),
      TEND_CONSTRUCTOR(nn::LogSoftmax, std::int64_t),
      TEND_CONSTRUCTOR(nn::Softmin, std::int64_t),
      TEND_CONSTRUCTOR(nn::Conv1d, std::int64_t, std::int64_t, std::int64_t,
                       const Conv1dLayerOptions&),
      With<std::int64_t, std::int64_t, std::int64_t, const Conv1dOptions&, Flag>::constructor<
          nn::Conv1d>("nn::Conv1d", "std::int64_t, std::int64_t, std::int64_t, const O&, Flag"),
      With<std::int64_t, std::int64_t, std::int64_t, std::int64_t, Integer, Integer, Integer,
           Flag>::constructor<nn::Conv1d>("nn::Conv1d",
                                          "std::int64_t, std::int64_t, std::int64_t, T, const "
                                          "Conv1dPadding&, Integer, Integer, Flag"),
      TEND_CONSTRUCTOR(nn::Dropout, double),
      TEND_CONSTRUCTOR(nn::Flatten, std::int64_t, std::int64_t),
      TEND_CONSTRUCTOR(nn::Linear, std::int64_t, std::int64_t, Flag),
      TEND_CONSTRUCTOR(nn::Linear, std::int64_t, std::int64_t, const LinearOptions&),
      TEND_CONSTRUCTOR(nn::Embedding, std::int64_t, std::int64_t, std::optional<Integer>),
      by_hand("nn::Embedding::Embedding(std::int64_t, std::int64_t, const O&)",
              [](Arguments& a) {
                const auto rows = drawn<std::int64_t>(a), columns = drawn<std::int64_t>(a);
                const nn::EmbeddingOptions options{.padding_idx = drawn<std::int64_t>(a)};
                return DrawnCall(
                    [=] { return nn::Embedding(rows, columns, options).parameters(); });
              }),
      by_hand("nn::LayerNorm::LayerNorm(const Shape&, const O&)",
              [](Arguments& a) {
                const Shape shape = drawn<Shape>(a);
                const nn::LayerNormOptions options = draw_norm_options(a);
                return DrawnCall([=] { return nn::LayerNorm(shape, options).parameters(); });
              }),
      by_hand("nn::LayerNorm::LayerNorm(std::initializer_list<T>, const O&)",
              [](Arguments& a) {
                const auto one = drawn<std::int64_t>(a), two = drawn<std::int64_t>(a);
                const nn::LayerNormOptions options = draw_norm_options(a);
                return DrawnCall([=] { return nn::LayerNorm({one, two}, options).parameters(); });
              }),
      by_hand("nn::LayerNorm::LayerNorm(T, const O&)",
              [](Arguments& a) {
                const auto size = drawn<std::int64_t>(a);
                const nn::LayerNormOptions options = draw_norm_options(a);
                return DrawnCall([=] { return nn::LayerNorm(size, options).parameters(); });
              }),
      by_hand("nn::LayerNorm::LayerNorm(const S&, double, Flag, Flag)",
              [](Arguments& a) {
                const Shape shape = drawn<Shape>(a);
                const double eps = a.real();
                const bool affine = a.flag(), bias = a.flag();
                return DrawnCall(
                    [=] { return nn::LayerNorm(shape, eps, affine, bias).parameters(); });
              }),
      by_hand("nn::RMSNorm::RMSNorm(const S&, std::optional<double>, Flag)",
              [](Arguments& a) {
                const Shape shape = drawn<Shape>(a);
                const auto eps = drawn<std::optional<double>>(a);
                const bool affine = a.flag();
                return DrawnCall([=] { return nn::RMSNorm(shape, eps, affine).parameters(); });
              }),
      by_hand("nn::LayerNorm::LayerNorm(std::initializer_list<T>, double, Flag, Flag)",
              [](Arguments& a) {
                const auto one = drawn<std::int64_t>(a), two = drawn<std::int64_t>(a);
                const double eps = a.real();
                return DrawnCall([=] { return nn::LayerNorm({one, two}, eps).parameters(); });
              }),
      by_hand("nn::LayerNorm::LayerNorm(const L&, double, Flag, Flag)",
              [](Arguments& a) {
                const std::vector sizes{drawn<std::int64_t>(a), drawn<std::int64_t>(a)};
                const double eps = a.real();
                return DrawnCall([=] { return nn::LayerNorm(sizes, eps).parameters(); });
              }),
      by_hand("nn::RMSNorm::RMSNorm(const L&, std::optional<double>, Flag)",
              [](Arguments& a) {
                const std::vector sizes{drawn<std::int64_t>(a), drawn<std::int64_t>(a)};
                const auto eps = drawn<std::optional<double>>(a);
                return DrawnCall([=] { return nn::RMSNorm(sizes, eps).parameters(); });
              }),
      by_hand("nn::LayerNorm::LayerNorm(T, E, Flag, Flag)",
              [](Arguments& a) {
                const auto size = drawn<std::int64_t>(a);
                const double eps = a.real();
                const bool affine = a.flag();
                return DrawnCall([=] { return nn::LayerNorm(size, eps, affine).parameters(); });
              }),
      by_hand("nn::RMSNorm::RMSNorm(std::initializer_list<T>, std::optional<double>, Flag)",
              [](Arguments& a) {
                const auto one = drawn<std::int64_t>(a), two = drawn<std::int64_t>(a);
                const auto eps = drawn<std::optional<double>>(a);
                return DrawnCall([=] { return nn::RMSNorm({one, two}, eps).parameters(); });
              }),
      by_hand("nn::RMSNorm::RMSNorm(T)",
              [](Arguments& a) {
                const auto size = drawn<std::int64_t>(a);
                return DrawnCall([=] { return nn::RMSNorm(size).parameters(); });
              }),
      by_hand("nn::RMSNorm::RMSNorm(T, E, Flag)",
              [](Arguments& a) {
                const auto size = drawn<std::int64_t>(a);
                const double eps = a.real();
                const bool affine = a.flag();
                return DrawnCall([=] { return nn::RMSNorm(size, eps, affine).parameters(); });
              }),
      TEND_CONSTRUCTOR(nn::GroupNorm, std::int64_t, std::int64_t, double, Flag),
      TEND_CONSTRUCTOR(attention::SelfAttentionV1, std::int64_t, std::int64_t, Draw),
      TEND_CONSTRUCTOR(attention::SelfAttentionV2, std::int64_t, std::int64_t, Flag),
      TEND_CONSTRUCTOR(attention::CausalAttention, std::int64_t, std::int64_t, std::int64_t, double,
                       Flag),
      TEND_CONSTRUCTOR(attention::MultiHeadAttentionWrapper, std::int64_t, std::int64_t,
                       std::int64_t, double, std::int64_t, Flag),
      TEND_CONSTRUCTOR(attention::MultiHeadAttention, std::int64_t, std::int64_t, std::int64_t,
                       double, std::int64_t, Flag),
      TEND_CONSTRUCTOR(attention::FeedForward, std::int64_t, GeluKind),
      by_hand("nn::BatchNorm1d::BatchNorm1d(std::int64_t, const BatchNorm1dOptions&)",
              [](Arguments& a) {
                const std::int64_t features = a.integer();
                const auto settings = drawn<nn::BatchNorm1dOptions>(a);
                return DrawnCall([=] { return nn::BatchNorm1d(features, settings).parameters(); });
              }),
      by_hand("attention::GPT::GPT(const GPTConfig&)",
              [](Arguments& a) {
                const auto config = drawn<attention::GPTConfig>(a);
                return DrawnCall([=] { return attention::GPT(config).parameters(); });
              }),
      by_hand("attention::TransformerBlock::TransformerBlock(const GPTConfig&)",
              [](Arguments& a) {
                const auto config = drawn<attention::GPTConfig>(a);
                return DrawnCall([=] { return attention::TransformerBlock(config).parameters(); });
              }),
  };
}

std::vector<PublicFunction> attention_functions() {
  using namespace attention;
  return {
      TEND_FUNCTION(attention::causal_mask, std::int64_t, std::int64_t),
      TEND_FUNCTION(attention::causal_mask_bottom_right, std::int64_t, std::int64_t),
      TEND_FUNCTION(attention::future_mask, std::int64_t),
      TEND_TENSOR_FUNCTION(attention::scaled_dot_product_attention, const Tensor&, const Tensor&,
                           const Tensor&, const AttentionOptions&),
      by_hand(
          "attention::scaled_dot_product_attention(const Tensor&, const Tensor&, const Tensor&, "
          "const M&, double, Flag, std::optional<double>, Flag)",
          [](Arguments& a) {
            return DrawnCall([q = a.tensor(), k = a.tensor(), v = a.tensor(), mask = a.tensor(),
                              p = a.real(), causal = a.flag(), grouped = a.flag(),
                              scale = drawn<std::optional<double>>(a)]() -> Tensors {
              return {scaled_dot_product_attention(q, k, v, mask, p, causal, scale, grouped)};
            });
          }),
      TEND_FUNCTION(attention::attention_with_weights, const Tensor&, const Tensor&, const Tensor&,
                    const AttentionOptions&),
      TEND_FUNCTION(attention::masked_softmax, const Tensor&, const Tensor&),
      TEND_FUNCTION(attention::rotary, const Tensor&, const Tensor&, const RotaryOptions&),
      TEND_FUNCTION(attention::dot_scores, const Tensor&, const Tensor&),
      TEND_FUNCTION(attention::dot_scores, const Tensor&),
      TEND_FUNCTION(attention::sum_normalize, const Tensor&),
      TEND_FUNCTION(attention::softmax_naive, const Tensor&, std::int64_t),
      TEND_FUNCTION(attention::simple_attention, const Tensor&, const Tensor&),
      TEND_FUNCTION(attention::simple_attention, const Tensor&),
      TEND_FUNCTION(attention::flex_attention, const Tensor&, const Tensor&, const Tensor&,
                    const FlexOptions&),
      TEND_FUNCTION(attention::flex_attention_with_weights, const Tensor&, const Tensor&,
                    const Tensor&, const FlexOptions&),
      by_hand("attention::flex_attention_with_heads(const Tensor&, const Tensor&, const Tensor&, "
              "const std::vector<std::int64_t>&, const FlexOptions&)",
              [](Arguments& a) {
                const Tensor q = a.tensor(), k = a.tensor(), v = a.tensor();
                const std::vector<std::int64_t> heads{a.integer(), 0};
                const auto options = drawn<FlexOptions>(a);
                return DrawnCall([=]() -> Tensors {
                  const HeadDetails all = flex_attention_with_heads(q, k, v, heads, options);
                  return {all.context, all.weights, all.scores, all.log_sum_exp};
                });
              }),
      TEND_FUNCTION(attention::scores::alibi_slopes, std::int64_t),
      TEND_FUNCTION(attention::masks::document_positions, const Tensor&),
  };
}

// An attention of 2 batches, 2 heads and 20 tokens by functions of hostile arguments.
Tensors small_attention(const attention::FlexOptions& options) {
  const Tensor x = ones({2, 2, 20, 3});
  return {attention::flex_attention(x, x, x, options)};
}

template <class Make>
PublicFunction mask_function(const std::string& signature, Make make) {
  return by_hand(signature, [make](Arguments& a) {
    const Tensor table = a.tensor();
    const std::int64_t first = a.integer(), second = a.integer();
    return DrawnCall([=] { return small_attention({.mask = make(table, first, second)}); });
  });
}

template <class Make>
PublicFunction score_function(const std::string& signature, Make make) {
  return by_hand(signature, [make](Arguments& a) {
    const Tensor table = a.tensor();
    const std::int64_t number = a.integer();
    const double real = a.real();
    const bool flag = a.flag();
    return DrawnCall([=] { return small_attention({.score = make(table, number, real, flag)}); });
  });
}

std::vector<PublicFunction> attention_expressions() {
  using namespace attention;
  using Int = std::int64_t;
  return {
      mask_function("attention::masks::causal()", [](auto&&...) { return masks::causal(); }),
      mask_function("attention::masks::causal_bottom_right(std::int64_t, std::int64_t)",
                    [](const Tensor&, Int a, Int b) { return masks::causal_bottom_right(a, b); }),
      mask_function("attention::masks::sliding_window(std::int64_t)",
                    [](const Tensor&, Int a, Int) { return masks::sliding_window(a); }),
      mask_function("attention::masks::prefix(std::int64_t)",
                    [](const Tensor&, Int a, Int) { return masks::prefix(a); }),
      mask_function("attention::masks::prefix(const Tensor&)",
                    [](const Tensor& x, Int, Int) { return masks::prefix(x); }),
      mask_function("attention::masks::documents(const Tensor&)",
                    [](const Tensor& x, Int, Int) { return masks::documents(x); }),
      mask_function("attention::masks::padding(const Tensor&)",
                    [](const Tensor& x, Int, Int) { return masks::padding(x); }),
      mask_function("attention::masks::blocks(std::int64_t)",
                    [](const Tensor&, Int a, Int) { return masks::blocks(a); }),
      mask_function("attention::masks::dilated(std::int64_t)",
                    [](const Tensor&, Int a, Int) { return masks::dilated(a); }),
      score_function("attention::scores::alibi(std::int64_t)",
                     [](const Tensor&, Int heads, double, bool) { return scores::alibi(heads); }),
      score_function("attention::scores::alibi(const Tensor&)",
                     [](const Tensor& x, Int, double, bool) { return scores::alibi(x); }),
      score_function("attention::scores::relative_bias(const Tensor&)",
                     [](const Tensor& x, Int, double, bool) { return scores::relative_bias(x); }),
      score_function(
          "attention::scores::t5_bias(const Tensor&, Flag, std::int64_t)",
          [](const Tensor& x, Int n, double, bool flag) { return scores::t5_bias(x, flag, n); }),
      score_function("attention::scores::soft_cap(double)",
                     [](const Tensor&, Int, double cap, bool) { return scores::soft_cap(cap); }),
      mask_function("attention::with_offset(const MaskFunction&, std::int64_t)",
                    [](const Tensor&, Int a, Int b) {
                      return with_offset(masks::prefix(b) && masks::causal(), a);
                    }),
      score_function("attention::with_offset(const ScoreFunction&, std::int64_t)",
                     [](const Tensor& x, Int n, double, bool) {
                       return with_offset(scores::relative_bias(x), n);
                     }),
      // Any table at hostile indices: with no index, or one or two.
      score_function("attention::lookup(const Tensor&)",
                     [](const Tensor& x, Int n, double real, bool flag) {
                       const Lookup table = lookup(x);
                       return ScoreFunction([&](const Expr& s, const Position& at) {
                         const auto as_number = [](const Expr& read) { return read + 0; };
                         if (x.dim() == 0) return s + as_number(table());
                         if (x.dim() == 1) return s * real + as_number(table(at.key));
                         return s + as_number(flag ? table(at.head, at.query) : table(n, at.key));
                       });
                     }),
  };
}

std::vector<PublicFunction> initialisers() {
  using namespace nn::init;
  return {
      TEND_FUNCTION(nn::init::uniform_, const Tensor&, double, double),
      TEND_FUNCTION(nn::init::normal_, const Tensor&, double, double),
      TEND_FUNCTION(nn::init::constant_, const Tensor&, double),
      TEND_FUNCTION(nn::init::zeros_, const Tensor&),
      TEND_FUNCTION(nn::init::ones_, const Tensor&),
      TEND_FUNCTION(nn::init::trunc_normal_, const Tensor&, double, double, double, double),
      TEND_FUNCTION(nn::init::eye_, const Tensor&),
      TEND_FUNCTION(nn::init::dirac_, const Tensor&, std::int64_t),
      TEND_FUNCTION(nn::init::orthogonal_, const Tensor&, double),
      TEND_FUNCTION(nn::init::sparse_, const Tensor&, double, double),
      TEND_FUNCTION(nn::init::calculate_gain, OrWord<Nonlinearity>, std::optional<double>),
      TEND_FUNCTION(nn::init::kaiming_uniform_, const Tensor&, double, OrWord<Fan>,
                    OrWord<Nonlinearity>),
      TEND_FUNCTION(nn::init::kaiming_normal_, const Tensor&, double, OrWord<Fan>,
                    OrWord<Nonlinearity>),
      TEND_FUNCTION(nn::init::xavier_uniform_, const Tensor&, double),
      TEND_FUNCTION(nn::init::xavier_normal_, const Tensor&, double),
  };
}

}  // namespace

std::vector<PublicFunction> layer_functions() {
  std::vector<PublicFunction> all;
  for (auto family : {layers(), losses(), constructors(), attention_functions(),
                      attention_expressions(), initialisers()})
    all.insert(all.end(), family.begin(), family.end());
  return all;
}

}  // namespace tend::test
