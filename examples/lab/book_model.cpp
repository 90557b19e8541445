#include "examples/lab/book_model.h"

#include <algorithm>
#include <limits>

#include "examples/lab/lab.h"

namespace book {

using tend::Slice;
using tend::Tensor;

Block::Block(const Sizes& sizes)
    : attention(sizes.width, sizes.width, sizes.context_length, kDropout, sizes.heads),
      feed_forward(sizes.width, tend::GeluKind::tanh),
      norm1(sizes.width),
      norm2(sizes.width),
      dropout(kDropout) {}

Tensor Block::forward(const Tensor& x) const {
  const Tensor middle = x + dropout(attention(norm1(x)));
  return middle + dropout(feed_forward(norm2(middle)));
}

GPT::GPT(const Sizes& sizes)
    : token_embedding(sizes.vocab_size, sizes.width),
      position_embedding(sizes.context_length, sizes.width),
      dropout(kDropout),
      blocks(sizes.layers, [&] { return Block(sizes); }),
      norm(sizes.width),
      head(sizes.width, sizes.vocab_size, {.bias = false}) {}

Tensor GPT::forward(const Tensor& tokens) const {
  Tensor x = dropout(token_embedding(tokens) + position_embedding(tend::arange(tokens.size(1))));
  for (const Block& block : blocks) x = block(x);
  return head(norm(x));
}

Loader loader_of(const Tokens& tokens, std::int64_t length, std::int64_t step,
                 const tend::data::DataLoaderOptions& options) {
  // Each window has one more token, which is the last target.
  const Tensor all = tend::tensor(tokens), windows = all.unfold(0, length + 1, step);
  return Loader(tend::data::TensorDataset<2>(windows.narrow(1, 0, length).contiguous(),
                                             windows.narrow(1, 1, length).contiguous()),
                options);
}

Data::Data(const std::string& story, const tend::nn::BytePairEncoding& gpt2, std::int64_t length)
    : training(loader_of(gpt2.encode(story.substr(0, story.size() * 9 / 10)), length, length,
                         {.batch_size = 2, .shuffle = true, .drop_last = true})),
      validation(loader_of(gpt2.encode(story.substr(story.size() * 9 / 10)), length, length,
                           {.batch_size = 2})) {}

std::int64_t tokens_of(Loader& loader) {
  std::int64_t count = 0;
  for (const auto& [inputs, targets] : loader) count += inputs.numel();
  return count;
}

namespace {

Tensor loss_of(const GPT& model, const Tensor& inputs, const Tensor& targets) {
  return cross_entropy(model(inputs).flatten(0, 1), targets.flatten());
}

std::int64_t drawn_token(Tensor logits, double temperature) {
  const Tensor least = topk(logits, std::min<std::int64_t>(25, logits.numel())).values[-1];
  logits = where(logits < least, -std::numeric_limits<double>::infinity(), logits);
  return multinomial(softmax(logits / temperature, -1), 1).item<std::int64_t>();
}

}  // namespace

Tokens continued(const GPT& model, Tokens prompt, std::int64_t count, double temperature) {
  const tend::NoGradGuard no_grad;
  const std::int64_t context = model.position_embedding.weight.size(0);
  for (std::int64_t i = 0; i < count; ++i) {
    const Tensor tokens = tend::tensor(prompt)[Slice(-context)].unsqueeze(0);
    const Tensor logits = model(tokens)[{0, -1}];
    prompt.push_back(temperature > 0 ? drawn_token(logits, temperature)
                                     : logits.argmax().item<std::int64_t>());
  }
  return prompt;
}

double mean_loss(const GPT& model, Loader& loader, std::int64_t most) {
  const tend::NoGradGuard no_grad;
  double sum = 0;
  std::int64_t count = 0;
  for (const auto& [inputs, targets] : loader) {
    sum += loss_of(model, inputs, targets).item();
    if (++count == most) break;
  }
  return sum / static_cast<double>(count);
}

void train_epoch(GPT& model, tend::optim::AdamW& optimizer, Data& data, std::int64_t epoch,
                 std::int64_t& done, const std::function<void(const Losses&)>& record) {
  constexpr std::int64_t kEvery = 5, kBatches = 5;
  model.train();
  for (const auto& [inputs, targets] : data.training) {
    optimizer.zero_grad();
    const Tensor loss = loss_of(model, inputs, targets);
    loss.backward();
    optimizer.step();
    lab::show_progress("step " + std::to_string(done) + ", loss " + lab::number(loss.item(), 3));
    if (done % kEvery == 0) {
      model.eval();
      const double training = mean_loss(model, data.training, kBatches);
      record({epoch, done, training, mean_loss(model, data.validation, kBatches)});
      model.train();
    }
    ++done;
  }
}

}  // namespace book
