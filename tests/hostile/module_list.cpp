// Modules in general: what they do without a tensor, states and clipping.
#include "tests/hostile/guard.h"
#include "tests/hostile/typed_calls.h"

namespace tend::test {
namespace {

using nn::ClipGradNormOptions;

// Methods of modules that take no tensor.
std::vector<PublicFunction> module_methods() {
  using namespace attention;
  return {
      by_hand("nn::ModuleBase::to(DType)",
              [](Arguments& a) {
                return DrawnCall([dtype = a.dtype(), module = nn::Linear(3, 2)]() mutable {
                  module.to(dtype);
                  return module.parameters();
                });
              }),
      by_hand("nn::ModuleBase::requires_grad_(Flag)",
              [](Arguments& a) {
                return DrawnCall([value = a.flag(), module = nn::Linear(3, 2)]() mutable {
                  module.requires_grad_(value);
                  return module.parameters();
                });
              }),
      by_hand("nn::Module::clone()",
              [](Arguments& a) {
                nn::BatchNorm1d module(3);
                module.running_mean = a.tensor(ones({3}));
                return DrawnCall([=] { return module.clone().buffers(); });
              }),
      by_hand("nn::ModuleList::clone()",
              [](Arguments& a) {
                nn::ModuleList<nn::Embedding> list;
                list.emplace_back(3, 2, a.flag() ? std::optional<Integer>(1) : std::nullopt);
                return DrawnCall([=] { return list.clone().parameters(); });
              }),
      by_hand("nn::ModuleBase::register_parameter(const std::string&, Parameter)",
              [](Arguments& a) {
                const std::string name = a.choice<const char*>({"", "a.b", "bias", "new"});
                const Tensor value = a.tensor();
                return DrawnCall([=]() -> Tensors {
                  nn::BatchNorm1d module(3);
                  return {module.register_parameter(name, nn::Parameter(value))};
                });
              }),
      by_hand("nn::ModuleBase::register_buffer(const std::string&, Tensor, const BufferOptions&)",
              [](Arguments& a) {
                const std::string name = a.choice<const char*>({"", "a.b", "bias", "new"});
                return DrawnCall([name, value = a.tensor()]() -> Tensors {
                  nn::BatchNorm1d module(3);
                  module.register_buffer(name, value, {.persistent = false});
                  return module.buffers();
                });
              }),
      by_hand("nn::ModuleBase::get_parameter(std::string_view)",
              [](Arguments& a) {
                const std::string path = a.choice<const char*>({"", "weight", "0.weight", "."});
                return DrawnCall([path, module = nn::LayerNorm({3})]() -> Tensors {
                  return {module.get_parameter(path)};
                });
              }),
      by_hand("nn::ModuleBase::get_buffer(std::string_view)",
              [](Arguments& a) {
                const std::string path = a.choice<const char*>({"", "weight", "running_mean"});
                return DrawnCall([path, module = nn::BatchNorm1d(3)]() -> Tensors {
                  return {module.get_buffer(path)};
                });
              }),
      by_hand("nn::StateDict::at(std::string_view)",
              [](Arguments& a) {
                const std::string name = a.choice<const char*>({"", "a", "b"});
                return DrawnCall([name, x = a.tensor()]() -> Tensors {
                  const nn::StateDict state{{"a", x}};
                  return {state.at(name)};
                });
              }),
      by_hand("nn::AnyModule::operator()(const Tensor&)",
              [](Arguments& a) {
                const Tensor x = a.tensor(ones({2, 3}));
                return DrawnCall([x, called = a.flag()]() -> Tensors {
                  const nn::AnyModule module = nn::LayerNorm({3});
                  const nn::AnyModule list = nn::ModuleList<nn::Linear>();
                  return {called ? module(x) : list(x)};
                });
              }),
      by_hand("nn::ModuleDict::insert(const std::string&, T)",
              [](Arguments& a) {
                const std::string name = a.choice<const char*>({"", "a.b", "old", "new"});
                return DrawnCall([name] {
                  nn::ModuleDict<> modules;
                  modules.insert("old", nn::ReLU());
                  modules.insert(name, nn::LayerNorm({3}));
                  return modules.parameters();
                });
              }),
      by_hand("nn::ModuleDict::erase(std::string_view)",
              [](Arguments& a) {
                const std::string name = a.choice<const char*>({"", "a.b", "old"});
                return DrawnCall([name] {
                  nn::ModuleDict<> modules;
                  modules.insert("old", nn::ReLU());
                  modules.erase(name);
                  return modules.parameters();
                });
              }),
      by_hand("nn::ModuleDict::operator[](std::string_view)",
              [](Arguments& a) {
                const std::string name = a.choice<const char*>({"", "a.b", "old"});
                return DrawnCall([name] {
                  nn::ModuleDict<nn::LayerNorm> modules;
                  modules.insert("old", nn::LayerNorm({3}));
                  return modules[name].parameters();
                });
              }),
      by_hand("nn::ModuleDict::contains(std::string_view)",
              [](Arguments& a) {
                const std::string name = a.choice<const char*>({"", "a.b", "old"});
                return DrawnCall([name] {
                  nn::ModuleDict<nn::LayerNorm> modules;
                  modules.insert("old", nn::LayerNorm({3}));
                  return Tensors{tensor({modules.contains(name)})};
                });
              }),
      by_hand("nn::ParameterList::operator[](Integer)",
              [](Arguments& a) {
                const std::int64_t i = a.integer();
                return DrawnCall([i]() -> Tensors {
                  const nn::ParameterList list({nn::Parameter(ones({2}))});
                  return {list[i]};
                });
              }),
      by_hand("nn::ModuleList::operator[](Integer)",
              [](Arguments& a) {
                nn::ModuleList<nn::Linear> list;
                list.emplace_back(3, 2);
                const std::int64_t i = a.integer();
                return DrawnCall([=] { return list[i].parameters(); });
              }),
      by_hand("nn::Sequential::operator[](Integer)",
              [](Arguments& a) {
                const std::int64_t i = a.integer();
                return DrawnCall([i, list = nn::Sequential(nn::Linear(3, 2))]() mutable {
                  return list[i]->parameters();
                });
              }),
      by_hand("attention::SelfAttentionV1::copy_weights(const SelfAttentionV2&)",
              [](Arguments& a) {
                const bool fits = a.flag(), bias = a.flag();
                return DrawnCall([to = SelfAttentionV1(4, 2),
                                  from = SelfAttentionV2(fits ? 4 : 5, 2, bias)]() mutable {
                  to.copy_weights(from);
                  return to.parameters();
                });
              }),
      by_hand("attention::SelfAttentionV2::copy_weights(const SelfAttentionV1&)",
              [](Arguments& a) {
                const bool fits = a.flag(), bias = a.flag();
                return DrawnCall([from = SelfAttentionV1(4, 2),
                                  to = SelfAttentionV2(fits ? 4 : 5, 2, bias)]() mutable {
                  to.copy_weights(from);
                  return to.parameters();
                });
              }),
      by_hand("attention::check_future_mask(const char*, const Tensor&)",
              [](Arguments& a) {
                const Tensor mask = a.tensor(future_mask(3));
                return DrawnCall([=]() -> Tensors {
                  check_future_mask("test", mask);
                  return {};
                });
              }),
  };
}

PublicFunction load_state() {
  return by_hand("nn::ModuleBase::load_state_dict(const StateDict&, Flag)", [](Arguments& a) {
    const auto state = drawn<nn::StateDict>(a);
    const bool strict = a.flag();
    return DrawnCall([=, module = nn::Linear(3, 2)]() mutable -> Tensors {
      module.load_state_dict(state, strict);
      return module.parameters();
    });
  });
}

}  // namespace

std::vector<PublicFunction> module_functions() {
  std::vector<PublicFunction> all = {
      writing(TEND_FUNCTION(nn::clip_grad_norm_, const std::vector<Tensor>&, double,
                            const ClipGradNormOptions&)),
      writing(TEND_FUNCTION(nn::clip_grad_value_, const std::vector<Tensor>&, double)),
      load_state()};
  for (const PublicFunction& each : module_methods()) all.push_back(each);
  return all;
}

}  // namespace tend::test
