// The GPT of chapters 4 and 5 of a book on language models: layer norm, GELU, feed-forward layers,
// transformer block, model, and greedy generation.
#pragma once

#include <cmath>
#include <limits>
#include <numbers>

#include <tend/tend.h>

struct GPTConfig {
  int vocab_size = 100;
  int context_length = 32;
  int emb_dim = 48;
  int n_heads = 4;
  int n_layers = 3;
  double drop_rate = 0.1;
  bool qkv_bias = false;
};

class LayerNorm : public tend::nn::Module<LayerNorm> {
 public:
  explicit LayerNorm(int emb_dim) : scale(tend::ones(emb_dim)), shift(tend::zeros(emb_dim)) {}

  tend::Tensor forward(const tend::Tensor& x) const {
    const tend::Tensor mean = x.mean(-1, /*keepdim=*/true);
    const tend::Tensor var = x.var(-1, /*correction=*/0, /*keepdim=*/true);
    const tend::Tensor norm_x = (x - mean) / tend::sqrt(var + eps);
    return scale * norm_x + shift;
  }

  double eps = 1e-5;
  TEND_PARAMETER(scale);
  TEND_PARAMETER(shift);
};

class GELU : public tend::nn::Module<GELU> {
 public:
  tend::Tensor forward(const tend::Tensor& x) const {
    return 0.5 * x *
           (1 + tend::tanh(tend::sqrt(tend::tensor(2.0 / std::numbers::pi)) *
                           (x + 0.044715 * tend::pow(x, 3))));
  }
};

class MultiHeadAttention : public tend::nn::Module<MultiHeadAttention> {
 public:
  MultiHeadAttention(int d_in, int width, int context_length, double p, int heads, bool qkv_bias)
      : d_out(width),
        num_heads(heads),
        head_dim(width / heads),
        W_query(d_in, width, qkv_bias),
        W_key(d_in, width, qkv_bias),
        W_value(d_in, width, qkv_bias),
        out_proj(width, width),
        dropout(p),
        mask(tend::triu(tend::ones({context_length, context_length}), 1)) {}

  tend::Tensor forward(const tend::Tensor& x) const {
    using tend::Slice, tend::Tensor;
    const auto [b, n, d_in] = x.sizes<3>();
    const Tensor keys = W_key(x).view({b, n, num_heads, head_dim}).transpose(1, 2);
    const Tensor queries = W_query(x).view({b, n, num_heads, head_dim}).transpose(1, 2);
    const Tensor values = W_value(x).view({b, n, num_heads, head_dim}).transpose(1, 2);
    const Tensor attn_scores = queries.matmul(keys.transpose(2, 3));
    const Tensor mask_bool = mask.to(tend::boolean)[{Slice(0, n), Slice(0, n)}];
    attn_scores.masked_fill_(mask_bool, -std::numeric_limits<double>::infinity());
    const Tensor attn_weights = dropout(tend::softmax(attn_scores / std::sqrt(head_dim), -1));
    const Tensor context = attn_weights.matmul(values).transpose(1, 2);
    return out_proj(context.contiguous().view({b, n, d_out}));
  }

  int d_out, num_heads, head_dim;
  TEND_MODULE(tend::nn::Linear, W_query);
  TEND_MODULE(tend::nn::Linear, W_key);
  TEND_MODULE(tend::nn::Linear, W_value);
  TEND_MODULE(tend::nn::Linear, out_proj);
  TEND_MODULE(tend::nn::Dropout, dropout);
  TEND_BUFFER(mask);
};

class FeedForward : public tend::nn::Module<FeedForward> {
 public:
  explicit FeedForward(const GPTConfig& cfg)
      : layers{tend::nn::Linear(cfg.emb_dim, 4L * cfg.emb_dim), GELU(),
               tend::nn::Linear(4L * cfg.emb_dim, cfg.emb_dim)} {
  }  // braces initialise the weights in this order

  tend::Tensor forward(const tend::Tensor& x) const { return layers(x); }

  TEND_MODULE(tend::nn::Sequential, layers);
};

class TransformerBlock : public tend::nn::Module<TransformerBlock> {
 public:
  explicit TransformerBlock(const GPTConfig& cfg)
      : att(cfg.emb_dim, cfg.emb_dim, cfg.context_length, cfg.drop_rate, cfg.n_heads, cfg.qkv_bias),
        ff(cfg),
        norm1(cfg.emb_dim),
        norm2(cfg.emb_dim),
        drop_shortcut(cfg.drop_rate) {}

  tend::Tensor forward(tend::Tensor x) const {
    x = x + drop_shortcut(att(norm1(x)));
    x = x + drop_shortcut(ff(norm2(x)));
    return x;
  }

  TEND_MODULE(MultiHeadAttention, att);
  TEND_MODULE(FeedForward, ff);
  TEND_MODULE(LayerNorm, norm1);
  TEND_MODULE(LayerNorm, norm2);
  TEND_MODULE(tend::nn::Dropout, drop_shortcut);
};

class GPTModel : public tend::nn::Module<GPTModel> {
 public:
  explicit GPTModel(const GPTConfig& cfg)
      : tok_emb(cfg.vocab_size, cfg.emb_dim),
        pos_emb(cfg.context_length, cfg.emb_dim),
        drop_emb(cfg.drop_rate),
        trf_blocks(make_blocks(cfg)),
        final_norm(cfg.emb_dim),
        out_head(cfg.emb_dim, cfg.vocab_size, false) {}

  tend::Tensor forward(const tend::Tensor& in_idx) const {
    const auto [batch_size, seq_len] = in_idx.sizes<2>();
    tend::Tensor x = tok_emb(in_idx) + pos_emb(tend::arange(seq_len));
    x = trf_blocks(drop_emb(x));
    return out_head(final_norm(x));
  }

  TEND_MODULE(tend::nn::Embedding, tok_emb);
  TEND_MODULE(tend::nn::Embedding, pos_emb);
  TEND_MODULE(tend::nn::Dropout, drop_emb);
  TEND_MODULE(tend::nn::Sequential, trf_blocks);
  TEND_MODULE(LayerNorm, final_norm);
  TEND_MODULE(tend::nn::Linear, out_head);

 private:
  // Called in the initialiser list, so that weights use the random numbers in Python's order.
  static tend::nn::Sequential make_blocks(const GPTConfig& cfg) {
    tend::nn::Sequential blocks;
    for (int i = 0; i < cfg.n_layers; ++i) blocks.push_back(TransformerBlock(cfg));
    return blocks;
  }
};

/// Appends the most probable token `max_new_tokens` times.
inline tend::Tensor generate_text_simple(const GPTModel& model, tend::Tensor idx,
                                         int max_new_tokens, int context_size) {
  using tend::Slice, tend::Tensor;
  for (int i = 0; i < max_new_tokens; ++i) {
    const Tensor idx_cond = idx[{Slice(), Slice(-context_size, tend::None)}];
    Tensor logits;
    {
      const tend::NoGradGuard no_grad;
      logits = model(idx_cond);
    }
    logits = logits[{Slice(), -1, Slice()}];
    const Tensor probas = tend::softmax(logits, -1);
    const Tensor idx_next = tend::argmax(probas, -1, /*keepdim=*/true);
    idx = tend::cat({idx, idx_next}, 1);
  }
  return idx;
}
