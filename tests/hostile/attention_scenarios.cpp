// Calls without memory: attention, generation, adapters, loaders, schedules and audits.
#include <memory>

#include "tests/hostile/refusals.h"

namespace tend::test {
namespace {

attention::GPTConfig small_config(attention::PositionKind positions) {
  return {.vocab_size = 7,
          .context_length = 12,
          .width = 4,
          .num_heads = 2,
          .num_layers = 2,
          .positions = positions};
}

std::shared_ptr<attention::GPT> small_gpt(
    attention::PositionKind positions = attention::PositionKind::rotary) {
  manual_seed(1);
  auto model = std::make_shared<attention::GPT>(small_config(positions));
  model->eval();
  return model;
}

// run(query, key, value, results), which require grad.
template <class F>
Scenario on_heads(const std::string& name, F run) {
  return {name, [run] {
            manual_seed(1);
            Prepared prepared;
            for (int i = 0; i < 3; ++i)
              prepared.watched.push_back(randn({2, 5, 3}).requires_grad_());
            prepared.grads_may_change = true;
            prepared.run = [run, x = prepared.watched](Tensors& results) {
              run(x[0], x[1], x[2], results);
            };
            return prepared;
          }};
}

std::vector<Scenario> heads() {
  using namespace attention;
  const auto flex = [](const Tensor& q, const Tensor& k, const Tensor& v, Tensors& results) {
    results.push_back(flex_attention(
        q, k, v,
        {.score = [](Expr s, Position at) { return tanh(s) - 0.5 * (at.query - at.key); },
         .mask = [](Position at) { return at.key <= at.query; },
         .dropout_p = 0.25}));
  };
  const auto plain = [](const Tensor& q, const Tensor& k, const Tensor& v, Tensors& results) {
    results.push_back(
        scaled_dot_product_attention(q, k, v, {.dropout_p = 0.25, .is_causal = true}));
  };
  std::vector<Scenario> all;
  const auto add = [&](const std::string& name, auto forward) {
    all.push_back(on_heads(name, forward));
    all.push_back(on_heads("backward of " + name, [forward](const Tensor& q, const Tensor& k,
                                                            const Tensor& v, Tensors& results) {
      forward(q, k, v, results);
      results.back().sum().backward();
    }));
  };
  add("flex_attention", flex);
  add("scaled_dot_product_attention", plain);
  return all;
}

std::vector<Scenario> generation() {
  const auto with_cache = [] {
    const auto model = small_gpt();
    const auto cache = std::make_shared<attention::KVCache>();
    const NoGradGuard no_graph;
    (*model)(tensor({{1, 2, 3}}), {.cache = cache.get()});
    Prepared prepared;
    prepared.state = [cache] { return as_text(cache->length(), ' ', cache->layers()); };
    prepared.run = [=, next = tensor({{4, 5}})](Tensors& results) {
      const NoGradGuard also_here;
      cache->truncate(3);  // where an earlier call has succeeded
      results.push_back((*model)(next, {.cache = cache.get()}));
    };
    return prepared;
  };
  const auto generating = [](const attention::GenerateOptions& options) {
    return [options] {
      Prepared prepared;
      prepared.run = [options, model = small_gpt(),
                      prompts = tensor({{1, 2}, {3, 4}})](Tensors& results) {
        results.push_back(attention::generate(*model, prompts, options));
      };
      return prepared;
    };
  };
  return {{"a call with a KVCache", with_cache},
          {"generate", generating({.max_new_tokens = 3})},
          {"generate, drawn",
           generating({.max_new_tokens = 3, .temperature = 1.0, .top_k = 5, .num_samples = 2})},
          {"generate with beams", generating({.max_new_tokens = 3, .num_beams = 2})}};
}

std::vector<Scenario> training() {
  const auto adapters = [] {
    Prepared prepared;
    prepared.run = [model = small_gpt(), tokens = tensor({{1, 2, 3}})](Tensors& results) {
      attention::GPT copy = model->clone();
      nn::add_lora(copy, {"*query*"}, {.rank = 2});
      results.push_back(copy(tokens));
      nn::merge_lora(copy);
      results.push_back(copy(tokens));
    };
    return prepared;
  };
  const auto loader = [] {
    Prepared prepared;
    prepared.run = [](Tensors& results) {
      Generator generator(3);
      data::DataLoader batches(data::TensorDataset(arange(10), arange(10) * 2),
                               {.batch_size = 4, .shuffle = true, .generator = &generator});
      for (auto& [x, y] : batches) {
        results.push_back(x);
        results.push_back(y);
      }
    };
    return prepared;
  };
  const auto audit = [] {
    Prepared prepared;
    manual_seed(1);
    prepared.run = [model = std::make_shared<nn::Linear>(2, 1)](Tensors& results) {
      const auto report = nn::audit(*model, [](const nn::Linear& each) {
        return each(ones({1, 2}, each.weight.dtype())).square().mean();
      });
      results.push_back(tensor(report.passed()));
    };
    return prepared;
  };
  const auto schedule = [] {
    const auto optimizer = std::make_shared<optim::SGD>(
        Tensors{ones({2}).requires_grad_()}, optim::SGDOptions{.lr = 1, .momentum = 0.9});
    Prepared prepared;
    prepared.state = [optimizer] {
      return as_text(optimizer->lr(0), ' ', *optimizer->momentum(0), ' ',
                     optimizer->initial_lr(0).has_value());
    };
    prepared.run = [optimizer](Tensors&) {
      optim::OneCycleLR(*optimizer, {.max_lr = {0.4}, .total_steps = 9});
    };
    return prepared;
  };
  return {
      {"adapters", adapters}, {"DataLoader", loader}, {"audit", audit}, {"OneCycleLR", schedule}};
}

}  // namespace

std::vector<Scenario> attention_scenarios() {
  std::vector<Scenario> all = heads();
  for (const auto& family : {generation(), training()})
    for (const Scenario& each : family) all.push_back(each);
  return all;
}

}  // namespace tend::test
