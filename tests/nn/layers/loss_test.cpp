// Loss modules have the same results as their functions with the same options.
#include <array>
#include <vector>

#include <tend/tend.h>

#include "tests/catch.h"

using namespace tend;

TEST_CASE("a loss module calls its function with the options of its constructor") {
  manual_seed(1);
  const Tensor x = rand({4, 3}), y = rand({4, 3}), classes = tensor({0, 2, 1, 2});
  const Tensor signs = tensor({1, -1, 1, -1}), weights = tensor({0.5, 1.0, 2.0});
  constexpr Reduction kSum = Reduction::sum;
  const std::vector<std::pair<Tensor, Tensor>> pairs = {
      {nn::MSELoss(kSum)(x, y), mse_loss(x, y, kSum)},
      {nn::L1Loss(kSum)(x, y), l1_loss(x, y, kSum)},
      {nn::BCELoss(kSum)(x, y), binary_cross_entropy(x, y, kSum)},
      {nn::BCEWithLogitsLoss(kSum, {}, weights)(x, y),
       binary_cross_entropy_with_logits(x, y, {}, weights, kSum)},
      {nn::SmoothL1Loss(kSum, 0.3)(x, y), smooth_l1_loss(x, y, kSum, 0.3)},
      {nn::HuberLoss(kSum, 0.3)(x, y), huber_loss(x, y, kSum, 0.3)},
      {nn::CrossEntropyLoss({.label_smoothing = 0.1}, weights)(x, classes),
       cross_entropy(x, classes, weights, {.label_smoothing = 0.1})},
      {nn::NLLLoss({.reduction = kSum})(x, classes), nll_loss(x, classes, {.reduction = kSum})},
      {nn::KLDivLoss({.reduction = KlReduction::batchmean})(x, y),
       kl_div(x, y, {.reduction = KlReduction::batchmean})},
      {nn::KLDivLoss("batchmean", true)(x, y), kl_div(x, y, {KlReduction::batchmean, true})},
      {nn::KLDivLoss(kSum)(x, y), kl_div(x, y, {.reduction = KlReduction::sum})},
      {nn::PoissonNLLLoss({.full = true})(x, y), poisson_nll_loss(x, y, {.full = true})},
      {nn::GaussianNLLLoss({.full = true})(x, y, y), gaussian_nll_loss(x, y, y, {.full = true})},
      {nn::TripletMarginLoss({.margin = 2})(x, y, y + 1),
       triplet_margin_loss(x, y, y + 1, {.margin = 2})},
      {nn::MarginRankingLoss(0.5)(x, y, y - 0.5), margin_ranking_loss(x, y, y - 0.5, 0.5)},
      {nn::HingeEmbeddingLoss(2)(x, y), hinge_embedding_loss(x, y, 2)},
      {nn::CosineEmbeddingLoss(0.2, kSum)(x, y, signs),
       cosine_embedding_loss(x, y, signs, 0.2, kSum)},
      {nn::CosineSimilarity(0)(x, y), cosine_similarity(x, y, 0)},
      {nn::PairwiseDistance(1)(x, y), pairwise_distance(x, y, 1)}};
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    INFO(i);
    CHECK(equal(pairs[i].first, pairs[i].second));
  }
  CHECK(nn::CrossEntropyLoss({}, weights).state_dict().size() == 1);
  // Weights may also be the first argument, as in PyTorch.
  CHECK(equal(nn::BCELoss(weights)(x, y), binary_cross_entropy(x, y, weights)));
  CHECK(equal(nn::BCELoss("sum", weights)(x, y), binary_cross_entropy(x, y, weights, kSum)));
  CHECK(equal(nn::BCEWithLogitsLoss(weights, "sum", weights)(x, y),
              binary_cross_entropy_with_logits(x, y, weights, weights, kSum)));
  CHECK(equal(nn::CrossEntropyLoss(weights)(x, classes), cross_entropy(x, classes, weights)));
  CHECK(equal(nn::NLLLoss(weights, {.reduction = "sum"})(x, classes),
              nll_loss(x, classes, weights, {.reduction = kSum})));
}

TEST_CASE("every loss accepts its options in braces, as a function and as a module") {
  manual_seed(2);
  const Tensor x = rand({4, 3}), y = rand({4, 3}), classes = tensor({0, 2, 1, 2});
  const Tensor signs = tensor({1, -1, 1, -1}), w = tensor({0.5, 1.0, 2.0});
  const std::vector<std::array<Tensor, 3>> same = {
      {mse_loss(x, y, {.reduction = "sum"}), nn::MSELoss({.reduction = "sum"})(x, y),
       sum(pow(x - y, 2))},
      {l1_loss(x, y, {.reduction = "sum"}), nn::L1Loss({.reduction = "sum"})(x, y),
       sum(abs(x - y))},
      {smooth_l1_loss(x, y, {.beta = 0.3}), nn::SmoothL1Loss({.beta = 0.3})(x, y),
       smooth_l1_loss(x, y, "mean", 0.3)},
      {huber_loss(x, y, {.delta = 0.3}), nn::HuberLoss({.delta = 0.3})(x, y),
       huber_loss(x, y, "mean", 0.3)},
      {binary_cross_entropy(x, y, {.weight = w, .reduction = "sum"}),
       nn::BCELoss({.weight = w, .reduction = "sum"})(x, y), binary_cross_entropy(x, y, w, "sum")},
      {binary_cross_entropy_with_logits(x, y, {.pos_weight = w}),
       nn::BCEWithLogitsLoss({.pos_weight = w})(x, y),
       binary_cross_entropy_with_logits(x, y, {}, w)},
      {cross_entropy(x, classes, {.weight = w, .reduction = "sum"}),
       nn::CrossEntropyLoss({.weight = w, .reduction = "sum"})(x, classes),
       cross_entropy(x, classes, w, {.reduction = "sum"})},
      {cross_entropy(x, classes, "sum"), nn::CrossEntropyLoss("sum")(x, classes),
       cross_entropy(x, classes, {.reduction = "sum"})},
      {nll_loss(x, classes, {.weight = w}), nn::NLLLoss({.weight = w})(x, classes),
       nll_loss(x, classes, w)},
      {nll_loss(x, classes, "sum"), nn::NLLLoss("sum")(x, classes),
       nll_loss(x, classes, {.reduction = "sum"})},
      {margin_ranking_loss(x, y, y - 0.5, {.margin = 0.5, .reduction = "sum"}),
       nn::MarginRankingLoss({.margin = 0.5, .reduction = "sum"})(x, y, y - 0.5),
       margin_ranking_loss(x, y, y - 0.5, 0.5, "sum")},
      {hinge_embedding_loss(x, y, {.margin = 2, .reduction = "sum"}),
       nn::HingeEmbeddingLoss({.margin = 2, .reduction = "sum"})(x, y),
       hinge_embedding_loss(x, y, std::int64_t{2}, "sum")},
      {hinge_embedding_loss(x, y), nn::HingeEmbeddingLoss()(x, y), hinge_embedding_loss(x, y, 1)},
      {cosine_embedding_loss(x, y, signs, {.margin = 0.2, .reduction = "sum"}),
       nn::CosineEmbeddingLoss({.margin = 0.2, .reduction = "sum"})(x, y, signs),
       cosine_embedding_loss(x, y, signs, 0.2, "sum")}};
  for (std::size_t i = 0; i < same.size(); ++i) {
    INFO(i);
    CHECK(equal(same[i][0], same[i][1]));
    CHECK(allclose(same[i][0], same[i][2]));
  }
  const nn::CrossEntropyLoss weighted({.weight = w});
  CHECK(equal(weighted.state_dict().at("weight"), w));
  CHECK_THROWS_WITH(cross_entropy(x, classes, w, {.weight = w}),
                    "[cross_entropy] weight is given twice");
  CHECK_THROWS_WITH(nn::NLLLoss(w, {.weight = w}), "[NLLLoss] weight is given twice");
}

TEST_CASE("activation modules call their functions and print their options") {
  const Tensor x = linspace(-4, 4, 12).view({2, 6});
  CHECK(equal(nn::ReLU6()(x), relu6(x)));
  CHECK(equal(nn::SELU()(x), selu(x)));
  CHECK(equal(nn::CELU(2)(x), celu(x, 2)));
  CHECK(equal(nn::Hardsigmoid()(x), hardsigmoid(x)));
  CHECK(equal(nn::Hardswish()(x), hardswish(x)));
  CHECK(equal(nn::Hardtanh(-2, 1)(x), hardtanh(x, -2, 1)));
  CHECK(equal(nn::Softplus(2)(x), softplus(x, 2)));
  CHECK(equal(nn::Softsign()(x), softsign(x)));
  CHECK(equal(nn::Softmax(1)(x), softmax(x, 1)));
  CHECK(equal(nn::LogSoftmax(0)(x), log_softmax(x, 0)));
  CHECK(equal(nn::Softmin(1)(x), softmin(x, 1)));
  const nn::PReLU prelu_of_six(6, 0.5);
  CHECK(equal(prelu_of_six(x), prelu(x, full({6}, 0.5))));
  CHECK(prelu_of_six.parameters().size() == 1);
  CHECK(nn::Hardtanh(-2, 1).repr() == "Hardtanh(min_val=-2.0, max_val=1.0)");
  CHECK(nn::Softmax(1).repr() == "Softmax(dim=1)");
}

TEST_CASE("a Conv1d has PyTorch's random kernel, result and printed form", "[products]") {
  manual_seed(5);
  const nn::Conv1d conv(4, 6, 3, {.stride = 2, .padding = 1, .groups = 2});
  // torch.manual_seed(5); torch.nn.Conv1d(4, 6, 3, 2, 1, groups=2).weight.sum(), .bias.sum()
  CHECK(conv.weight.sum().item() == Approx(0.5232484340667725));
  CHECK(conv.bias.sum().item() == Approx(0.32394322752952576));
  const Tensor x = randn({2, 4, 7});
  CHECK(equal(conv(x), conv1d(x, conv.weight, conv.bias, conv.options)));
  CHECK(conv.repr() == "Conv1d(4, 6, kernel_size=(3,), stride=(2,), padding=(1,), groups=2)");
  CHECK_THROWS_AS(nn::Conv1d(4, 6, 3, 2, "same"), ShapeError);
  CHECK_THROWS_AS(nn::Conv1d(4, 6, 3, {.groups = 4}), ShapeError);
  CHECK(nn::Conv1d(4, 6, 3, 2, 1, 3, 2, false).repr() ==
        "Conv1d(4, 6, kernel_size=(3,), stride=(2,), padding=(1,), dilation=(3,), groups=2, "
        "bias=False)");
  CHECK(nn::Conv1d(4, 6, 3, {.bias = false}).parameters().size() == 1);
  CHECK(nn::Conv1d(4, 6, 3, {.stride = 2}).options.stride == 2);
  CHECK(nn::Conv1d(4, 6, 3).repr() == "Conv1d(4, 6, kernel_size=(3,), stride=(1,))");
  // print(torch.nn.Conv1d(4, 6, 3, padding="same"))
  const nn::Conv1d same(4, 6, 3, {.padding = "same"});
  CHECK(same.repr() == "Conv1d(4, 6, kernel_size=(3,), stride=(1,), padding=same)");
  CHECK(same(x).shape() == Shape{2, 6, 7});
  CHECK(nn::Conv1d(4, 6, 3, 1, "valid").repr() ==
        "Conv1d(4, 6, kernel_size=(3,), stride=(1,), padding=valid)");
}
