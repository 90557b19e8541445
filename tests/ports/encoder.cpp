// Ports a classifier with a bidirectional transformer encoder: layers in the post-norm form of
// torch.nn.TransformerEncoderLayer, with its names and initialisation, a mask that hides padding,
// and a class token.
// Compares the keys of the state, and the losses, gradient norms and accuracies during training,
// with PyTorch's nn.TransformerEncoder from the same seed (encoder.py). Also checks that the model
// learns its task, that padding changes nothing, and that words attend to later words.
#include <map>

#include "check.h"

using namespace tend;

namespace {

constexpr int64_t kVocabulary = 7, kWidth = 32, kHeads = 4, kLayers = 2, kLongest = 10;

class MultiheadAttention : public nn::Module<MultiheadAttention> {
 public:
  MultiheadAttention(int64_t embed_dim, int64_t heads)
      : num_heads(heads),
        in_proj_weight(empty({3 * embed_dim, embed_dim})),
        in_proj_bias(zeros(3 * embed_dim)),
        out_proj(embed_dim, embed_dim) {
    nn::init::xavier_uniform_(in_proj_weight);
    nn::init::zeros_(out_proj.bias);
  }

  /// key_padding_mask (B, T) is true for keys to ignore.
  Tensor forward(const Tensor& x, const Tensor& key_padding_mask) const {
    const auto [b, t, c] = x.sizes<3>();
    const auto heads = linear(x, in_proj_weight, in_proj_bias)
                           .unflatten(-1, {3, num_heads, c / num_heads})
                           .permute({2, 0, 3, 1, 4})
                           .unbind(0);
    const Tensor mask = ~key_padding_mask[{Slice(), None, None, Slice()}];
    const Tensor out =
        scaled_dot_product_attention(heads[0], heads[1], heads[2], {.attn_mask = mask});
    return out_proj(out.transpose(1, 2).flatten(2));
  }

  int64_t num_heads;
  TEND_PARAMETER(in_proj_weight);
  TEND_PARAMETER(in_proj_bias);
  TEND_MODULE(nn::Linear, out_proj);
};

class EncoderLayer : public nn::Module<EncoderLayer> {
 public:
  EncoderLayer(int64_t d_model, int64_t nhead, int64_t dim_feedforward)
      : self_attn(d_model, nhead),
        linear1(d_model, dim_feedforward),
        linear2(dim_feedforward, d_model),
        norm1(d_model),
        norm2(d_model) {}

  Tensor forward(Tensor x, const Tensor& padding) const {
    x = norm1(x + self_attn(x, padding));
    return norm2(x + linear2(gelu(linear1(x))));
  }

  TEND_MODULE(MultiheadAttention, self_attn);
  TEND_MODULE(nn::Linear, linear1);
  TEND_MODULE(nn::Linear, linear2);
  TEND_MODULE(nn::LayerNorm, norm1);
  TEND_MODULE(nn::LayerNorm, norm2);
};

class Encoder : public nn::Module<Encoder> {
 public:
  /// Every layer starts as a copy of `layer`.
  Encoder(const EncoderLayer& layer, int64_t num_layers) {
    for (int64_t i = 0; i < num_layers; ++i) layers.push_back(layer.clone());
  }

  Tensor forward(Tensor x, const Tensor& padding) const {
    for (const auto& layer : layers) x = layer(x, padding);
    return x;
  }

  TEND_MODULE(nn::ModuleList<EncoderLayer>, layers);
};

class Classifier : public nn::Module<Classifier> {
 public:
  Classifier()
      : embedding(kVocabulary, kWidth, /*padding_idx=*/0),
        position(randn({kLongest, kWidth}) * 0.1),
        encoder(EncoderLayer(kWidth, kHeads, 64), kLayers),
        head(kWidth, 2) {}

  Tensor encode(const Tensor& tokens, const Tensor& padding) const {
    const Tensor x = embedding(tokens) + position[Slice(None, tokens.size(1))];
    return encoder(x, padding);
  }
  Tensor forward(const Tensor& tokens, const Tensor& padding) const {
    return head(encode(tokens, padding)[{Slice(), 0}]);
  }

  TEND_MODULE(nn::Embedding, embedding);
  TEND_PARAMETER(position);
  TEND_MODULE(Encoder, encoder);
  TEND_MODULE(nn::Linear, head);
};

struct Batch {
  Tensor tokens, padding, labels;
};

/// Each sequence has a class token 1, then tokens from 2 to 6, then padding with 0. The label is 1
/// if the sequence contains both 2 and 3.
Batch make_batch(int64_t n) {
  const Tensor lengths = randint(4, kLongest + 1, {n});
  Tensor tokens = randint(2, kVocabulary, {n, kLongest});
  tokens[{Slice(), 0}] = 1;
  const Tensor padding = arange(kLongest) >= lengths[{Slice(), None}];
  tokens = tokens.masked_fill(padding, 0);
  const Tensor labels = ((tokens == 2).any(1) & (tokens == 3).any(1)).to(int64);
  return {tokens, padding, labels};
}

double accuracy(const Tensor& logits, const Tensor& labels) {
  return (logits.argmax(1) == labels).to(float32).mean().item();
}

void check_training(Classifier& model) {
  struct Expected {
    double loss, norm, accuracy;
  };
  const std::map<int, Expected> expected = {
      {0, {0.7367655634880066, 1.486503005027771, 0.53125}},
      {1, {0.6757546067237854, 0.40927964448928833, 0.515625}},
      {5, {0.5267269015312195, 0.7564890384674072, 0.8125}},
      {20, {0.008997715078294277, 0.06698022037744522, 1.0}},
      {60, {0.000911137496586889, 0.007677098270505667, 1.0}},
      {120, {0.0004601471882779151, 0.003961524926126003, 1.0}}};
  optim::AdamW optimizer(model.parameters(), {.lr = 3e-3, .weight_decay = 0.01});
  for (int step = 0; step <= 120; ++step) {
    const auto [tokens, padding, labels] = make_batch(64);
    const Tensor logits = model(tokens, padding);
    const Tensor loss = cross_entropy(logits, labels);
    optimizer.zero_grad();
    loss.backward();
    const double norm = nn::clip_grad_norm_(model.parameters(), 1.0);
    optimizer.step();
    if (!expected.contains(step)) continue;
    const double right = accuracy(logits, labels);
    std::cout << "step " << step << ": loss " << loss.item() << ", norm " << norm << ", accuracy "
              << right << '\n';
    // Both libraries use float32. With AVX-512, AVX2 and SSE4 the results differ by up to 5e-6.
    check::near("loss", loss.item(), expected.at(step).loss, 1e-4);
    check::near("norm", norm, expected.at(step).norm, 1e-4);
    check::near("accuracy", right, expected.at(step).accuracy, 1e-6);
  }
  check::that(!model.embedding.weight[0].any().item<bool>(), "the padding's embedding stays zero");
}

void check_padding(const Classifier& model) {
  const NoGradGuard no_grad;
  const Batch held_out = make_batch(1000);
  check::near("accuracy, held out",
              accuracy(model(held_out.tokens, held_out.padding), held_out.labels), 1.0, 0);

  const Tensor alone = tensor({{1, 4, 2, 5}});
  const Tensor padded = pad(alone, {0, kLongest - 4}, PadMode::constant, 0);
  check::near("a padded sequence", model(padded, padded == 0), model(alone, alone == 0), 1e-5);
  // Without the mask, the model attends to padding. The last word affects the first one's encoding.
  const Tensor nothing_hidden = zeros_like(padded, boolean);
  check::that(!model(padded, nothing_hidden).allclose(model(alone, alone == 0), 1e-3, 1e-3),
              "padding without a mask is seen");
  const Tensor other = tensor({{1, 4, 2, 3}});
  check::that((model.encode(alone, alone == 0)[{0, 0}] - model.encode(other, other == 0)[{0, 0}])
                      .abs()
                      .max()
                      .item() > 0.1,
              "the first word sees the last");
}

}  // namespace

int main() {
  manual_seed(42);
  Classifier model;
  check::that(model.num_parameters() == 17698, "the number of parameters");
  const nn::StateDict state = model.state_dict();
  for (const char* key : {"self_attn.in_proj_weight", "self_attn.in_proj_bias",
                          "self_attn.out_proj.weight", "linear1.weight", "norm2.bias"})
    check::that(state.contains("encoder.layers.1." + std::string(key)), key);
  check_training(model);
  check_padding(model);
  return check::result();
}
