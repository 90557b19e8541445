// Calls without memory: modules and optimizers.
#include <string>

#include "tests/hostile/guard.h"
#include "tests/hostile/lbfgs.h"
#include "tests/hostile/refusals.h"

namespace tend::test {
namespace {

// A state_dict as text.
std::string text_of(const nn::StateDict& state) {
  std::string text;
  for (const auto& [name, x] : state) {
    text += name + as_text(x.dtype(), x.shape());
    const Array dense = x.array().contiguous();
    if (dense.numel() > 0)
      text.append(static_cast<const char*>(dense.raw()),
                  static_cast<std::size_t>(dense.numel() * item_size(dense.dtype())));
  }
  return text;
}

// Parameters of several kinds: dense, with strides, with more dimensions than a Shape has room for.
Tensors some_parameters() {
  Tensors parameters = {ones({3, 4}), ones({4, 3}).t(), ones({1, 2, 1, 2, 1, 2, 1, 2}), ones({5})};
  for (Tensor& x : parameters) {
    x.requires_grad_();
    x.set_grad(full_like(x, 0.5).clone());
  }
  parameters.back().zero_grad();  // one has none
  return parameters;
}

// The step after `before` steps of an optimizer that make(parameters) gives.
template <class Make>
Scenario stepping(const std::string& name, int before, std::size_t count, Make make) {
  return {as_text(name, " step ", before + 1), [=] {
            Tensors parameters = some_parameters();
            parameters.resize(count);
            const auto optimizer = make(parameters);
            for (int i = 0; i < before; ++i) optimizer->step();
            Prepared prepared;
            prepared.watched = parameters;
            prepared.state = [optimizer] { return text_of(optimizer->state_dict()); };
            prepared.run = [optimizer](Tensors&) { optimizer->step(); };
            return prepared;
          }};
}

// The same, of parameters in two groups.
template <class O>
Scenario step_of(const std::string& name, const typename O::Options& options, int before) {
  return stepping(name, before, 4, [=](const Tensors& parameters) {
    const auto optimizer = std::make_shared<O>(Tensors{parameters[0], parameters[1]}, options);
    optimizer->add_group({parameters[2], parameters[3]}, options);
    return optimizer;
  });
}

// Of matrices alone.
Scenario step_of_muon(int before) {
  return stepping("Muon", before, 2, [](const Tensors& parameters) {
    return std::make_shared<optim::Muon>(parameters);
  });
}

template <class O>
Scenario loading_of(const std::string& name, const typename O::Options& options) {
  return {name + " load_state_dict", [=] {
            const Tensors parameters = some_parameters();
            O source(parameters, options);
            source.step();
            const auto optimizer = std::make_shared<O>(parameters, options);
            optimizer->step();
            optimizer->step();
            Prepared prepared;
            prepared.watched = parameters;
            prepared.state = [optimizer] { return text_of(optimizer->state_dict()); };
            prepared.run = [optimizer, state = source.state_dict()](Tensors&) {
              optimizer->load_state_dict(state);
            };
            return prepared;
          }};
}

std::shared_ptr<optim::LBFGS> some_lbfgs(const Tensors& parameters, int before) {
  const optim::LBFGSOptions options{
      .lr = 0.1, .max_iter = 2, .line_search_fn = optim::LineSearch::strong_wolfe};
  const auto optimizer = std::make_shared<optim::LBFGS>(parameters, options);
  for (int i = 0; i < before; ++i) step_to_zero(*optimizer, parameters);
  return optimizer;
}

Scenario step_of_lbfgs(int before) {
  return {as_text("LBFGS step ", before + 1), [=] {
            const Tensors parameters = some_parameters();
            const auto optimizer = some_lbfgs(parameters, before);
            Prepared prepared;
            // Versions and gradients change with each call of the closure.
            prepared.state = [optimizer, parameters] {
              std::string text = text_of(optimizer->state_dict());
              for (const Tensor& x : parameters) text += as_text('|', x.detach());
              return text;
            };
            prepared.run = [optimizer, parameters](Tensors&) {
              step_to_zero(*optimizer, parameters);
            };
            return prepared;
          }};
}

Scenario loading_of_lbfgs() {
  return {"LBFGS load_state_dict", [] {
            const Tensors parameters = some_parameters();
            const nn::StateDict state = some_lbfgs(parameters, 2)->state_dict();
            const auto optimizer = some_lbfgs(parameters, 1);
            Prepared prepared;
            prepared.watched = parameters;
            prepared.state = [optimizer] { return text_of(optimizer->state_dict()); };
            prepared.run = [optimizer, state](Tensors&) { optimizer->load_state_dict(state); };
            return prepared;
          }};
}

Scenario copying_an_optimizer() {
  return {"copy of an optimizer", [] {
            const Tensors parameters = some_parameters();
            const auto optimizer = std::make_shared<optim::AdamW>(parameters);
            optimizer->step();
            Prepared prepared;
            prepared.watched = parameters;
            prepared.run = [optimizer](Tensors&) {
              const optim::AdamW copy = *optimizer;
              static_cast<void>(copy);
            };
            return prepared;
          }};
}

// A call on a module that `make` gives; its parameters and buffers are watched, by their tensors
// and as the module names them.
template <class Make, class F>
Scenario on_module(std::string name, Make make, F run) {
  return {std::move(name), [=] {
            manual_seed(1);
            using Module = decltype(make());
            const auto module = std::make_shared<Module>(make());
            Prepared prepared;
            for (const auto& [key, x] : module->state_dict()) prepared.watched.push_back(x);
            for (const Tensor& x : module->parameters()) prepared.watched.push_back(x);
            prepared.state = [module] { return text_of(module->state_dict()); };
            prepared.run = [module, run](Tensors& results) { run(*module, results); };
            return prepared;
          }};
}

attention::GPTConfig small_config() {
  return {7, 4, 4, 2, 2, 0.1, true};
}
attention::GPT small_gpt() {
  return attention::GPT(small_config());
}

std::vector<Scenario> modules() {
  const auto gpt = small_gpt;
  const Tensor tokens = tensor({{1, 2, 3}, {4, 5, 6}});
  const auto linear = [] {
    nn::Linear made(3, 2);
    made.weight.set_grad(ones({2, 3}));
    return made;
  };
  nn::StateDict other;
  for (const auto& [name, x] : small_gpt().state_dict()) other.emplace_back(name, x.clone());
  return {
      on_module("construction", linear,
                [](auto&, Tensors& r) {
                  for (const Tensor& x : small_gpt().parameters()) r.push_back(x);
                }),
      on_module("forward of a GPT", gpt, [=](auto& m, Tensors& r) { r.push_back(m(tokens)); }),
      on_module("to", gpt, [](auto& m, Tensors&) { m.to(float64); }),
      on_module("to, with gradients", linear, [](auto& m, Tensors&) { m.to(float64); }),
      on_module("load_state_dict", gpt, [=](auto& m, Tensors&) { m.load_state_dict(other); }),
      on_module("state_dict", gpt, [](auto& m, Tensors&) { m.state_dict(); }),
      on_module("named_parameters", gpt, [](auto& m, Tensors&) { m.named_parameters(); }),
      on_module("repr", gpt, [](auto& m, Tensors&) { m.repr(); }),
      on_module("requires_grad_", gpt, [](auto& m, Tensors&) { m.requires_grad_(false); }),
      on_module("apply", gpt,
                [](auto& m, Tensors&) { m.apply([](nn::ModuleBase& b) { b.eval(); }); }),
      on_module("train", gpt, [](auto& m, Tensors&) { m.train(false); }),
      on_module("copy", gpt,
                [](auto& m, Tensors&) {
                  const auto copy = m;
                  static_cast<void>(copy);
                }),
      on_module("modules of several classes", linear,
                [](auto& m, Tensors& r) {
                  nn::Sequential own;
                  own.register_buffer("a name that has no room inside of a std::string", ones({2}));
                  own.register_module("dictionary", nn::ModuleDict<>()).insert("linear", m);
                  own.register_module("list", nn::ModuleList<>()).push_back(nn::ReLU());
                  const nn::Sequential copy = own;
                  r.push_back(copy.get_parameter("dictionary.linear.weight"));
                }),
      on_module("clone", gpt,
                [](auto& m, Tensors& r) {
                  for (const Tensor& x : m.clone().parameters()) r.push_back(x);
                }),
      on_module("forward with hooks", linear,
                [](auto& m, Tensors& r) {
                  auto copy = m;
                  copy.register_forward_hook([](const nn::ModuleBase&, const Tensors&,
                                                Tensor& output) { output = output * 2; });
                  copy.register_backward_hook([](Tensors&, const Tensor&) {});
                  r.push_back(copy(ones({4, 3})));
                }),
      on_module(
          "batch norm", [] { return nn::BatchNorm1d(3); },
          [](auto& m, Tensors& r) {
            r.push_back(m(linspace(0, 1, 6).view({2, 3})));
          }),
      on_module("module list", linear,
                [](auto&, Tensors&) {
                  nn::ModuleList<nn::Linear> list;
                  for (int i = 0; i < 3; ++i) list.emplace_back(2, 2);
                  const nn::ModuleList<nn::Linear> copy = list;
                  static_cast<void>(copy);
                }),
      on_module("sequential", linear,
                [](auto&, Tensors& r) {
                  const nn::Sequential layers(nn::Linear(3, 4), nn::ReLU(), nn::Linear(4, 2));
                  r.push_back(layers(ones({2, 3})));
                }),
      on_module("init", linear, [](auto& m, Tensors&) { nn::init::normal_(m.weight); }),
  };
}

template <class F>
Scenario clipping(const std::string& name, F clip) {
  return {name, [clip] {
            const Tensors parameters = some_parameters();
            Prepared prepared;
            prepared.watched = parameters;
            prepared.run = [parameters, clip](Tensors&) { clip(parameters); };
            return prepared;
          }};
}

// Averages of a layer that was moved since; f(averaged).
template <class F>
Scenario averaging(const std::string& name, F f) {
  return {name, [f] {
            manual_seed(1);
            const auto model = std::make_shared<nn::Linear>(3, 2);
            model->weight.set_data(arange(6.0).view({3, 2}).t());
            const auto averaged = std::make_shared<optim::AveragedModel>(*model);
            averaged->update_parameters();
            model->bias.set_data(ones({2}));
            Prepared prepared;
            prepared.watched = model->parameters();
            prepared.state = [model, averaged] { return text_of(averaged->state_dict()); };
            prepared.run = [model, averaged, f](Tensors& results) {
              f(*averaged, *model, results);
            };
            return prepared;
          }};
}

std::vector<Scenario> clippings_and_averages() {
  return {clipping("clip_grad_norm_", [](const Tensors& x) { nn::clip_grad_norm_(x, 0.1); }),
          clipping("clip_grad_norm_ of another order",
                   [](const Tensors& x) { nn::clip_grad_norm_(x, 0.1, {.norm_type = 3}); }),
          clipping("clip_grad_value_", [](const Tensors& x) { nn::clip_grad_value_(x, 0.1); }),
          averaging("update_parameters",
                    [](auto& averaged, auto&, Tensors&) { averaged.update_parameters(); }),
          averaging("averages' load_state_dict",
                    [](auto& averaged, auto& model, Tensors&) {
                      averaged.load_state_dict(optim::AveragedModel(model).state_dict());
                    }),
          averaging("AveragedWeightsGuard", [](auto& averaged, auto&, Tensors&) {
            const optim::AveragedWeightsGuard guard(averaged);
          })};
}

}  // namespace

std::vector<Scenario> module_scenarios() {
  std::vector<Scenario> all = modules();
  for (const Scenario& each : clippings_and_averages()) all.push_back(each);
  const optim::SGDOptions plain{.lr = 0.1}, momentum{.lr = 0.1, .momentum = 0.9};
  const optim::RMSpropOptions centered{.momentum = 0.9, .centered = true};
  for (const int before : {0, 1}) {
    all.push_back(step_of<optim::SGD>("SGD", plain, before));
    all.push_back(step_of<optim::SGD>("SGD with momentum", momentum, before));
    all.push_back(step_of<optim::Adam>("Adam with amsgrad", {.amsgrad = true}, before));
    all.push_back(step_of<optim::AdamW>("AdamW", {}, before));
    all.push_back(step_of<optim::RMSprop>("RMSprop", centered, before));
    all.push_back(step_of<optim::Adagrad>("Adagrad", {}, before));
    all.push_back(step_of<optim::Lion>("Lion", {}, before));
  }
  all.push_back(loading_of<optim::SGD>("SGD", momentum));
  all.push_back(loading_of<optim::Adam>("Adam with amsgrad", {.amsgrad = true}));
  all.push_back(loading_of<optim::AdamW>("AdamW", {}));
  all.push_back(loading_of<optim::RMSprop>("RMSprop", centered));
  for (const int before : {0, 1}) {
    all.push_back(step_of_muon(before));
    all.push_back(step_of_lbfgs(before));
  }
  all.push_back(loading_of_lbfgs());
  all.push_back({"Profiler::trace", [] {
                   manual_seed(1);
                   Prepared prepared;
                   prepared.run = [model = std::make_shared<nn::Linear>(3, 2)](Tensors& results) {
                     nn::Profiler profiler;
                     results.push_back((*model)(ones({1, 3})));
                     profiler.stop();
                     // Operations may be lost, and are counted then.
                     results.push_back(tensor(profiler.trace().ends_with("]}")));
                   };
                   return prepared;
                 }});
  all.push_back(copying_an_optimizer());
  return all;
}

}  // namespace tend::test
