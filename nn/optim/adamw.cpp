#include <tend/nn/optim/adamw.h>

#include <tend/nn/optim/grouped_optimizer_members.h>

namespace tend::optim {
namespace {

AdamOptions as_adam(const AdamWOptions& o) {
  return {o.lr, o.betas, o.eps, o.weight_decay, o.amsgrad, o.maximize};
}

}  // namespace

void AdamW::check(const Options& options) {
  detail::check_adam(kName, as_adam(options));
}

void AdamW::make_step() {
  const auto prepare = [](Stepped& each) {
    detail::prepare_adam(each.state, each.values, each.options->amsgrad);
  };
  step_all("AdamW.step", prepare, [](const Stepped& each, std::int64_t begin, std::int64_t end) {
    detail::update_adam(each.values, each.gradient, *each.target, as_adam(*each.options), true,
                        begin, end);
  });
}

template class GroupedOptimizer<AdamW, AdamWOptions, AdamState>;

}  // namespace tend::optim
