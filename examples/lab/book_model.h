// The GPT of the book (see book.cpp), its data and its training.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <tend/nn/text/byte_pair_encoding.h>
#include <tend/tend.h>

namespace book {

using Tokens = std::vector<std::int64_t>;

/// The sizes of the model. The defaults are GPT-2's smallest model.
struct Sizes {
  std::int64_t vocab_size = 50257;
  std::int64_t context_length = 1024;
  std::int64_t width = 768;
  std::int64_t heads = 12;
  std::int64_t layers = 12;
};

constexpr double kDropout = 0.1;

/// Members are declared in the order in which the book initialises their weights.
struct Block : tend::nn::Module<Block> {
  explicit Block(const Sizes& sizes);
  tend::Tensor forward(const tend::Tensor& x) const;

  TEND_MODULE(tend::attention::MultiHeadAttention, attention);
  TEND_MODULE(tend::attention::FeedForward, feed_forward);
  TEND_MODULE(tend::nn::LayerNorm, norm1);
  TEND_MODULE(tend::nn::LayerNorm, norm2);
  TEND_MODULE(tend::nn::Dropout, dropout);
};

struct GPT : tend::nn::Module<GPT> {
  explicit GPT(const Sizes& sizes);
  /// The logits, (batch, T, vocab_size), of tokens (batch, T).
  tend::Tensor forward(const tend::Tensor& tokens) const;

  TEND_MODULE(tend::nn::Embedding, token_embedding);
  TEND_MODULE(tend::nn::Embedding, position_embedding);
  TEND_MODULE(tend::nn::Dropout, dropout);
  TEND_MODULE(tend::nn::ModuleList<Block>, blocks);
  TEND_MODULE(tend::nn::LayerNorm, norm);
  TEND_MODULE(tend::nn::Linear, head);
};

/// Loads batches of windows of tokens, and the same windows one token later.
using Loader = tend::data::DataLoader<tend::data::TensorDataset<2>>;
Loader loader_of(const Tokens& tokens, std::int64_t length, std::int64_t step,
                 const tend::data::DataLoaderOptions& options);

/// The number of tokens in all batches.
std::int64_t tokens_of(Loader& loader);

/// The story in two loaders. The first nine tenths of its characters are for training, shuffled.
/// The rest is for validation.
struct Data {
  Data(const std::string& story, const tend::nn::BytePairEncoding& gpt2, std::int64_t length);
  Loader training, validation;
};

/// Continues `prompt` by `count` tokens. Each is the likeliest token. With a `temperature`, samples
/// from the likeliest 25 tokens instead.
Tokens continued(const GPT& model, Tokens prompt, std::int64_t count, double temperature = 0);

/// The mean loss of at most the first `most` batches of the loader.
double mean_loss(const GPT& model, Loader& loader, std::int64_t most);

struct Losses {
  std::int64_t epoch, step;
  double training, validation;
};

/// Trains for an epoch. `done` counts the steps of all epochs. Calls `record` with the losses every
/// five steps.
void train_epoch(GPT& model, tend::optim::AdamW& optimizer, Data& data, std::int64_t epoch,
                 std::int64_t& done, const std::function<void(const Losses&)>& record);

}  // namespace book
