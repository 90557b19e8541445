// LBFGS: a quasi-Newton method for losses that are computed from all data.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tend/core/base/words.h>
#include <tend/nn/optim/optimizer.h>

namespace tend::optim {

enum class LineSearch { none, strong_wolfe };

/// The options of LBFGS.
struct LBFGSOptions {
  double lr = 1;               ///< The step along the direction, or the first one of a line search.
  std::int64_t max_iter = 20;  ///< The largest number of directions in one step().
  /// The number of calls of the closure after which a step() ends; by default max_iter * 5 / 4.
  std::optional<std::int64_t> max_eval = std::nullopt;
  double tolerance_grad = 1e-7;  ///< step() ends if no derivative is larger.
  /// step() ends if no parameter changes by more, or the loss changes by less.
  double tolerance_change = 1e-9;
  std::int64_t history_size = 100;  ///< The number of changes of the gradient that are remembered.
  OrWord<LineSearch> line_search_fn = LineSearch::none;

  void named(OptionVisitor f) {
    f("lr", &lr);
    f("max_iter", &max_iter);
    f("max_eval", &max_eval);
    f("tolerance_grad", &tolerance_grad);
    f("tolerance_change", &tolerance_change);
    f("history_size", &history_size);
    Flag searches = line_search_fn == LineSearch::strong_wolfe;
    f("strong_wolfe", &searches);
    line_search_fn = searches ? LineSearch::strong_wolfe : LineSearch::none;
  }
};

/// Limited-memory BFGS as torch.optim.LBFGS computes it (Nocedal 1980).
///
/// Each step(closure) calls the closure several times, with other parameters each time. step()
/// without a closure throws an Error. All parameters must be in one group and have the same dtype.
/// If a parameter has no gradient, its gradient counts as zero. If the closure throws, the
/// parameters keep the values for which it was called.
///
///     optim::LBFGS optimizer(model.parameters(),
///                            {.line_search_fn = "strong_wolfe"});
///     const Tensor loss = optimizer.step([&] {
///       optimizer.zero_grad();
///       Tensor loss = loss_of(model);
///       loss.backward();
///       return loss;
///     });  // the loss before the step
class LBFGS : public GroupedOptimizer<LBFGS, LBFGSOptions> {
 public:
  using GroupedOptimizer::GroupedOptimizer;
  static constexpr const char* kName = "LBFGS";
  /// Throws an Error if an option is out of its range.
  static void check(const Options& options);

  /// The state of the search, and the options of the group.
  ///
  /// "n_iter" and "func_evals" are the numbers of directions and of calls of the closure so far.
  /// The next direction is computed from "d", "t", "H_diag", "prev_flat_grad", "old_dirs",
  /// "old_stps" and "ro", which have PyTorch's names.
  nn::StateDict state_dict() override;
  void load_state_dict(const nn::StateDict& state) override;

 private:
  // Tensors are flat, with the elements of all parameters; nothing writes to them.
  struct Memory {
    std::int64_t n_iter = 0, func_evals = 0;
    double t = 0, H_diag = 1;
    Tensor d, prev_flat_grad;
    std::vector<Tensor> old_dirs, old_stps;
    std::vector<double> ro;
  };

  void make_step() override;
  Tensor make_step_with(FunctionRef<Tensor()> closure) override;
  std::vector<StateName> state_names() const override { return {}; }
  Update update(const ParameterStep&, const Options&) const override { return {}; }
  const std::vector<Tensor>& checked_parameters();
  void turn(const Tensor& gradient, std::int64_t history_size);

  Memory memory_;
};

}  // namespace tend::optim

namespace tend::detail {
template <>
inline constexpr std::string_view kWords<optim::LineSearch> = "line_search_fn: none strong_wolfe";
}  // namespace tend::detail
