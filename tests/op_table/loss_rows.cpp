// Rows for autograd/ops/loss.h.
#include "tests/op_table/op_table.h"

#include <tuple>

namespace tend::test {
namespace {

using T = const Tensor&;

constexpr std::tuple<const char*, Reduction> kReductions[] = {
    {"none", Reduction::none}, {"mean", Reduction::mean}, {"sum", Reduction::sum}};

std::string reduced(const char* text) {
  return std::string("reduction='") + text + "')";
}

// Logits and labels, with the classes in each dimension that is allowed.
std::vector<Sample> class_samples() {
  return {{real({4, 3}), integers({4}, 0, 3)},
          {real({3}), integers({}, 0, 3)},
          {real({2, 3, 2}), integers({2, 2}, 0, 3)}};
}

void cross_entropy_rows(Rows& rows) {
  rows.op("cross_entropy", "F.cross_entropy(a, b)", [](T a, T b) { return cross_entropy(a, b); })
      .on(class_samples())
      .refuses("[cross_entropy] input (4, 3) needs a target of shape (4,), got (3,)",
               {real({4, 3}), integers({3}, 0, 3)})
      .refuses("[cross_entropy] target 3 is out of range for dimension 1 of (4, 3)",
               {real({4, 3}), integers({4}, 3, 4)})
      .refuses(
          "[cross_entropy] a target of float64 has probabilities and must have the input's shape "
          "(4, 3), but has shape (4,); a target of classes must be int64",
          {real({4, 3}), real({4})})
      .refuses("[cross_entropy] the target is bool, not int64", {real({4, 3}), bools({4})})
      .refuses(
          "[cross_entropy] the target must be int64, or float64 like the input, but is "
          "float32",
          {real({4, 3}), real({4, 3}).as(float32)});
  rows.op("cross_entropy",
          "F.cross_entropy(a, b, ignore_index=1, reduction='sum', label_smoothing=0.1)",
          [](T a, T b) {
            return cross_entropy(a, b,
                                 {.ignore_index = 1, .reduction = "sum", .label_smoothing = 0.1});
          })
      .on(class_samples());
  rows.op("cross_entropy",
          "F.cross_entropy(a, b, ignore_index=1, reduction='mean', label_smoothing=0.1)",
          [](T a, T b) { return cross_entropy(a, b, {.ignore_index = 1, .label_smoothing = 0.1}); })
      .on({{real({4, 3}), integers({4}, 0, 3)}});
  rows.op("cross_entropy", "F.cross_entropy(a, b, reduction='none')",
          [](T a, T b) { return cross_entropy(a, b, {.reduction = "none"}); })
      .on(class_samples())
      .on({{real({0, 3}), integers({0}, 0, 3)}});
}

// Rows with a weight for each class, with distributions as targets, and with both.
void weighted_rows(Rows& rows) {
  const Input weight = real({3}).in(0.1, 2).constant();
  std::vector<Sample> labels = class_samples(), distributions, both;
  for (Sample& sample : labels) {
    distributions.push_back({sample[0], Input(sample[0]).in(0, 1)});
    both.push_back({sample[0], Input(sample[0]).in(0, 1), weight});
    sample.push_back(weight);
  }
  for (const auto& [text, reduction] : kReductions) {
    for (const double smoothing : {0.0, 0.1}) {
      const std::string options =
          std::string("label_smoothing=") + (smoothing > 0 ? "0.1, " : "0.0, ") + reduced(text);
      const CrossEntropyOptions plain{.reduction = reduction, .label_smoothing = smoothing},
          ignoring{.ignore_index = 1, .reduction = reduction, .label_smoothing = smoothing};
      rows.op("cross_entropy", "F.cross_entropy(a, b, c, ignore_index=1, " + options,
              [ignoring](T a, T b, T c) { return cross_entropy(a, b, c, ignoring); })
          .on(labels)
          .fixed_size()
          .refuses(
              "[cross_entropy] the weight must have one element for each of the 3 classes "
              "(dimension 1 of (4, 3)), but has shape (2,)",
              {real({4, 3}), integers({4}, 0, 3), real({2}).constant()})
          .refuses("[cross_entropy] weight requires grad, but has no derivative",
                   {real({4, 3}), integers({4}, 0, 3), real({3})})
          .refuses(
              "[cross_entropy] ignore_index is 1, but targets that are probabilities cannot be "
              "ignored",
              {real({4, 3}), real({4, 3}), weight});
      rows.op("cross_entropy", "F.cross_entropy(a, b, " + options,
              [plain](T a, T b) { return cross_entropy(a, b, plain); })
          .on(distributions);
      rows.op("cross_entropy", "F.cross_entropy(a, b, c, " + options,
              [plain](T a, T b, T c) { return cross_entropy(a, b, c, plain); })
          .on(both)
          .fixed_size();
    }
    rows.op("nll_loss", "F.nll_loss(a, b, c, ignore_index=1, " + reduced(text),
            [r = reduction](T a, T b, T c) {
              return nll_loss(a, b, c, {.ignore_index = 1, .reduction = r});
            })
        .on(labels)
        .fixed_size()
        .refuses("[nll_loss] weight must have the input's dtype float64, but is float32",
                 {real({4, 3}), integers({4}, 0, 3), real({3}).as(float32)});
  }
}

void nll_rows(Rows& rows) {
  rows.op("nll_loss", "F.nll_loss(a, b, ignore_index=1)",
          [](T a, T b) { return nll_loss(a, b, {.ignore_index = 1}); })
      .on({{real({4, 3}), integers({4}, 0, 3)}, {real({2, 3, 2}), integers({2, 2}, 0, 3)}});
  rows.op("nll_loss", "F.nll_loss(a, b, reduction='none')",
          [](T a, T b) { return nll_loss(a, b, {.reduction = "none"}); })
      .on(class_samples())
      .refuses("[nll_loss] a 0-d input has no classes", {real({}), integers({}, 0, 3)})
      .refuses("[nll_loss] target -1 is out of range for dimension 1 of (4, 3)",
               {real({4, 3}), integers({4}, -1, 0)});
}

using Loss = Tensor (*)(T, T, Reduction);

// Rows for F.NAME(a, b, `parameter` ...) with each reduction. The inputs have elements like those
// of `a` and `b`.
void difference_rows(Rows& rows, const std::string& name, const std::string& parameter, Loss loss,
                     const Input& a, const Input& b) {
  for (const auto& [text, reduction] : kReductions) {
    const auto like = [](Input input, const Shape& shape) {
      input.shape = shape;
      return input;
    };
    Op& row = rows.op(name, as_text("F.", name, "(a, b, ", parameter, reduced(text)),
                      [loss, r = reduction](T x, T y) { return loss(x, y, r); })
                  .on({{like(a, {2, 3}), like(b, {2, 3})},
                       {like(a, {}), like(b, {})},
                       {like(a, {3, 2, 2}), like(b, {3, 2, 2})},
                       {like(a, {2, 3}), like(b, {3})}})
                  .refuses("[" + name + "] (2,) and (3,) do not broadcast: dimension -1 is 2 and 3",
                           {real({2}), real({3})})
                  .refuses("[" + name + "] needs float32 or float64, got int64 and int64",
                           {integers({2}, 0, 3), integers({2}, 0, 3)});
    // The mean of no elements is NaN, which fixtures cannot store.
    if (reduction != Reduction::mean) row.on({{like(a, {0, 3}), like(b, {0, 3})}});
  }
}

void regression_rows(Rows& rows) {
  difference_rows(
      rows, "mse_loss", "", [](T a, T b, Reduction r) { return mse_loss(a, b, r); }, real({}),
      real({}));
  // The differences are odd multiples of 0.05. So they are never 0, 0.3, 0.7 or 1, where the
  // formulas change.
  const Input a = real({}).grid(0.1), b = real({}).grid(0.1, 0.05);
  difference_rows(
      rows, "l1_loss", "", [](T x, T y, Reduction r) { return l1_loss(x, y, r); }, a, b);
  difference_rows(
      rows, "smooth_l1_loss", "", [](T x, T y, Reduction r) { return smooth_l1_loss(x, y, r); }, a,
      b);
  difference_rows(
      rows, "smooth_l1_loss", "beta=0.3, ",
      [](T x, T y, Reduction r) { return smooth_l1_loss(x, y, r, 0.3); }, a, b);
  difference_rows(
      rows, "smooth_l1_loss", "beta=0, ",
      [](T x, T y, Reduction r) { return smooth_l1_loss(x, y, r, 0); }, a, b);
  difference_rows(
      rows, "huber_loss", "", [](T x, T y, Reduction r) { return huber_loss(x, y, r); }, a, b);
  difference_rows(
      rows, "huber_loss", "delta=0.7, ",
      [](T x, T y, Reduction r) { return huber_loss(x, y, r, 0.7); }, a, b);
}

void kl_div_rows(Rows& rows) {
  const std::tuple<const char*, KlReduction> reductions[] = {{"none", KlReduction::none},
                                                             {"mean", KlReduction::mean},
                                                             {"sum", KlReduction::sum},
                                                             {"batchmean", KlReduction::batchmean}};
  for (const auto& [text, reduction] : reductions) {
    // Targets are positive unless they are logarithms.
    for (const bool log_target : {false, true}) {
      const double low = log_target ? -2 : 0.1;
      const KlDivOptions options{reduction, log_target};
      Op& row = rows.op("kl_div",
                        std::string("F.kl_div(a, b, ") + (log_target ? "log_target=True, " : "") +
                            reduced(text),
                        [options](T a, T b) { return kl_div(a, b, options); })
                    .on({{real({2, 3}), real({2, 3}).in(low, 1)},
                         {real({2, 3}), real({3}).in(low, 1)},
                         {real({2}), real({2}).in(low, 1)}})
                    .refuses("[kl_div] (2,) and (3,) do not broadcast: dimension -1 is 2 and 3",
                             {real({2}), real({3})})
                    .refuses("[kl_div] needs float32 or float64, got int64 and bool",
                             {integers({2}, 0, 3), bools({2})});
      if (reduction == KlReduction::batchmean) {
        row.refuses("[kl_div] a 0-d input has no batch to take the mean over",
                    {real({}), real({})});
      }
      if (reduction != KlReduction::mean) row.on({{real({2, 0}), real({2, 0})}});
    }
  }
}

void binary_loss_rows(Rows& rows) {
  const Input p = real({}).in(0.1, 0.9), t = real({}).in(0, 1);
  const auto like = [](Input input, const Shape& shape) {
    input.shape = shape;
    return input;
  };
  const auto pairs = [like](const Input& a, const Input& b) {
    return std::vector<Sample>{{like(a, {2, 3}), like(b, {2, 3})}, {like(a, {}), like(b, {})}};
  };
  const Input weight = real({3}).in(0.1, 2).constant(), rows_weight = like(weight, {2, 1});
  for (const auto& [text, reduction] : kReductions) {
    const std::string name = "binary_cross_entropy", logits = name + "_with_logits";
    rows.op(name, "F." + name + "(a, b, " + reduced(text),
            [r = reduction](T a, T b) { return binary_cross_entropy(a, b, r); })
        .on(pairs(p, t))
        .refuses("[binary_cross_entropy] the target has elements from -2 to -2, not in [0, 1]",
                 {like(p, {2}), real({2}).in(-2, -2)})
        .refuses("[binary_cross_entropy] the input has elements from 3 to 3, not in [0, 1]",
                 {real({2}).in(3, 3), like(t, {2})})
        .refuses("[binary_cross_entropy] input (2, 3) and target (3,) must have one shape",
                 {like(p, {2, 3}), like(t, {3})})
        .refuses("[binary_cross_entropy] input int64 and target int64 must have one floating dtype",
                 {integers({2}, 0, 2), integers({2}, 0, 2)});
    rows.op(name, "F." + name + "(a, b, c, " + reduced(text),
            [r = reduction](T a, T b, T c) { return binary_cross_entropy(a, b, c, r); })
        .on({{like(p, {2, 3}), like(t, {2, 3}), weight},
             {like(p, {2, 3}), like(t, {2, 3}), rows_weight}})
        .refuses("[binary_cross_entropy] weight (2,) does not broadcast to the input (2, 3)",
                 {like(p, {2, 3}), like(t, {2, 3}), like(weight, {2})})
        .refuses("[binary_cross_entropy] weight requires grad, but has no derivative",
                 {like(p, {2, 3}), like(t, {2, 3}), real({3})});
    rows.op(logits, "F." + logits + "(a, b, " + reduced(text),
            [r = reduction](T a, T b) { return binary_cross_entropy_with_logits(a, b, r); })
        .on(pairs(real({}), t))
        .refuses(
            "[binary_cross_entropy_with_logits] input (2, 3) and target (3,) must have one "
            "shape",
            {real({2, 3}), like(t, {3})});
    if (reduction == Reduction::mean) {
      rows.op(logits, "F." + logits + "(a, b, c)",
              [](T a, T b, T c) { return binary_cross_entropy_with_logits(a, b, c); })
          .on({{real({2, 3}), like(t, {2, 3}), weight}});
    }
    rows.op(logits, "F." + logits + "(a, b, c, pos_weight=d, " + reduced(text),
            [r = reduction](const std::vector<Tensor>& x) {
              return binary_cross_entropy_with_logits(x[0], x[1], x[2], x[3], r);
            })
        .on({{real({2, 3}), like(t, {2, 3}), weight, weight},
             {real({2, 3}), like(t, {2, 3}), rows_weight, weight}})
        .refuses(
            "[binary_cross_entropy_with_logits] pos_weight must have the input's dtype "
            "float64, but is float32",
            {real({2}), real({2}), real({2}).constant(), real({2}).as(float32)});
  }
}

void cosine_rows(Rows& rows) {
  const auto cosine = [&rows](const std::string& parameters, std::int64_t dim, double eps) -> Op& {
    return rows.op("cosine_similarity", "F.cosine_similarity(a, b" + parameters + ")",
                   [dim, eps](T a, T b) { return cosine_similarity(a, b, dim, eps); });
  };
  cosine("", 1, 1e-8)
      .on({{real({2, 3}), real({2, 3})},
           {real({2, 3, 2}), real({3, 1})},
           {real({0, 3}), real({3})}})
      .refuses("[cosine_similarity] needs float32 or float64, got int64 and int64",
               {integers({2, 2}, 0, 3), integers({2, 2}, 0, 3)})
      .refuses("[cosine_similarity] dimension 1 is out of range [-1, 0] for 1 dimensions",
               {real({2}), real({2})});
  cosine(", dim=-1", -1, 1e-8)
      .on({{real({3}), real({3})}, {real({2, 3}), real({3})}, {real({}), real({})}});
  // eps is larger than most of the norms, but the gradient is still the norms' gradient.
  cosine(", dim=0, eps=2.5", 0, 2.5).on({{real({3, 2}).in(-1, 1), real({3, 2})}}).no_differences();
}

}  // namespace

// An input whose elements are 1 and -1.
Input signs(Shape shape) {
  Input out = integers(std::move(shape), 0, 1);
  return out.as(int64).in(-1, 2).grid(2, 1).constant();
}

void ranking_rows(Rows& rows) {
  // a and b have no common elements, since there is no derivative where two elements are equal.
  const Input a = real({4}).grid(0.2), b = real({4}).grid(0.2, 0.1);
  for (const auto& [text, reduction] : kReductions) {
    const auto r = reduction;
    rows.op("margin_ranking_loss", "F.margin_ranking_loss(a, b, c, 0.55, " + reduced(text),
            [r](T x, T y, T t) { return margin_ranking_loss(x, y, t, 0.55, r); })
        .on({{a, b, signs({4})}})
        .refuses("[margin_ranking_loss] (4,) and (3,) do not broadcast: dimension -1 is 4 and 3",
                 {real({4}), real({3}), signs({4})});
    rows.op("hinge_embedding_loss", "F.hinge_embedding_loss(a, b, 0.77, " + reduced(text),
            [r](T x, T t) { return hinge_embedding_loss(x, t, 0.77, r); })
        .on({{real({4}).off({0.77}), signs({4})}, {real({2, 3}).off({0.77}), signs({3})}})
        .refuses("[hinge_embedding_loss] needs float32 or float64, got int64",
                 {integers({2}, 0, 5), signs({2})});
    rows.op("cosine_embedding_loss", "F.cosine_embedding_loss(a, b, c, 0.1, " + reduced(text),
            [r](T x, T y, T t) { return cosine_embedding_loss(x, y, t, 0.1, r); })
        .on({{real({4, 3}), real({4, 3}), signs({4})}, {real({3}), real({3}), signs({})}})
        .fixed_size()
        .refuses(
            "[cosine_embedding_loss] needs vectors (N, D) with targets (N), or vectors (D) "
            "with a target (), got (2, 3), (2, 3) and ()",
            {real({2, 3}), real({2, 3}), signs({})});
    rows.op("triplet_margin_loss", "F.triplet_margin_loss(a, b, c, " + reduced(text),
            [r](T x, T y, T z) { return triplet_margin_loss(x, y, z, {.reduction = r}); })
        .on({{real({4, 3}), real({4, 3}), real({4, 3})}})
        .fixed_size()
        .refuses("[pairwise_distance] (2, 3) and (2, 4) do not broadcast: dimension -1 is 3 and 4",
                 {real({2, 3}), real({2, 4}), real({2, 3})});
  }
  rows.op("triplet_margin_loss", "F.triplet_margin_loss(a, b, c, margin=2, p=3, swap=True)",
          [](T x, T y, T z) {
            return triplet_margin_loss(x, y, z, {.margin = 2, .p = 3, .swap = true});
          })
      .on({{real({4, 3}), real({4, 3}), real({4, 3})}})
      .fixed_size();
  rows.op("pairwise_distance", "F.pairwise_distance(a, b, 3, 1e-3, True)",
          [](T x, T y) { return pairwise_distance(x, y, 3, 1e-3, true); })
      .on({{real({4, 3}).grid(0.2), real({4, 3}).grid(0.2, 0.1)}})
      .refuses("[pairwise_distance] the dtypes differ: float64 and int64",
               {real({2}), integers({2}, 0, 5)});
}

void likelihood_rows(Rows& rows) {
  for (const auto& [text, reduction] : kReductions) {
    const auto r = reduction;
    rows.op("poisson_nll_loss", "F.poisson_nll_loss(a, b, " + reduced(text),
            [r](T x, T t) { return poisson_nll_loss(x, t, {.reduction = r}); })
        .on({{real({4}), real({4}).in(0.2, 5)}, {real({2, 3}), integers({3}, 0, 6)}})
        .refuses("[poisson_nll_loss] needs float32 or float64, got int64",
                 {integers({2}, 0, 5), real({2})});
    rows.op("gaussian_nll_loss", "F.gaussian_nll_loss(a, b, c, " + reduced(text),
            [r](T x, T t, T v) { return gaussian_nll_loss(x, t, v, {.reduction = r}); })
        .on({{real({4, 3}), real({4, 3}), real({4, 3}).in(0.2, 3)},
             {real({4, 3}), real({4, 3}), real({4}).in(0.2, 3)},
             {real({4, 3}), real({4, 3}), real({4, 1}).in(0.2, 3)}})
        .refuses("[gaussian_nll_loss] a variance is negative",
                 {real({2}), real({2}), real({2}).in(-3, -1)})
        .refuses(
            "[gaussian_nll_loss] the variances must have the shape of the input (2, 2), or "
            "lack the last dimension, or have size 1 there, got (3,)",
            {real({2, 2}), real({2, 2}), real({3}).in(1, 2)});
  }
  rows.op("poisson_nll_loss", "F.poisson_nll_loss(a, b, log_input=False, full=True, eps=0.1)",
          [](T x, T t) {
            return poisson_nll_loss(x, t, {.log_input = false, .full = true, .eps = 0.1});
          })
      .on({{real({4}).in(0.2, 3), real({4}).in(0.2, 5).off({1})}});
  rows.op("gaussian_nll_loss", "F.gaussian_nll_loss(a, b, c, full=True, eps=1.5)",
          [](T x, T t, T v) { return gaussian_nll_loss(x, t, v, {.full = true, .eps = 1.5}); })
      .on({{real({4, 3}), real({4, 3}), real({4, 3}).in(0.2, 3)}})
      .no_differences();  // the gradient ignores that variances are raised to eps
}

std::vector<Op> loss_rows() {
  Rows rows;
  cross_entropy_rows(rows);
  weighted_rows(rows);
  nll_rows(rows);
  regression_rows(rows);
  kl_div_rows(rows);
  binary_loss_rows(rows);
  cosine_rows(rows);
  ranking_rows(rows);
  likelihood_rows(rows);
  return rows.take();
}

}  // namespace tend::test
