#include "tests/hostile/drawn.h"

namespace tend::test {

using Tensors = std::vector<Tensor>;

std::string_view draw_equation(Arguments& arguments) {
  return arguments.choice<std::string_view>(
      {"ij,jk->ik",
       "ij,ij->",
       "i,i->i",
       "...i,...i->...",
       "ij->ji",
       "ii->i",
       "ii",
       "i,j",
       "->",
       "",
       "ij->ijk",
       "ij->ii",
       "i j",
       "a..b",
       "....",
       "...",
       "ij,jk->",
       "!",
       "i,j,k,l->ijkl",
       "A,a",
       ",",
       ",->",
       "i->,",
       "->->",
       "ij-",
       ">",
       "\xc3\xa9",
       "bij,bjk->bik",
       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"});
}

TensorFunction draw_as(TypeTag<TensorFunction>, Arguments& arguments) {
  const auto kind = arguments.draws().between(0, 8);
  arguments.say(as_text("function ", kind));
  const auto first = [](const Tensors& x) { return x.empty() ? Tensor() : x[0]; };
  switch (kind) {
    case 0: return [=](const Tensors& x) { return first(x) * first(x); };
    case 1: return [=](const Tensors& x) { return (first(x) * first(x)).sum(); };
    case 2: return [=](const Tensors& x) { return Tensors{first(x).exp(), first(x).sum()}; };
    case 3: return [](const Tensors&) { return Tensors(); };
    case 4: return [](const Tensors&) { return Tensor(); };
    case 5: return [](const Tensors&) { return ones({2}); };
    case 6: return [](const Tensor& x, const Tensor& y) { return x * y; };
    case 7: return [](const Tensors&) -> Tensor { fail("function", "the user's function fails"); };
    default: return [=](const Tensors& x) { return first(x); };
  }
}

TensorHook draw_as(TypeTag<TensorHook>, Arguments& arguments) {
  const auto kind = arguments.draws().between(0, 5);
  arguments.say(as_text("hook ", kind));
  switch (kind) {
    case 0: return [](const Tensor&) {};
    case 1: return [](const Tensor& grad) { return grad * 2; };
    case 2: return [](const Tensor&) { return Tensor(); };
    case 3: return [](const Tensor&) { return ones({5}); };
    case 4: return [](const Tensor& grad) { return grad.to(float64); };
    default: return [](const Tensor&) -> Tensor { fail("hook", "the user's hook fails"); };
  }
}

nn::StateDict draw_as(TypeTag<nn::StateDict>, Arguments& arguments) {
  nn::StateDict state;
  const std::int64_t count = arguments.draws().between(0, 4);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto name = arguments.choice<const char*>(
        {"weight", "bias", "0.weight", "0.step", "0.exp_avg", "0.exp_avg_sq", "", "mask", "\xff",
         "__metadata__", "1.step", "0.momentum_buffer"});
    state.emplace_back(name, arguments.tensor());
  }
  return state;
}

attention::AttentionOptions draw_as(TypeTag<attention::AttentionOptions>, Arguments& arguments) {
  attention::AttentionOptions options;
  if (arguments.draws().chance(0.3)) options.query_offset = arguments.integer();
  if (arguments.draws().chance(0.5)) options.attn_mask = arguments.tensor();
  options.is_causal = arguments.flag();
  if (arguments.draws().chance(0.3)) options.dropout_p = arguments.real();
  if (arguments.draws().chance(0.3)) options.scale = arguments.real();
  options.path = arguments.one_of(attention::AttentionPath::composed);
  return options;
}

attention::FlexOptions draw_as(TypeTag<attention::FlexOptions>, Arguments& arguments) {
  using namespace attention;
  FlexOptions options;
  const auto chance = [&](double p) { return arguments.draws().chance(p); };
  const Lookup table = lookup(ones({2, 3})), documents = lookup(tensor({0, 0, 1}));
  if (chance(0.3)) options.mask = masks::causal();
  if (chance(0.3)) options.mask = !options.mask && masks::dilated(2);
  if (chance(0.2)) {
    options.mask = [&](auto at) {
      return documents(at.query) == documents(at.key % (at.head + 1));
    };
  }
  if (chance(0.3)) options.score = scores::soft_cap(2);
  if (chance(0.2)) {
    options.score = options.score + [&](auto s, auto at) { return s * table(at.head, at.key); };
  }
  if (chance(0.2)) options.score = [](auto s, auto at) { return log(s) / (at.query % at.key); };
  if (chance(0.3)) options.dropout_p = arguments.real();
  if (chance(0.3)) options.scale = arguments.real();
  options.enable_gqa = arguments.flag();
  options.path = arguments.one_of(AttentionPath::composed);
  return options;
}

attention::GPTConfig draw_as(TypeTag<attention::GPTConfig>, Arguments& arguments) {
  attention::GPTConfig config{8, 4, 4, 2, 1, 0.0, false};
  const auto hostile = [&](std::int64_t& size) {
    if (arguments.draws().chance(0.3)) size = arguments.integer();
  };
  hostile(config.vocab_size);
  hostile(config.context_length);
  hostile(config.width);
  hostile(config.num_heads);
  hostile(config.num_layers);
  if (arguments.draws().chance(0.3)) config.dropout = arguments.real();
  config.qkv_bias = arguments.flag();
  config.gelu = arguments.one_of(GeluKind::tanh);
  const auto maybe = [&](std::optional<std::int64_t>& size, std::int64_t usual) {
    if (arguments.draws().chance(0.7)) return;
    size = arguments.draws().chance(0.7) ? usual : arguments.integer();
  };
  if (arguments.draws().chance(0.1)) config.attention_dropout = arguments.real();
  if (arguments.draws().chance(0.1)) config.embedding_dropout = arguments.real();
  maybe(config.num_kv_heads, 1);
  maybe(config.head_dim, 6);
  maybe(config.hidden_width, 5);
  maybe(config.window, 2);
  config.norm = arguments.one_of(attention::NormKind::rms);
  config.positions = arguments.one_of(attention::PositionKind::none);
  config.feed_forward = arguments.one_of(attention::FeedForwardKind::geglu);
  config.qk_norm = arguments.flag();
  config.tied_head = arguments.flag();
  return config;
}

}  // namespace tend::test
