// Ports the training script of a small character GPT: batches from a text, custom modules, tied
// weights, AdamW with weight decay only for matrices, gradient accumulation, clipping, warmup and
// cosine decay of the learning rate, sampling with temperature and top-k, and a checkpoint.
// Compares losses, gradient norms and the sampled text with PyTorch's from the same seed, with
// dropout (nanogpt.py). Also checks that training continues from the checkpoint as if it had never
// stopped.
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <optional>
#include <set>

#include "check.h"

using namespace tend;

namespace {

struct GPTConfig {
  int64_t block_size = 16;
  int64_t vocab_size = 0;
  int64_t n_layer = 2;
  int64_t n_head = 4;
  int64_t n_embd = 32;
  double dropout = 0.1;
  bool bias = true;
};

class LayerNorm : public nn::Module<LayerNorm> {
 public:
  LayerNorm(int64_t ndim, bool with_bias) : weight(ones(ndim)) {
    if (with_bias) bias = nn::Parameter(zeros(ndim));
  }

  Tensor forward(const Tensor& x) const {
    return layer_norm(x, weight.shape(), weight, bias, 1e-5);
  }

  TEND_PARAMETER(weight);
  TEND_PARAMETER(bias);
};

class CausalSelfAttention : public nn::Module<CausalSelfAttention> {
 public:
  explicit CausalSelfAttention(const GPTConfig& config)
      : n_head(config.n_head),
        n_embd(config.n_embd),
        dropout(config.dropout),
        c_attn(config.n_embd, 3 * config.n_embd, config.bias),
        c_proj(config.n_embd, config.n_embd, config.bias),
        resid_dropout(config.dropout) {
    if (n_embd % n_head != 0) throw std::invalid_argument("n_head must divide n_embd");
  }

  Tensor forward(const Tensor& x) const {
    const auto [B, T, C] = x.sizes<3>();
    const auto qkv = c_attn(x).split(n_embd, 2);
    const Tensor q = qkv[0].view({B, T, n_head, C / n_head}).transpose(1, 2);
    const Tensor k = qkv[1].view({B, T, n_head, C / n_head}).transpose(1, 2);
    const Tensor v = qkv[2].view({B, T, n_head, C / n_head}).transpose(1, 2);
    Tensor y = scaled_dot_product_attention(
        q, k, v, {.dropout_p = is_training() ? dropout : 0, .is_causal = true});
    y = y.transpose(1, 2).contiguous().view({B, T, C});
    return resid_dropout(c_proj(y));
  }

  int64_t n_head;
  int64_t n_embd;
  double dropout;
  TEND_MODULE(nn::Linear, c_attn);
  TEND_MODULE(nn::Linear, c_proj);
  TEND_MODULE(nn::Dropout, resid_dropout);
};

class MLP : public nn::Module<MLP> {
 public:
  explicit MLP(const GPTConfig& config)
      : c_fc(config.n_embd, 4 * config.n_embd, config.bias),
        c_proj(4 * config.n_embd, config.n_embd, config.bias),
        dropout(config.dropout) {}

  Tensor forward(const Tensor& x) const { return dropout(c_proj(gelu(c_fc(x)))); }

  TEND_MODULE(nn::Linear, c_fc);
  TEND_MODULE(nn::GELU, gelu);
  TEND_MODULE(nn::Linear, c_proj);
  TEND_MODULE(nn::Dropout, dropout);
};

class Block : public nn::Module<Block> {
 public:
  explicit Block(const GPTConfig& config)
      : ln_1(config.n_embd, true), attn(config), ln_2(config.n_embd, false), mlp(config) {}

  Tensor forward(Tensor x) const {
    x = x + attn(ln_1(x));
    return x + mlp(ln_2(x));
  }

  TEND_MODULE(LayerNorm, ln_1);
  TEND_MODULE(CausalSelfAttention, attn);
  TEND_MODULE(LayerNorm, ln_2);
  TEND_MODULE(MLP, mlp);
};

struct Output {
  Tensor logits, loss;
};

class GPT : public nn::Module<GPT> {
 public:
  explicit GPT(const GPTConfig& c)
      : config(c),
        wte(c.vocab_size, c.n_embd),
        wpe(c.block_size, c.n_embd),
        drop(c.dropout),
        ln_f(c.n_embd, true),
        lm_head(c.n_embd, c.vocab_size, false) {
    for (int64_t i = 0; i < c.n_layer; ++i) h.emplace_back(c);
    wte.weight = lm_head.weight;
    apply(init_weights);
    for (auto& [name, p] : named_parameters()) {
      if (name.ends_with("c_proj.weight"))
        nn::init::normal_(p, 0.0, 0.02 / std::sqrt(2 * c.n_layer));
    }
  }

  Output forward(const Tensor& idx, const Tensor& targets = {}) const {
    const auto [b, t] = idx.sizes<2>();
    Tensor x = drop(wte(idx) + wpe(arange(t)));
    for (const auto& block : h) x = block(x);
    x = ln_f(x);
    if (!targets.defined()) return {lm_head(x[{Slice(), Slice(-1), Slice()}]), {}};
    const Tensor logits = lm_head(x);
    return {logits, cross_entropy(logits.view({-1, logits.size(-1)}), targets.view(-1))};
  }

  Tensor generate(Tensor idx, int max_new_tokens, double temperature = 1.0,
                  std::optional<int64_t> top_k = {}) const {
    const NoGradGuard no_grad;
    for (int i = 0; i < max_new_tokens; ++i) {
      Tensor logits = (*this)(idx[{Slice(), Slice(-config.block_size)}]).logits;
      logits = logits[{Slice(), -1, Slice()}] / temperature;
      if (top_k) {
        const auto [v, _] = topk(logits, std::min(*top_k, logits.size(-1)));
        logits[{logits < v[{Slice(), Slice(-1)}]}] = -std::numeric_limits<double>::infinity();
      }
      const Tensor probs = softmax(logits, -1);
      idx = cat({idx, multinomial(probs, 1)}, 1);
    }
    return idx;
  }

  GPTConfig config;
  TEND_MODULE(nn::Embedding, wte);
  TEND_MODULE(nn::Embedding, wpe);
  TEND_MODULE(nn::Dropout, drop);
  TEND_MODULE(nn::ModuleList<Block>, h);
  TEND_MODULE(LayerNorm, ln_f);
  TEND_MODULE(nn::Linear, lm_head);

 private:
  static void init_weights(nn::ModuleBase& module) {
    if (auto* linear = dynamic_cast<nn::Linear*>(&module)) {
      nn::init::normal_(linear->weight, 0.0, 0.02);
      if (linear->bias.defined()) nn::init::zeros_(linear->bias);
    } else if (auto* embedding = dynamic_cast<nn::Embedding*>(&module)) {
      nn::init::normal_(embedding->weight, 0.0, 0.02);
    }
  }
};

/// A text as tokens, split into a training and a validation part, with batches from each.
class Corpus {
 public:
  explicit Corpus(const std::string& text) : chars(text.begin(), text.end()) {
    for (char c : chars) {
      stoi[c] = static_cast<int64_t>(itos.size());
      itos.push_back(c);
    }
    const Tensor data = tensor(encode(text));
    const int64_t n = data.size(0) * 9 / 10;
    train = data[Slice(None, n)];
    val = data[Slice(n)];
  }

  std::vector<int64_t> encode(const std::string& text) const {
    std::vector<int64_t> ids;
    for (char c : text) ids.push_back(stoi.at(c));
    return ids;
  }
  std::string decode(const Tensor& ids) const {
    std::string text;
    for (const Tensor& id : ids) text += itos[id.item<std::size_t>()];
    return text;
  }
  std::pair<Tensor, Tensor> get_batch(const std::string& split, int64_t block_size) const {
    const Tensor& source = split == "train" ? train : val;
    const Tensor ix = randint(0, source.size(0) - block_size, {8});
    std::vector<Tensor> x, y;
    for (int64_t i : ix.to_vector<int64_t>()) {
      x.push_back(source[Slice(i, i + block_size)]);
      y.push_back(source[Slice(i + 1, i + 1 + block_size)]);
    }
    return {stack(x), stack(y)};
  }

  std::set<char> chars;
  std::map<char, int64_t> stoi;
  std::string itos;
  Tensor train, val;
};

double estimate_loss(GPT& model, const Corpus& corpus, const std::string& split) {
  const NoGradGuard no_grad;
  Tensor losses = zeros(5);
  for (int k = 0; k < 5; ++k) {
    const auto [x, y] = corpus.get_batch(split, model.config.block_size);
    losses[k] = model(x, y).loss.item();
  }
  return losses.mean().item();
}

double get_lr(int it) {
  const double lr = 1e-2, least = 1e-3;
  const int warmup = 10, total = 120;
  if (it < warmup) return lr * (it + 1) / (warmup + 1);
  const double ratio = static_cast<double>(it - warmup) / (total - warmup);
  return least + 0.5 * (1.0 + std::cos(std::numbers::pi * ratio)) * (lr - least);
}

optim::AdamW configure_optimizer(const GPT& model) {
  std::vector<Tensor> decay, no_decay;
  for (const Tensor& p : model.parameters()) (p.dim() >= 2 ? decay : no_decay).push_back(p);
  optim::AdamWOptions options = {.lr = 1e-2, .betas = {0.9, 0.95}, .weight_decay = 0.1};
  optim::AdamW optimizer(decay, options);
  options.weight_decay = 0;
  optimizer.add_group(no_decay, options);
  return optimizer;
}

/// Both libraries compute in float32. With AVX-512, AVX2 and SSE4 the results differ by up to 5e-6.
constexpr double kTolerance = 1e-4;

struct Step {
  double loss, norm;
};

Step train_step(GPT& model, optim::AdamW& optimizer, const Corpus& corpus, int it) {
  optimizer.set_lr(get_lr(it));
  Tensor loss;
  for (int micro_step = 0; micro_step < 2; ++micro_step) {
    const auto [x, y] = corpus.get_batch("train", model.config.block_size);
    loss = model(x, y).loss / 2;
    loss.backward();
  }
  const double norm = nn::clip_grad_norm_(model.parameters(), 1.0);
  optimizer.step();
  optimizer.zero_grad();
  return {loss.item() * 2, norm};
}

/// Saves the model and the optimizer to one file, as entries "model.NAME" and "optimizer.NAME".
void save_checkpoint(const std::string& path, const GPT& model, optim::AdamW& optimizer, int it) {
  nn::StateDict checkpoint;
  for (const auto& [name, value] : model.state_dict()) checkpoint["model." + name] = value;
  for (const auto& [name, value] : optimizer.state_dict()) checkpoint["optimizer." + name] = value;
  checkpoint["it"] = tensor(it);
  nn::save_safetensors(path, checkpoint, {{"format", "pt"}});
}

int load_checkpoint(const std::string& path, GPT& model, optim::AdamW& optimizer) {
  const auto checkpoint = nn::load_safetensors(path).tensors;
  nn::StateDict model_state, optimizer_state;
  for (const auto& [name, value] : checkpoint) {
    if (name.starts_with("model.")) model_state[name.substr(6)] = value;
    if (name.starts_with("optimizer.")) optimizer_state[name.substr(10)] = value;
  }
  model.load_state_dict(model_state);
  optimizer.load_state_dict(optimizer_state);
  return checkpoint.at("it").item<int>();
}

}  // namespace

int main() {
  std::string text;
  for (int i = 0; i < 12; ++i)
    text += "the cat sat on the mat. the dog ate the bone. a bird sang in the tree. ";
  const Corpus corpus(text);

  manual_seed(1337);
  GPT model({.vocab_size = static_cast<int64_t>(corpus.itos.size())});
  check::that(model.num_parameters() == 26432, "the number of parameters, the tied ones once");
  optim::AdamW optimizer = configure_optimizer(model);

  const std::map<int, Step> expected = {{0, {2.775413751602173, 2.2148640155792236}},
                                        {1, {2.7267723083496094, 1.7160106897354126}},
                                        {2, {2.6376583576202393, 1.173058032989502}},
                                        {10, {1.9610203504562378, 1.5291321277618408}},
                                        {30, {1.1758968830108643, 0.8038511872291565}},
                                        {119, {0.49451541900634766, 0.8058740496635437}}};
  const std::map<int, std::pair<double, double>> estimates = {
      {0, {2.7836153507232666, 2.791663885116577}},
      {60, {0.6491945385932922, 0.628818690776825}},
      {120, {0.36060312390327454, 0.37559273838996887}}};

  std::optional<GPT> resumed;
  std::optional<optim::AdamW> resumed_optimizer;
  std::optional<Generator> resumed_rng;
  for (int it = 0; it <= 120; ++it) {
    if (estimates.contains(it)) {
      model.eval();
      const double train = estimate_loss(model, corpus, "train");
      const double val = estimate_loss(model, corpus, "val");
      model.train();
      std::cout << "step " << it << ": train loss " << train << ", val loss " << val << '\n';
      check::near("train loss", train, estimates.at(it).first, kTolerance);
      check::near("val loss", val, estimates.at(it).second, kTolerance);
    }
    if (it == 120) break;
    if (it == 115) {
      save_checkpoint("checkpoint.safetensors", model, optimizer, it);
      resumed_rng = get_rng_state();
    }
    const Step step = train_step(model, optimizer, corpus, it);
    if (!expected.contains(it)) continue;
    std::cout << "step " << it << ": loss " << step.loss << ", norm " << step.norm << '\n';
    check::near("loss", step.loss, expected.at(it).loss, kTolerance);
    check::near("norm", step.norm, expected.at(it).norm, kTolerance);
  }

  GPT again(model.config);
  optim::AdamW again_optimizer = configure_optimizer(again);
  set_rng_state(*resumed_rng);
  for (int it = load_checkpoint("checkpoint.safetensors", again, again_optimizer); it < 120; ++it)
    train_step(again, again_optimizer, corpus, it);
  for (const auto& [name, value] : again.state_dict())
    check::that(value.equal(model.state_dict().at(name)), name + " after the checkpoint");

  model.eval();
  manual_seed(7);
  const Tensor start = tensor(corpus.encode("the ")).unsqueeze(0);
  const std::string sample = corpus.decode(model.generate(start, 40, 0.8, 5)[0]);
  std::cout << sample << '\n';
  check::that(sample == "the mat. cat on te the bird san sathe san sa", "the sample: " + sample);
  return check::result();
}
