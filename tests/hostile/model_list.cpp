// GPT, its parts, its files, its cache, generation and LoRA.
#include <memory>
#include <string>

#include "tests/hostile/typed_calls.h"

namespace tend::test {
namespace {

using namespace attention;

GPTConfig config_of_tokens() {
  return {.vocab_size = 8, .context_length = 6, .width = 4, .num_heads = 2, .num_layers = 1};
}

Tensor draw_input(Arguments& a, const Tensor& usual) {
  return a.draws().chance(0.8) ? a.tensor(usual) : a.tensor();
}

std::string draw_text(Arguments& a, const char* good) {
  std::string text = good;
  if (a.draws().chance(0.3)) return text;
  const auto place = static_cast<std::size_t>(a.draws().between(0, std::ssize(text) - 1));
  if (a.draws().chance(0.5)) return text.substr(0, place);
  text[place] = a.choice<char>({'"', '{', '}', '[', ']', ',', '-', '9', 'e', 'n', '\\', '\0'});
  return text;
}

// A configuration that was read gives a tensor of its sizes.
Tensors sizes_of(const GPTConfig& c) {
  return {tensor(std::vector<std::int64_t>{c.vocab_size, c.width, c.num_layers})};
}

nn::StateDict draw_state(Arguments& a, const std::vector<std::string>& names) {
  nn::StateDict state;
  for (const std::string& name : names) {
    if (a.draws().chance(0.9)) state.emplace_back(name, draw_input(a, ones({4, 12})));
  }
  return state;
}

template <class Model>
std::vector<PublicFunction> files_of(const std::string& name, const char* json,
                                     const std::vector<std::string>& theirs,
                                     const std::vector<std::string>& ours) {
  GPTConfig none = config_of_tokens();
  none.num_layers = 0;
  return {by_hand("attention::" + name + "::config(std::string_view, const std::filesystem::path&)",
                  [=](Arguments& a) {
                    const std::string text = draw_text(a, json);
                    return DrawnCall([=] { return sizes_of(Model::config(text)); });
                  }),
          by_hand("attention::" + name + "::import_state(const nn::StateDict&, const GPTConfig&)",
                  [=](Arguments& a) {
                    const nn::StateDict state = draw_state(a, theirs);
                    return DrawnCall([=] { return tensors_in(Model::import_state(state, none)); });
                  }),
          by_hand("attention::" + name + "::export_state(const nn::StateDict&, const GPTConfig&)",
                  [=](Arguments& a) {
                    const nn::StateDict state = draw_state(a, ours);
                    return DrawnCall([=] { return tensors_in(Model::export_state(state, none)); });
                  })};
}

std::vector<PublicFunction> pretrained_functions() {
  std::vector<PublicFunction> all = files_of<GPT2>(
      "GPT2",
      R"({"model_type": "gpt2", "vocab_size": 8, "n_positions": 6, "n_embd": 4, "n_head": 2,
          "n_layer": 1, "n_inner": null, "activation_function": "gelu_new", "layers": [1, {}]})",
      {"wte.weight", "wpe.weight", "ln_f.weight", "ln_f.bias"},
      {"token_embedding.weight", "position_embedding.weight", "norm.weight", "norm.bias"});
  for (auto& each :
       files_of<Llama>("Llama",
                       R"({"model_type": "llama", "vocab_size": 8, "max_position_embeddings": 6,
               "hidden_size": 4, "num_attention_heads": 2, "num_hidden_layers": 1,
               "intermediate_size": 5, "rope_scaling": {"type": "linear", "factor": 2.0}})",
                       {"model.embed_tokens.weight", "model.norm.weight", "lm_head.weight"},
                       {"token_embedding.weight", "norm.weight", "head.weight"})) {
    all.push_back(std::move(each));
  }
  all.push_back(
      by_hand("attention::load_pretrained(const std::filesystem::path&)", [](Arguments& a) {
        const std::string path = a.choice<const char*>({"", "/", "/dev/null"});
        return DrawnCall([=] { return load_pretrained(path).parameters(); });
      }));
  all.push_back(
      by_hand("attention::save_pretrained(const std::filesystem::path&, const GPT&, const "
              "nn::ShardOptions&)",
              [](Arguments& a) {
                const std::string path = a.choice<const char*>({"", "/dev/null", "/dev/null/a"});
                const auto model = std::make_shared<const GPT>(GPTConfig{.vocab_size = 4,
                                                                         .width = 4,
                                                                         .num_heads = 2,
                                                                         .num_layers = 1,
                                                                         .qkv_bias = true,
                                                                         .tied_head = a.flag()});
                const std::int64_t size = a.choice<std::int64_t>({-1, 0, 100});
                return DrawnCall([=]() -> Tensors {
                  save_pretrained(path, *model, {.max_shard_size = size});
                  return {};
                });
              }));
  all.push_back(
      by_hand("attention::pretrained_stop_tokens(const std::filesystem::path&)", [](Arguments& a) {
        const std::string path = a.choice<const char*>({"", "/", "/dev/null"});
        return DrawnCall([=]() -> Tensors { return {tensor(pretrained_stop_tokens(path))}; });
      }));
  return all;
}

std::vector<PublicFunction> parts() {
  const Tensor sequence = leaf_of_ones({2, 3, 4});
  return {
      by_hand("attention::Norm::Norm(NormKind, std::int64_t, double, Flag)",
              [](Arguments& a) {
                const auto kind = a.one_of(NormKind::rms);
                const std::int64_t size = a.integer();
                const bool bias = a.flag();
                return DrawnCall([=] { return Norm(kind, size, 1e-5, bias).parameters(); });
              }),
      by_hand("attention::Norm::forward(const Tensor&)",
              [=](Arguments& a) {
                const Tensor x = draw_input(a, sequence);
                const Norm norm(a.one_of(NormKind::rms), 4, a.real());
                return DrawnCall([=]() -> Tensors { return {norm(x)}; });
              }),
      by_hand("attention::PositionEmbedding::PositionEmbedding(PositionKind, std::int64_t, "
              "std::int64_t)",
              [](Arguments& a) {
                const auto kind = a.one_of(PositionKind::none);
                const std::int64_t length = a.integer(), width = a.integer();
                return DrawnCall(
                    [=] { return PositionEmbedding(kind, length, width).parameters(); });
              }),
      by_hand("attention::PositionEmbedding::forward(const Tensor&)",
              [](Arguments& a) {
                const Tensor x = draw_input(a, zeros({2, 3}, int64));
                const PositionEmbedding positions(a.one_of(PositionKind::none), 5, 4);
                return DrawnCall([=]() -> Tensors { return {positions(x)}; });
              }),
      by_hand("attention::PositionEmbedding::range(std::int64_t, std::int64_t)",
              [](Arguments& a) {
                const std::int64_t first = a.integer(), count = a.integer();
                const PositionEmbedding positions(a.one_of(PositionKind::none), 5, 4);
                return DrawnCall([=]() -> Tensors { return {positions.range(first, count)}; });
              }),
      TEND_FUNCTION(attention::sinusoidal_positions, const Tensor&, std::int64_t, DType),
      by_hand("attention::FeedForward::FeedForward(const GPTConfig&)",
              [](Arguments& a) {
                const auto config = drawn<GPTConfig>(a);
                return DrawnCall([=] { return FeedForward(config).parameters(); });
              }),
      by_hand("attention::GroupedQueryAttention::GroupedQueryAttention(const GPTConfig&)",
              [](Arguments& a) {
                const auto config = drawn<GPTConfig>(a);
                return DrawnCall([=] { return GroupedQueryAttention(config).parameters(); });
              }),
      by_hand("attention::GroupedQueryAttention::forward(const Tensor&)",
              [=](Arguments& a) {
                const Tensor x = draw_input(a, sequence);
                const GroupedQueryAttention layer(config_of_tokens());
                return DrawnCall([=]() -> Tensors { return {layer(x)}; });
              }),
      by_hand("attention::GroupedQueryAttention::with_weights(const Tensor&)",
              [=](Arguments& a) {
                const Tensor x = draw_input(a, sequence);
                const GroupedQueryAttention layer(config_of_tokens());
                return DrawnCall([=]() -> Tensors {
                  const AttentionOutput out = layer.with_weights(x);
                  return {out.context, out.weights};
                });
              }),
  };
}

std::vector<PublicFunction> calls_of_gpt() {
  return {
      by_hand("attention::GPT::forward(const Tensor&, const GPTInputs&)",
              [](Arguments& a) {
                const Tensor tokens = draw_input(a, zeros({2, 3}, int64));
                GPTInputs inputs{.last_only = a.flag()};
                if (a.flag()) inputs.padding = draw_input(a, zeros({2}, int64));
                GPTConfig config = config_of_tokens();
                config.positions = a.one_of(PositionKind::none);
                if (a.flag()) config.window = 2;
                const GPT model(config);
                return DrawnCall([=]() -> Tensors { return {model(tokens, inputs)}; });
              }),
      by_hand("attention::KVCache::KVCache(const KVCacheOptions&)",
              [](Arguments& a) {
                KVCacheOptions options;
                if (a.flag()) options.capacity = a.integer();
                if (a.flag()) options.window = a.integer();
                const GPT model(config_of_tokens());
                return DrawnCall([=]() -> Tensors {
                  const NoGradGuard no_graph;
                  // The whole length of the cache must not be taken at once.
                  if (options.capacity.value_or(0) > 1000) return {};
                  KVCache cache(options);
                  return {model(zeros({2, 3}, int64), {.cache = &cache})};
                });
              }),
      by_hand("attention::KVCache::reorder(const Tensor&)",
              [](Arguments& a) {
                const Tensor rows = draw_input(a, zeros({3}, int64));
                const GPT model(config_of_tokens());
                return DrawnCall([=]() -> Tensors {
                  const NoGradGuard no_graph;
                  KVCache cache;
                  model(zeros({2, 3}, int64), {.cache = &cache});
                  cache.reorder(rows);
                  return {model(zeros({rows.size(0), 1}, int64), {.cache = &cache})};
                });
              }),
      by_hand("attention::KVCache::extend(std::size_t, const Tensor&, const Tensor&)",
              [](Arguments& a) {
                const Tensor key = draw_input(a, ones({2, 2, 3, 4})),
                             value = draw_input(a, ones({2, 2, 3, 4}));
                const auto layer = static_cast<std::size_t>(a.integer());
                return DrawnCall([=]() -> Tensors {
                  KVCache cache;
                  cache.reserve(3);
                  const auto all = cache.extend(layer, key, value);
                  return {all.key, all.value};
                });
              }),
      by_hand("attention::generate(const GPT&, const Tensor&, const GenerateOptions&)",
              [](Arguments& a) {
                const Tensor prompts = a.tensor();
                const GPT model(config_of_tokens());
                return DrawnCall(
                    [=] { return Tensors{generate(model, prompts, {.max_new_tokens = 1})}; });
              }),
      by_hand("attention::generate(const GPT&, const std::vector<TokenSequence>&, const "
              "GenerateOptions&)",
              [](Arguments& a) {
                const auto number = [&](std::int64_t usual) {
                  return a.draws().chance(0.9) ? usual : a.integer();
                };
                GenerateOptions options{.max_new_tokens = number(2),
                                        .temperature = a.flag() ? 0.0 : a.real(),
                                        .repetition_penalty = a.flag() ? 1.0 : a.real(),
                                        .stop_tokens = {a.integer()},
                                        .length_penalty = a.real(),
                                        .use_cache = a.flag()};
                // So many samples as a hostile number says take the memory that they take.
                options.num_samples = std::min<std::int64_t>(number(1), 9);
                options.num_beams = std::min<std::int64_t>(number(1), 9);
                if (a.flag()) options.top_k = number(3);
                if (a.flag()) options.top_p = a.real();
                if (a.flag()) options.min_p = a.real();
                const std::vector<TokenSequence> prompts{{number(1), 2}, {number(3)}};
                const GPT model(config_of_tokens());
                return DrawnCall([=] {
                  Tensors tensors;
                  for (const auto& each : generate(model, prompts, options)) {
                    tensors.push_back(tensor(each));
                  }
                  return tensors;
                });
              }),
  };
}

std::vector<PublicFunction> lora_functions() {
  return {
      by_hand("nn::add_lora(ModuleBase&, const std::vector<std::string>&, const LoRAOptions&)",
              [](Arguments& a) {
                const nn::LoRAOptions options{
                    .rank = a.draws().chance(0.8) ? 2 : std::min<std::int64_t>(a.integer(), 64),
                    .alpha = a.real(),
                    .dropout = a.flag() ? 0.0 : a.real()};
                const std::string pattern = a.choice<const char*>({"up", "*", "", "[", "\\"});
                return DrawnCall([=, made = FeedForward(4)] {
                  FeedForward module = made.clone();
                  nn::add_lora(module, {pattern}, options);
                  return module.parameters();
                });
              }),
      by_hand("nn::load_lora_state(ModuleBase&, const StateDict&)",
              [](Arguments& a) {
                nn::StateDict state;
                state.emplace_back(
                    a.choice<const char*>({"lora_A", "base_model.model.lora_A.weight"}),
                    draw_input(a, ones({2, 4})));
                state.emplace_back(a.flag() ? "lora_B" : "weight", draw_input(a, ones({3, 2})));
                nn::Linear made(4, 3);
                nn::add_lora(made, {"*"}, {.rank = 2});
                return DrawnCall([=] {
                  nn::Linear layer = made.clone();
                  nn::load_lora_state(layer, state);
                  return layer.parameters();
                });
              }),
  };
}

}  // namespace

std::vector<PublicFunction> model_functions() {
  std::vector<PublicFunction> all;
  for (const auto& family : {pretrained_functions, parts, calls_of_gpt, lora_functions}) {
    for (PublicFunction& each : family()) all.push_back(std::move(each));
  }
  return all;
}

}  // namespace tend::test
