// Losses as modules. The docstrings of the functions with the same names give the formulas
// (autograd/ops/loss.h).
//
// Each constructor accepts the options of the function, in braces: MSELoss({.reduction = "sum"}).
// Weights may also be the first or the last argument of the constructor. They become buffers.
#pragma once

#include <concepts>
#include <cstdint>
#include <utility>

#include <tend/autograd/ops/binary_loss.h>
#include <tend/autograd/ops/composed_loss.h>
#include <tend/autograd/ops/elementwise_loss.h>
#include <tend/autograd/ops/loss.h>
#include <tend/core/base/words.h>
#include <tend/nn/module/module.h>

namespace tend::nn {

class MSELoss : public Module<MSELoss> {
 public:
  explicit MSELoss(const LossOptions& options = {}) : options_(options) {}
  template <IsReduction R>
  explicit MSELoss(const R& reduction) : options_{reduction} {}

  Tensor forward(const Tensor& input, const Tensor& target) const {
    return mse_loss(input, target, options_);
  }

 private:
  LossOptions options_;
};

class L1Loss : public Module<L1Loss> {
 public:
  explicit L1Loss(const LossOptions& options = {}) : options_(options) {}
  template <IsReduction R>
  explicit L1Loss(const R& reduction) : options_{reduction} {}

  Tensor forward(const Tensor& input, const Tensor& target) const {
    return l1_loss(input, target, options_);
  }

 private:
  LossOptions options_;
};

class BCELoss : public Module<BCELoss> {
 public:
  explicit BCELoss(const BinaryCrossEntropyOptions& options = {}) : reduction_(options.reduction) {
    weight = options.weight;
  }
  template <IsReduction R>
  explicit BCELoss(const R& reduction, const Tensor& weights = {})
      : BCELoss(BinaryCrossEntropyOptions{weights, reduction}) {}
  template <TensorOrNone T>
  explicit BCELoss(const T& weights, OrWord<Reduction> reduction = Reduction::mean)
      : BCELoss(BinaryCrossEntropyOptions{weights, reduction}) {}

  Tensor forward(const Tensor& input, const Tensor& target) const {
    return binary_cross_entropy(input, target, weight, reduction_);
  }

  TEND_BUFFER(weight);

 private:
  Reduction reduction_;
};

/// `pos_weight` multiplies the loss of targets that are 1. It may be undefined.
class BCEWithLogitsLoss : public Module<BCEWithLogitsLoss> {
 public:
  explicit BCEWithLogitsLoss(const BinaryCrossEntropyWithLogitsOptions& options = {})
      : reduction_(options.reduction) {
    weight = options.weight;
    pos_weight = options.pos_weight;
  }
  template <IsReduction R>
  explicit BCEWithLogitsLoss(const R& reduction, const Tensor& weights = {},
                             const Tensor& positive_weights = {})
      : BCEWithLogitsLoss(
            BinaryCrossEntropyWithLogitsOptions{weights, reduction, positive_weights}) {}
  template <TensorOrNone T>
  explicit BCEWithLogitsLoss(const T& weights, OrWord<Reduction> reduction = Reduction::mean,
                             const Tensor& positive_weights = {})
      : BCEWithLogitsLoss(
            BinaryCrossEntropyWithLogitsOptions{weights, reduction, positive_weights}) {}

  Tensor forward(const Tensor& input, const Tensor& target) const {
    return binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction_);
  }

  TEND_BUFFER(weight);
  TEND_BUFFER(pos_weight);

 private:
  Reduction reduction_;
};

class SmoothL1Loss : public Module<SmoothL1Loss> {
 public:
  explicit SmoothL1Loss(const SmoothL1LossOptions& options = {}) : options_(options) {}
  template <IsReduction R>
  explicit SmoothL1Loss(const R& reduction, double beta = 1) : options_{reduction, beta} {}

  Tensor forward(const Tensor& input, const Tensor& target) const {
    return smooth_l1_loss(input, target, options_);
  }

 private:
  SmoothL1LossOptions options_;
};

class HuberLoss : public Module<HuberLoss> {
 public:
  explicit HuberLoss(const HuberLossOptions& options = {}) : options_(options) {}
  template <IsReduction R>
  explicit HuberLoss(const R& reduction, double delta = 1) : options_{reduction, delta} {}

  Tensor forward(const Tensor& input, const Tensor& target) const {
    return huber_loss(input, target, options_);
  }

 private:
  HuberLossOptions options_;
};

/// `weights` has one number for each class; it may be undefined.
class CrossEntropyLoss : public Module<CrossEntropyLoss> {
 public:
  explicit CrossEntropyLoss(const CrossEntropyOptions& options = {}, const Tensor& weights = {})
      : options_(tend::detail::with_weight("CrossEntropyLoss", options, weights)) {
    weight = std::exchange(options_.weight, Tensor());
  }
  template <IsReduction R>
  explicit CrossEntropyLoss(const R& reduction)
      : CrossEntropyLoss(CrossEntropyOptions{.reduction = reduction}) {}
  template <TensorOrNone T>
  explicit CrossEntropyLoss(const T& weights, const CrossEntropyOptions& options = {})
      : CrossEntropyLoss(options, weights) {}

  Tensor forward(const Tensor& input, const Tensor& target) const {
    return cross_entropy(input, target, weight, options_);
  }

  TEND_BUFFER(weight);

 private:
  CrossEntropyOptions options_;
};

/// `weights` has one number for each class; it may be undefined.
class NLLLoss : public Module<NLLLoss> {
 public:
  explicit NLLLoss(const NllLossOptions& options = {}, const Tensor& weights = {})
      : options_(tend::detail::with_weight("NLLLoss", options, weights)) {
    weight = std::exchange(options_.weight, Tensor());
  }
  template <IsReduction R>
  explicit NLLLoss(const R& reduction) : NLLLoss(NllLossOptions{.reduction = reduction}) {}
  template <TensorOrNone T>
  explicit NLLLoss(const T& weights, const NllLossOptions& options = {})
      : NLLLoss(options, weights) {}

  Tensor forward(const Tensor& input, const Tensor& target) const {
    return nll_loss(input, target, weight, options_);
  }

  TEND_BUFFER(weight);

 private:
  NllLossOptions options_;
};

class KLDivLoss : public Module<KLDivLoss> {
 public:
  explicit KLDivLoss(const KlDivOptions& options = {}) : options_(options) {}
  template <std::convertible_to<OrReduction> R>
  explicit KLDivLoss(const R& reduction, Flag log_target = false)
      : KLDivLoss(KlDivOptions{reduction, log_target}) {}

  Tensor forward(const Tensor& input, const Tensor& target) const {
    return kl_div(input, target, options_);
  }

 private:
  KlDivOptions options_;
};

class PoissonNLLLoss : public Module<PoissonNLLLoss> {
 public:
  explicit PoissonNLLLoss(const PoissonNllLossOptions& options = {}) : options_(options) {}

  Tensor forward(const Tensor& input, const Tensor& target) const {
    return poisson_nll_loss(input, target, options_);
  }

 private:
  PoissonNllLossOptions options_;
};

class GaussianNLLLoss : public Module<GaussianNLLLoss> {
 public:
  explicit GaussianNLLLoss(const GaussianNllLossOptions& options = {}) : options_(options) {}

  Tensor forward(const Tensor& input, const Tensor& target, const Tensor& var) const {
    return gaussian_nll_loss(input, target, var, options_);
  }

 private:
  GaussianNllLossOptions options_;
};

class TripletMarginLoss : public Module<TripletMarginLoss> {
 public:
  explicit TripletMarginLoss(const TripletMarginLossOptions& options = {}) : options_(options) {}

  Tensor forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative) const {
    return triplet_margin_loss(anchor, positive, negative, options_);
  }

 private:
  TripletMarginLossOptions options_;
};

class MarginRankingLoss : public Module<MarginRankingLoss> {
 public:
  explicit MarginRankingLoss(const MarginLossOptions& options = {}) : options_(options) {}
  template <IsMargin T>
  explicit MarginRankingLoss(T margin, OrWord<Reduction> reduction = Reduction::mean)
      : options_{static_cast<double>(margin), reduction} {}

  Tensor forward(const Tensor& x1, const Tensor& x2, const Tensor& target) const {
    return margin_ranking_loss(x1, x2, target, options_);
  }

 private:
  MarginLossOptions options_;
};

class HingeEmbeddingLoss : public Module<HingeEmbeddingLoss> {
 public:
  explicit HingeEmbeddingLoss(const HingeEmbeddingLossOptions& options = {}) : options_(options) {}
  template <IsMargin T>
  explicit HingeEmbeddingLoss(T margin, OrWord<Reduction> reduction = Reduction::mean)
      : options_{static_cast<double>(margin), reduction} {}

  Tensor forward(const Tensor& input, const Tensor& target) const {
    return hinge_embedding_loss(input, target, options_);
  }

 private:
  HingeEmbeddingLossOptions options_;
};

class CosineEmbeddingLoss : public Module<CosineEmbeddingLoss> {
 public:
  explicit CosineEmbeddingLoss(const MarginLossOptions& options = {}) : options_(options) {}
  template <IsMargin T>
  explicit CosineEmbeddingLoss(T margin, OrWord<Reduction> reduction = Reduction::mean)
      : options_{static_cast<double>(margin), reduction} {}

  Tensor forward(const Tensor& x1, const Tensor& x2, const Tensor& target) const {
    return cosine_embedding_loss(x1, x2, target, options_);
  }

 private:
  MarginLossOptions options_;
};

class CosineSimilarity : public Module<CosineSimilarity> {
 public:
  explicit CosineSimilarity(std::int64_t dim = 1, double eps = 1e-8) : dim_(dim), eps_(eps) {}

  Tensor forward(const Tensor& x1, const Tensor& x2) const {
    return cosine_similarity(x1, x2, dim_, eps_);
  }

 private:
  std::int64_t dim_;
  double eps_;
};

class PairwiseDistance : public Module<PairwiseDistance> {
 public:
  explicit PairwiseDistance(double p = 2, double eps = 1e-6, Flag keepdim = false)
      : p_(p), eps_(eps), keepdim_(keepdim) {}

  Tensor forward(const Tensor& x1, const Tensor& x2) const {
    return pairwise_distance(x1, x2, p_, eps_, keepdim_);
  }

 private:
  double p_, eps_;
  Flag keepdim_;
};

}  // namespace tend::nn
