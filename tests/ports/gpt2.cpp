// Ports the loading of GPT-2. A state with GPT-2's names is written as safetensors. Its linear maps
// have the shape (in, out), and one matrix computes query, key and value. The state is loaded into
// attention::GPT, and into a model with GPT-2's names.
// Checks that the logits of both models agree with a direct computation from the weights, and that
// the direct computation agrees with PyTorch's (gpt2.py). Also checks that a state which does not
// fit is refused and changes nothing.

#include "check.h"

using namespace tend;

namespace {

constexpr int64_t V = 50, T = 16, C = 24, H = 4, L = 2;

nn::StateDict random_gpt2() {
  nn::StateDict state;
  state["wte.weight"] = 0.2 * randn({V, C});
  state["wpe.weight"] = 0.1 * randn({T, C});
  const auto norm = [&](const std::string& name) {
    state[name + ".weight"] = 1 + 0.1 * randn(C);
    state[name + ".bias"] = 0.1 * randn(C);
  };
  const auto conv1d = [&](const std::string& name, int64_t inputs, int64_t outputs) {
    state[name + ".weight"] = 0.2 * randn({inputs, outputs});
    state[name + ".bias"] = 0.1 * randn(outputs);
  };
  for (int64_t i = 0; i < L; ++i) {
    const std::string h = "h." + std::to_string(i);
    norm(h + ".ln_1");
    conv1d(h + ".attn.c_attn", C, 3 * C);
    conv1d(h + ".attn.c_proj", C, C);
    norm(h + ".ln_2");
    conv1d(h + ".mlp.c_fc", C, 4 * C);
    conv1d(h + ".mlp.c_proj", 4 * C, C);
  }
  norm("ln_f");
  return state;
}

Tensor split_heads(const Tensor& x) {
  return x.view({x.size(0), x.size(1), H, C / H}).transpose(1, 2);
}

/// The logits, computed directly from the weights.
Tensor compute(const nn::StateDict& state, const Tensor& tokens) {
  const auto norm = [&](const Tensor& x, const std::string& name) {
    return layer_norm(x, {C}, state.at(name + ".weight"), state.at(name + ".bias"));
  };
  const auto conv1d = [&](const Tensor& x, const std::string& name) {
    return matmul(x, state.at(name + ".weight")) + state.at(name + ".bias");
  };
  const auto [b, t] = tokens.sizes<2>();
  Tensor x = state.at("wte.weight")[tokens] + state.at("wpe.weight")[Slice(None, t)];
  for (int64_t i = 0; i < L; ++i) {
    const std::string h = "h." + std::to_string(i);
    const auto qkv = conv1d(norm(x, h + ".ln_1"), h + ".attn.c_attn").split(C, -1);
    const Tensor q = split_heads(qkv[0]), k = split_heads(qkv[1]), v = split_heads(qkv[2]);
    const Tensor scores = matmul(q, k.transpose(-1, -2)) / std::sqrt(C / H);
    const Tensor hidden = ones({t, t}).triu(1).to(boolean);
    const Tensor weights = scores.masked_fill(hidden, -INFINITY).softmax(-1);
    const Tensor out = matmul(weights, v).transpose(1, 2).reshape({b, t, C});
    x = x + conv1d(out, h + ".attn.c_proj");
    const Tensor inner = gelu(conv1d(norm(x, h + ".ln_2"), h + ".mlp.c_fc"), GeluKind::tanh);
    x = x + conv1d(inner, h + ".mlp.c_proj");
  }
  return matmul(norm(x, "ln_f"), state.at("wte.weight").t());
}

/// GPT-2's state, converted to the names and the layout of attention::GPT.
nn::StateDict converted(const nn::StateDict& gpt2) {
  nn::StateDict state;
  const auto copy_norm = [&](const std::string& from, const std::string& to) {
    for (const char* part : {".weight", ".bias"}) state[to + part] = gpt2.at(from + part);
  };
  const auto copy_conv1d = [&](const std::string& from, const std::string& to) {
    state[to + ".weight"] = gpt2.at(from + ".weight").t();
    state[to + ".bias"] = gpt2.at(from + ".bias");
  };
  state["token_embedding.weight"] = gpt2.at("wte.weight");
  state["position_embedding.weight"] = gpt2.at("wpe.weight");
  for (int64_t i = 0; i < L; ++i) {
    const std::string h = "h." + std::to_string(i) + '.';
    const std::string block = "blocks." + std::to_string(i) + '.';
    copy_norm(h + "ln_1", block + "norm1");
    const auto weights = gpt2.at(h + "attn.c_attn.weight").chunk(3, 1);
    const auto biases = gpt2.at(h + "attn.c_attn.bias").chunk(3);
    std::size_t part = 0;
    for (const char* name : {"W_query", "W_key", "W_value"}) {
      state[block + "attention." + name + ".weight"] = weights[part].t();
      state[block + "attention." + name + ".bias"] = biases[part++];
    }
    copy_conv1d(h + "attn.c_proj", block + "attention.out_proj");
    copy_norm(h + "ln_2", block + "norm2");
    copy_conv1d(h + "mlp.c_fc", block + "feed_forward.up");
    copy_conv1d(h + "mlp.c_proj", block + "feed_forward.down");
  }
  copy_norm("ln_f", "norm");
  state["head.weight"] = gpt2.at("wte.weight");
  return state;
}

class Conv1D : public nn::Module<Conv1D> {
 public:
  Conv1D(int64_t inputs, int64_t outputs) : weight(empty({inputs, outputs})), bias(zeros(outputs)) {
    nn::init::normal_(weight, 0, 0.02);
  }

  Tensor forward(const Tensor& x) const {
    const Tensor rows = x.view({-1, x.size(-1)});
    Shape shape = x.shape();
    shape[shape.rank() - 1] = weight.size(1);
    return addmm(bias, rows, weight).view(shape);
  }

  TEND_PARAMETER(weight);
  TEND_PARAMETER(bias);
};

class Attention : public nn::Module<Attention> {
 public:
  Attention() : c_attn(C, 3 * C), c_proj(C, C) {}

  Tensor forward(const Tensor& x) const {
    const auto qkv = c_attn(x).split(C, 2);
    const Tensor out = scaled_dot_product_attention(split_heads(qkv[0]), split_heads(qkv[1]),
                                                    split_heads(qkv[2]), {.is_causal = true});
    return c_proj(out.transpose(1, 2).contiguous().view(x.shape()));
  }

  TEND_MODULE(Conv1D, c_attn);
  TEND_MODULE(Conv1D, c_proj);
};

class MLP : public nn::Module<MLP> {
 public:
  MLP() : c_fc(C, 4 * C), act(GeluKind::tanh), c_proj(4 * C, C) {}

  Tensor forward(const Tensor& x) const { return c_proj(act(c_fc(x))); }

  TEND_MODULE(Conv1D, c_fc);
  TEND_MODULE(nn::GELU, act);
  TEND_MODULE(Conv1D, c_proj);
};

class Block : public nn::Module<Block> {
 public:
  Block() : ln_1(C), ln_2(C, 1e-5) {}

  Tensor forward(Tensor x) const {
    x = x + attn(ln_1(x));
    return x + mlp(ln_2(x));
  }

  TEND_MODULE(nn::LayerNorm, ln_1);
  TEND_MODULE(Attention, attn);
  TEND_MODULE(nn::LayerNorm, ln_2);
  TEND_MODULE(MLP, mlp);
};

class GPT2 : public nn::Module<GPT2> {
 public:
  GPT2() : wte(V, C), wpe(T, C), ln_f(C) {
    for (int64_t i = 0; i < L; ++i) h.emplace_back();
  }

  Tensor forward(const Tensor& tokens) const {
    Tensor x = wte(tokens) + wpe(arange(tokens.size(1)));
    for (const Block& block : h) x = block(x);
    return linear(ln_f(x), wte.weight);
  }

  TEND_MODULE(nn::Embedding, wte);
  TEND_MODULE(nn::Embedding, wpe);
  TEND_MODULE(nn::ModuleList<Block>, h);
  TEND_MODULE(nn::LayerNorm, ln_f);
};

void check_refusal(const nn::StateDict& gpt2) {
  attention::GPT model({.vocab_size = V, .context_length = T, .width = C, .qkv_bias = true});
  const Tensor before = model.blocks[0].norm1.weight.clone();
  nn::StateDict state = converted(gpt2);
  state["blocks.0.feed_forward.up.weight"] = gpt2.at("h.0.mlp.c_fc.weight");  // not transposed
  try {
    model.load_state_dict(state);
    check::that(false, "a weight in the wrong layout is loaded");
  } catch (const Error& error) {
    std::cout << error.what() << '\n';
    check::that(
        std::string(error.what()).find("blocks.0.feed_forward.up.weight") != std::string::npos,
        "the error names the weight");
  }
  check::that(model.blocks[0].norm1.weight.equal(before), "the model is as it was");
}

}  // namespace

int main() {
  manual_seed(2019);
  const nn::StateDict written = random_gpt2();
  const Tensor tokens = randint(0, V, {2, 10});
  nn::save_safetensors("gpt2.safetensors", written, {{"format", "pt"}});
  const nn::StateDict gpt2 = nn::load_safetensors("gpt2.safetensors").tensors;
  check::that(gpt2.size() == written.size(), "the file has all tensors");
  for (const auto& [name, value] : gpt2) check::that(value.equal(written.at(name)), name);

  const Tensor logits = compute(gpt2, tokens);
  // The tolerance is for float32, two layers with sums of up to 96 products, and logits around 1.
  check::near("direct logits", logits[{1, 9, Slice(None, 5)}],
              tensor({1.47299373, -2.08534241, 2.60186005, 2.0188005, 0.63667375}), 1e-5);
  check::near("sum", logits.abs().sum().item(), 876.0446166992188, 1e-5);
  check::that(logits[0].argmax(-1).to_vector<int64_t>() ==
                  std::vector<int64_t>{0, 45, 9, 29, 19, 45, 45, 2, 19, 2},
              "the most probable tokens");

  attention::GPT model({.vocab_size = V,
                        .context_length = T,
                        .width = C,
                        .num_heads = H,
                        .num_layers = L,
                        .qkv_bias = true});
  for (auto& block : model.blocks) block.feed_forward.activation = nn::GELU(GeluKind::tanh);
  model.load_state_dict(converted(gpt2));
  model.head.weight = model.token_embedding.weight;
  model.eval();
  check::near("attention::GPT", model(tokens), logits, 1e-5);

  GPT2 own;
  own.load_state_dict(gpt2);
  check::near("a model with GPT-2's names", own(tokens), logits, 1e-5);
  check::that(own.num_parameters() == model.num_parameters(), "the number of parameters");

  check_refusal(gpt2);
  return check::result();
}
