// Optimizers and averages of weights.
#include "tests/hostile/lbfgs.h"
#include "tests/hostile/typed_calls.h"

namespace tend::test {
namespace {

// The optimizer O over drawn parameters, with what `f` does to it.
template <class O, class F>
PublicFunction of_optimizer(std::string signature, F f) {
  PublicFunction function = by_hand(std::move(signature), [f](Arguments& a) {
    const Tensors parameters = a.tensors(3);
    const auto state = drawn<nn::StateDict>(a);
    const bool usual = a.draws().chance(0.7);
    const auto options = usual ? typename O::Options() : drawn<typename O::Options>(a);
    return DrawnCall([=]() -> Tensors {
      O optimizer(parameters, options);
      f(optimizer, parameters, state);
      return {};
    });
  });
  function.writes.anything = true;
  return function;
}

template <class O>
std::vector<PublicFunction> optimizer(const std::string& name) {
  const auto nothing = [](O&, const Tensors&, const nn::StateDict&) {};
  const auto step = [](O& o, const Tensors&, const nn::StateDict&) { o.step(); };
  const auto load = [](O& o, const Tensors&, const nn::StateDict& state) {
    o.load_state_dict(state);
  };
  const auto momentum = [](O& o, const Tensors& parameters, const nn::StateDict&) {
    o.set_momentum(parameters.size(), 0.5);
  };
  const auto rate = [](O& o, const Tensors& parameters, const nn::StateDict&) {
    o.set_lr(parameters.size() - 1, 0.5);
  };
  const auto add = [](O& o, const Tensors& parameters, const nn::StateDict&) {
    o.add_group(parameters, {});
  };
  const std::string base = "optim::GroupedOptimizer::";
  return {of_optimizer<O>(base + "GroupedOptimizer(const std::vector<Tensor>&, const Options&)",
                          nothing),
          by_hand(base + "GroupedOptimizer(const std::vector<Tensor>&, Rate)",
                  [](Arguments& a) {
                    return DrawnCall([parameters = a.tensors(3), lr = a.real()] {
                      return O(parameters, lr).groups()[0].parameters;
                    });
                  }),
          by_hand(base + "GroupedOptimizer(const SomeGroups&, Options)",
                  [](Arguments& a) {
                    const nn::Linear model(2, 3);
                    const auto options = drawn<typename O::Options>(a);
                    return DrawnCall([=, decay = a.real()] {
                      return O(optim::decay_groups(model, decay), options).groups()[0].parameters;
                    });
                  }),
          by_hand(as_text("optim::", name, "::check(const Options&)"),
                  [](Arguments& a) {
                    return DrawnCall([options = drawn<typename O::Options>(a)]() -> Tensors {
                      O::check(options);
                      return {};
                    });
                  }),
          of_optimizer<O>("optim::Optimizer::step()", step),
          of_optimizer<O>("optim::Optimizer::load_state_dict(const nn::StateDict&)", load),
          of_optimizer<O>("optim::Optimizer::set_momentum(std::size_t, double)", momentum),
          of_optimizer<O>("optim::Optimizer::set_lr(std::size_t, double)", rate),
          of_optimizer<O>(base + "add_group(const std::vector<Tensor>&, const Options&)", add)};
}

// Averages of a layer whose weights became others since; f(averaged, state), where `state` is one
// that may fit.
template <class F>
PublicFunction of_averages(std::string signature, F f) {
  PublicFunction function = by_hand(std::move(signature), [f](Arguments& a) {
    const Tensor weight = a.tensor(ones({2, 3})), next = a.tensor(ones({2, 3}));
    nn::StateDict state = optim::AveragedModel(nn::Linear(3, 2)).state_dict();
    for (auto& [name, tensor] : state) tensor = a.tensor(tensor);
    const bool is_other = a.draws().chance(0.3);
    const optim::AveragedModelOptions options{drawn<std::optional<double>>(a)};
    return DrawnCall([=, layer = nn::Linear(3, 2)]() -> Tensors {
      nn::Linear model = layer.clone();
      if (weight.defined()) model.weight.set_data(weight);
      optim::AveragedModel averaged(model, options);
      averaged.update_parameters();
      if (is_other && next.defined()) model.weight.set_data(next);
      f(averaged, state);
      return {};
    });
  });
  function.writes.anything = true;
  return function;
}

// LBFGS over drawn parameters, and what `f` does to it with a state that may fit.
template <class F>
PublicFunction of_lbfgs(std::string signature, F f) {
  PublicFunction function = by_hand(std::move(signature), [f](Arguments& a) {
    const Tensors parameters = a.tensors(3);
    const auto options = drawn<optim::LBFGSOptions>(a);
    const Tensor weight = ones({3}).requires_grad_();
    optim::LBFGS source({weight}, {.max_iter = 3});
    step_to_zero(source, {weight});
    nn::StateDict state = source.state_dict();
    for (auto& [name, tensor] : state) tensor = a.tensor(tensor);
    return DrawnCall([=]() -> Tensors {
      optim::LBFGS optimizer(parameters, options);
      f(optimizer, parameters, state);
      return {};
    });
  });
  function.writes.anything = true;
  return function;
}

std::vector<PublicFunction> lbfgs_functions() {
  const std::string name = "optim::LBFGS::";
  return {of_lbfgs(name + "check(const Options&)", [](auto&, const Tensors&, auto&) {}),
          of_lbfgs("optim::Optimizer::step(Closure&&)",
                   [](optim::LBFGS& optimizer, const Tensors& parameters, auto&) {
                     Tensors grads;
                     for (const Tensor& x : parameters)
                       grads.push_back(x.defined() ? x.grad() : Tensor());
                     try {
                       step_to_zero(optimizer, parameters);
                     } catch (...) {  // gradients stay those of the closure (docs/failures.md)
                       for (std::size_t i = 0; i < grads.size(); ++i)
                         if (parameters[i].defined()) Tensor(parameters[i]).set_grad(grads[i]);
                       throw;
                     }
                   }),
          of_lbfgs(name + "state_dict()",
                   [](optim::LBFGS& optimizer, const Tensors&, auto&) { optimizer.state_dict(); }),
          of_lbfgs(name + "load_state_dict(const nn::StateDict&)",
                   [](auto&, const Tensors&, const nn::StateDict& state) {
                     const Tensors own = {ones({3}).requires_grad_()};
                     optim::LBFGS optimizer(own);
                     optimizer.load_state_dict(state);
                     step_to_zero(optimizer, own);
                   })};
}

std::vector<PublicFunction> average_functions() {
  const std::string name = "optim::AveragedModel::";
  const auto update = [](optim::AveragedModel& averaged, const nn::StateDict&) {
    averaged.update_parameters();
  };
  return {of_averages(name + "AveragedModel(const nn::ModuleBase&, const AveragedModelOptions&)",
                      update),
          of_averages(name + "update_parameters()", update),
          of_averages(name + "load_state_dict(const nn::StateDict&)",
                      [](optim::AveragedModel& averaged, const nn::StateDict& state) {
                        averaged.load_state_dict(state);
                      }),
          of_averages("optim::AveragedWeightsGuard::AveragedWeightsGuard(AveragedModel&)",
                      [](optim::AveragedModel& averaged, const nn::StateDict&) {
                        const optim::AveragedWeightsGuard guard(averaged);
                      })};
}

}  // namespace

std::vector<PublicFunction> optimizer_functions() {
  std::vector<PublicFunction> all = average_functions();
  for (const auto& family : {lbfgs_functions(), optimizer<optim::SGD>("SGD"),
                             optimizer<optim::Adam>("Adam"), optimizer<optim::RMSprop>("RMSprop"),
                             optimizer<optim::Adagrad>("Adagrad"), optimizer<optim::Lion>("Lion"),
                             optimizer<optim::Muon>("Muon"), optimizer<optim::AdamW>("AdamW")})
    all.insert(all.end(), family.begin(), family.end());
  all.push_back(by_hand("optim::Muon::check_parameter(const Tensor&)", [](Arguments& a) {
    return DrawnCall([x = a.tensor()]() -> Tensors {
      optim::Muon::check_parameter(x);
      return {};
    });
  }));
  return all;
}

}  // namespace tend::test
