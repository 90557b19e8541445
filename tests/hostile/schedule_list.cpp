// Schedules of learning rates.
#include <limits>

#include "tests/hostile/typed_calls.h"

namespace tend::test {
namespace {

// Counts that schedules are made with: usual ones, and those at the ends of their range.
std::int64_t count(Arguments& a) {
  return a.choice<std::int64_t>({0, 1, 2, 3, 5, 9, -1, std::int64_t{1} << 53,
                                 std::numeric_limits<std::int64_t>::max(),
                                 std::numeric_limits<std::int64_t>::min()});
}

// Makes a schedule of two groups with make(optimizer), steps it and loads a state that may fit.
PublicFunction schedule(std::string signature,
                        std::function<std::function<void(optim::SGD&)>(Arguments&)> draw) {
  return by_hand(std::move(signature), [draw = std::move(draw)](Arguments& a) {
    const auto use = draw(a);
    return DrawnCall([=]() -> Tensors {
      optim::SGD optimizer({zeros({2}).requires_grad_()}, {.lr = 0.1, .momentum = 0.5});
      optimizer.add_group({zeros({1}).requires_grad_()}, {.lr = 0.2});
      use(optimizer);
      return {};
    });
  });
}

template <class S>
void steps(S& schedule) {
  for (int i = 0; i < 4; ++i) schedule.step();
  schedule.load_state_dict(schedule.state_dict());
}

// A schedule S of (Optimizer&, ...), whose other arguments arguments(a) draws as a tuple.
template <class S, class DrawArguments>
PublicFunction made(std::string signature, DrawArguments arguments) {
  return schedule(std::move(signature), [arguments](Arguments& a) {
    return [drawn = arguments(a)](optim::SGD& optimizer) {
      std::apply(
          [&](const auto&... each) {
            S own(optimizer, each...);
            steps(own);
          },
          drawn);
    };
  });
}

std::vector<PublicFunction> simple_schedules() {
  return {
      made<optim::StepLR>("optim::StepLR::StepLR(Optimizer&, Integer, double)",
                          [](Arguments& a) { return std::tuple(count(a), a.real()); }),
      made<optim::MultiStepLR>(
          "optim::MultiStepLR::MultiStepLR(Optimizer&, std::vector<std::int64_t>, double)",
          [](Arguments& a) {
            return std::tuple(std::vector<std::int64_t>{count(a), count(a)}, a.real());
          }),
      made<optim::ExponentialLR>("optim::ExponentialLR::ExponentialLR(Optimizer&, double)",
                                 [](Arguments& a) { return std::tuple(a.real()); }),
      made<optim::ConstantLR>("optim::ConstantLR::ConstantLR(Optimizer&, double, Integer)",
                              [](Arguments& a) { return std::tuple(a.real(), count(a)); }),
      made<optim::LinearLR>(
          "optim::LinearLR::LinearLR(Optimizer&, const LinearLROptions&)",
          [](Arguments& a) {
            return std::tuple(optim::LinearLROptions{a.real(), a.real(), count(a)});
          }),
      made<optim::PolynomialLR>("optim::PolynomialLR::PolynomialLR(Optimizer&, Integer, double)",
                                [](Arguments& a) { return std::tuple(count(a), a.real()); }),
      made<optim::CosineAnnealingLR>(
          "optim::CosineAnnealingLR::CosineAnnealingLR(Optimizer&, Integer, double)",
          [](Arguments& a) { return std::tuple(count(a), a.real()); }),
      made<optim::CosineAnnealingWarmRestarts>(
          "optim::CosineAnnealingWarmRestarts::CosineAnnealingWarmRestarts(Optimizer&, const "
          "WarmRestartsOptions&)",
          [](Arguments& a) {
            return std::tuple(optim::WarmRestartsOptions{count(a), count(a), a.real()});
          }),
      made<optim::CosineWithWarmup>(
          "optim::CosineWithWarmup::CosineWithWarmup(Optimizer&, const CosineWithWarmupOptions&)",
          [](Arguments& a) {
            return std::tuple(optim::CosineWithWarmupOptions{count(a), count(a), a.real()});
          }),
      made<optim::InverseSquareRootLR>(
          "optim::InverseSquareRootLR::InverseSquareRootLR(Optimizer&, Integer)",
          [](Arguments& a) { return std::tuple(count(a)); }),
      made<optim::WSDLR>("optim::WSDLR::WSDLR(Optimizer&, const WSDLROptions&)",
                         [](Arguments& a) {
                           return std::tuple(
                               optim::WSDLROptions{count(a), count(a), count(a), a.real(),
                                                   a.one_of(optim::WSDDecay::one_minus_sqrt)});
                         }),
      made<optim::OneCycleLR>("optim::OneCycleLR::OneCycleLR(Optimizer&, const OneCycleLROptions&)",
                              [](Arguments& a) {
                                return std::tuple(optim::OneCycleLROptions{
                                    a.real(), count(a), a.real(),
                                    a.one_of(optim::AnnealStrategy::linear), a.flag(), a.real(),
                                    a.real(), a.real(), a.real(), a.flag()});
                              }),
  };
}

std::vector<PublicFunction> schedules_with_parts() {
  return {
      made<optim::LambdaLR>(
          "optim::LambdaLR::LambdaLR(Optimizer&, const Factor&)",
          [](Arguments& a) {
            return std::tuple(optim::LambdaLR::Factor([x = a.real()](std::int64_t) { return x; }));
          }),
      made<optim::LambdaLR>("optim::LambdaLR::LambdaLR(Optimizer&, std::vector<Factor>)",
                            [](Arguments& a) {
                              return std::tuple(std::vector<optim::LambdaLR::Factor>(
                                  a.choice<std::size_t>({0, 1, 2}),
                                  [](std::int64_t) { return 1.0; }));
                            }),
      schedule("optim::SequentialLR::SequentialLR(Optimizer&, References, "
               "std::vector<std::int64_t>)",
               [](Arguments& a) {
                 return [milestone = count(a)](optim::SGD& optimizer) {
                   optim::StepLR first(optimizer, 1);
                   optim::CosineAnnealingLR second(optimizer, 3);
                   optim::SequentialLR own(optimizer, {first, second}, {milestone});
                   steps(own);
                 };
               }),
      schedule("optim::ChainedScheduler::ChainedScheduler(References)",
               [](Arguments& a) {
                 return [gamma = a.real()](optim::SGD& optimizer) {
                   optim::ExponentialLR first(optimizer, gamma);
                   optim::ChainedScheduler own({first});
                   steps(own);
                 };
               }),
      by_hand("optim::LRScheduler::load_state_dict(const nn::StateDict&)",
              [](Arguments& a) {
                optim::SGD optimizer({zeros({2}).requires_grad_()}, 0.1);
                nn::StateDict state = optim::StepLR(optimizer, 1).state_dict();
                for (auto& [key, tensor] : state) tensor = a.tensor(tensor);
                return DrawnCall([=]() mutable -> Tensors {
                  optim::StepLR own(optimizer, 1);
                  own.load_state_dict(state);
                  own.step();
                  return {};
                });
              }),
      schedule("optim::ReduceLROnPlateau::ReduceLROnPlateau(Optimizer&, const PlateauOptions&)",
               [](Arguments& a) {
                 const optim::PlateauOptions options{
                     a.one_of(optim::PlateauMode::max),   a.real(), count(a), a.real(),
                     a.one_of(optim::ThresholdMode::abs), count(a), a.real(), a.real()};
                 return [options](optim::SGD& optimizer) {
                   optim::ReduceLROnPlateau own(optimizer, options);
                   for (int i = 0; i < 4; ++i) own.step(1);
                 };
               }),
      schedule("optim::ReduceLROnPlateau::step(double)",
               [](Arguments& a) {
                 return [metric = a.real()](optim::SGD& optimizer) {
                   optim::ReduceLROnPlateau own(optimizer, {.patience = 0});
                   for (int i = 0; i < 3; ++i) own.step(metric);
                 };
               }),
      by_hand("optim::ReduceLROnPlateau::load_state_dict(const nn::StateDict&)",
              [](Arguments& a) {
                optim::SGD optimizer({zeros({2}).requires_grad_()}, 0.1);
                nn::StateDict state = optim::ReduceLROnPlateau(optimizer).state_dict();
                for (auto& [key, tensor] : state) tensor = a.tensor(tensor);
                return DrawnCall([=]() mutable -> Tensors {
                  optim::ReduceLROnPlateau own(optimizer);
                  own.load_state_dict(state);
                  own.step(1);
                  return {};
                });
              }),
  };
}

}  // namespace

std::vector<PublicFunction> schedule_functions() {
  std::vector<PublicFunction> all = simple_schedules();
  const std::vector<PublicFunction> others = schedules_with_parts();
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

}  // namespace tend::test
