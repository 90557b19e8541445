#include "examples/lab/book_chapters.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <numbers>
#include <vector>

#include <tend/core/array/print.h>

#include "examples/lab/book_words.h"
#include "examples/lab/lab.h"

namespace book {

using tend::Tensor;
using tend::to_string;

namespace {

// --- text as Python prints it

std::string list_text(const Tokens& tokens) {
  std::string text;
  for (const std::int64_t token : tokens)
    text += (text.empty() ? "" : ", ") + std::to_string(token);
  return '[' + text + ']';
}

/// 1234567 as 1,234,567.
std::string grouped(std::int64_t number) {
  std::string text = std::to_string(number);
  for (std::ptrdiff_t i = std::ssize(text) - 3; i > 0; i -= 3)
    text.insert(static_cast<std::size_t>(i), ",");
  return text;
}

std::string text_of(const std::array<Tensor, 2>& batch) {
  return '[' + to_string(batch[0]) + ", " + to_string(batch[1]) + ']';
}

std::string mean_and_variance(const Tensor& mean, const Tensor& variance) {
  return "Mean:\n " + to_string(mean) + "\nVariance:\n " + to_string(variance);
}

std::string logits_text(const Tensor& logits) {
  return "Output shape: " + tend::size_text(logits.shape()) + '\n' + to_string(logits);
}

// --- chapter 2

void print_words(const std::string& story, Printed& out) {
  out[18] =
      "Total number of character: " + std::to_string(story.size()) + '\n' + story.substr(0, 99);
  const Words words = words_of(story);
  out[31] = std::to_string(words.size());
  WordTokenizer tokenizer(words);
  out[36] = std::to_string(tokenizer.size());
  out[39] = tokenizer.items(0, 51);
  const Tokens quotation = tokenizer.encode(
      "\"It's the last he painted, you know,\" Mrs. Gisburn said with pardonable pride.");
  out[47] = list_text(quotation);
  out[49] = quoted(tokenizer.decode(quotation));
  tokenizer.add({"<|endoftext|>", "<|unk|>"});
  out[61] = std::to_string(tokenizer.size());
  out[62] = tokenizer.items(tokenizer.size() - 5, tokenizer.size());
  const Tokens joined = tokenizer.encode(
      "Hello, do you like tea? <|endoftext|> In the sunlit terraces of the palace.");
  out[67] = list_text(joined);
  out[68] = quoted(tokenizer.decode(joined));
}

void print_contexts(const Setup& setup, const Tokens& story, Printed& out) {
  const auto part = [&](std::ptrdiff_t first, std::ptrdiff_t count) {
    return Tokens(story.begin() + first, story.begin() + first + count);
  };
  out[81] = std::to_string(story.size());
  out[84] = "x: " + list_text(part(50, 4)) + "\ny:      " + list_text(part(51, 4));
  for (std::ptrdiff_t i = 1; i <= 4; ++i) {
    const std::string end = i < 4 ? "\n" : "";
    out[86] += list_text(part(50, i)) + " ----> " +
               std::to_string(story[static_cast<std::size_t>(50 + i)]) + end;
    out[87] +=
        setup.gpt2.decode(part(50, i)) + " ----> " + setup.gpt2.decode(part(50 + i, 1)) + end;
  }
}

}  // namespace

Printed chapter2(const Setup& setup) {
  Printed out;
  print_words(setup.story, out);
  const Tokens tokens = setup.gpt2.encode(
      "Hello, do you like tea? <|endoftext|> In the sunlit terracesof someunknownPlace.",
      {.allow_special = true});
  out[74] = list_text(tokens);
  out[75] = setup.gpt2.decode(tokens);
  const Tokens story = setup.gpt2.encode(setup.story);
  print_contexts(setup, story, out);
  Loader by_one = loader_of(story, 4, 1, {.batch_size = 1});
  auto batch = by_one.begin();
  out[97] = text_of(*batch);
  out[98] = text_of(*++batch);
  Loader by_four = loader_of(story, 4, 4, {.batch_size = 8});
  const auto [inputs, targets] = *by_four.begin();
  out[102] = "Inputs:\n " + to_string(inputs) + "\n\nTargets:\n " + to_string(targets);

  tend::manual_seed(setup.seed);
  const tend::nn::Embedding embedding(6, 3);
  out[111] = to_string(embedding.weight);
  out[114] = to_string(embedding(tend::tensor({3})));
  out[116] = to_string(embedding(tend::tensor({2, 3, 5, 1})));
  return out;
}

namespace {

// --- chapter 4

/// The book's GELU formula. The gradients that the book prints are rounded as this formula rounds.
Tensor gelu_by_hand(const Tensor& x) {
  return 0.5 * x *
         (1 + tanh(sqrt(tend::tensor(2 / std::numbers::pi)) * (x + 0.044715 * pow(x, 3))));
}

/// The module with its parameters in another dtype.
template <class Module>
Module in_dtype(Module module, tend::DType dtype) {
  module.to(dtype);
  return module;
}

/// The gradients of five layers with GELU. The first four layers keep the shape.
std::string layers_text(const Setup& setup, bool has_shortcuts) {
  tend::manual_seed(setup.seed);
  std::vector<tend::nn::Linear> layers;
  for (const int width : {3, 3, 3, 3, 1})
    layers.push_back(in_dtype(tend::nn::Linear(3, width), setup.dtype));
  Tensor x = tend::tensor({{1.0, 0.0, -1.0}}, setup.dtype);
  for (const auto& layer : layers) {
    const Tensor y = gelu_by_hand(layer(x));
    x = has_shortcuts && x.shape() == y.shape() ? x + y : y;
  }
  mse_loss(x, tend::zeros({1, 1}, setup.dtype)).backward();
  std::string text;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    text += (i > 0 ? "\nlayers." : "layers.") + std::to_string(i) +
            ".0.weight has gradient mean of " +
            tend::python_repr(layers[i].weight.grad().abs().mean().item());
  }
  return text;
}

void print_norms(const Setup& setup, Printed& out) {
  tend::manual_seed(setup.seed);
  const Tensor batch = tend::randn({2, 5}).to(setup.dtype);
  const Tensor x = relu(in_dtype(tend::nn::Linear(5, 6), setup.dtype)(batch));
  out[22] = to_string(x);
  const Tensor mean = x.mean(-1, true), variance = x.var(-1, 1, true);
  out[24] = mean_and_variance(mean, variance);
  const Tensor normalized = (x - mean) / sqrt(variance);
  out[28] = "Normalized layer outputs:\n " + to_string(normalized) + '\n' +
            mean_and_variance(normalized.mean(-1, true), normalized.var(-1, 1, true));
  const Tensor after = in_dtype(tend::nn::LayerNorm(6), setup.dtype)(x);
  const tend::PrintOptions before = tend::get_printoptions();
  tend::set_printoptions({.precision = before.precision, .sci_mode = false});
  out[35] = mean_and_variance(after.mean(-1, true), after.var(-1, 0, true));
  tend::set_printoptions(before);
}

/// The logits of the GPT without its blocks and its norm.
std::string placeholder_text(const Setup& setup, const Tensor& batch) {
  tend::manual_seed(setup.seed);
  const Sizes& sizes = setup.sizes;
  const tend::nn::Embedding tokens(sizes.vocab_size, sizes.width);
  const tend::nn::Embedding positions(sizes.context_length, sizes.width);
  const auto head =
      in_dtype(tend::nn::Linear(sizes.width, sizes.vocab_size, {.bias = false}), setup.dtype);
  const Tensor x = tokens(batch) + positions(tend::arange(batch.size(1)));
  return logits_text(head(dropout(x.to(setup.dtype), kDropout)));
}

}  // namespace

Printed chapter4(const Setup& setup) {
  Printed out;
  const auto encoded = [&](const char* text) { return tend::tensor(setup.gpt2.encode(text)); };
  const Tensor batch =
      tend::stack({encoded("Every effort moves you"), encoded("Every day holds a")});
  out[15] = to_string(batch);
  out[16] = placeholder_text(setup, batch);
  print_norms(setup, out);
  out[55] = layers_text(setup, false);
  out[57] = layers_text(setup, true);

  tend::manual_seed(setup.seed);
  GPT model(setup.sizes);
  model.to(setup.dtype);
  out[72] = "Input batch:\n " + to_string(batch) + "\n\n" + logits_text(model(batch));
  const std::int64_t count = model.num_parameters();
  out[74] = "Total number of parameters: " + grouped(count);
  out[78] = "Number of trainable parameters considering weight tying: " +
            grouped(count - model.head.weight.numel());
  const double mebibytes = static_cast<double>(count) * sizeof(float) / (1024 * 1024);
  out[80] = "Total size of the model: " + lab::number(mebibytes, 2) + " MB";
  const Tokens prompt = setup.gpt2.encode("Hello, I am");
  out[90] = "encoded: " + list_text(prompt) +
            "\nencoded_tensor.shape: " + tend::size_text(tend::Shape{1, std::ssize(prompt)});
  model.eval();
  const Tokens all = continued(model, prompt, 6);
  out[91] = "Output: " + to_string(tend::tensor(all).unsqueeze(0)) +
            "\nOutput length: " + std::to_string(all.size());
  out[93] = setup.gpt2.decode(all);
  return out;
}

namespace {

// --- chapter 5

constexpr const char* kPrompt = "Every effort moves you";

std::string continuation(const Setup& setup, const GPT& model, std::int64_t count,
                         double temperature = 0) {
  return setup.gpt2.decode(continued(model, setup.gpt2.encode(kPrompt), count, temperature));
}

void print_losses(const Setup& setup, const GPT& model, Printed& out) {
  const auto encoded = [&](const char* text) { return tend::tensor(setup.gpt2.encode(text)); };
  const Tensor inputs = tend::stack({encoded("every effort moves"), encoded("I really like")});
  const Tensor targets =
      tend::stack({encoded(" effort moves you"), encoded(" really like chocolate")});
  const Tensor logits = model(inputs);
  const Tensor probabilities = softmax(logits, -1);
  const Tensor likeliest = argmax(probabilities, -1, true);
  const auto decoded = [&](const Tensor& ids) {
    return setup.gpt2.decode(ids.to_vector<std::int64_t>());
  };
  out[27] = "Token IDs:\n " + to_string(likeliest);
  out[29] = "Targets batch 1: " + decoded(targets[0]) +
            "\nOutputs batch 1: " + decoded(likeliest[0].flatten());
  const Tensor right = gather(probabilities, 2, targets.unsqueeze(-1)).squeeze(-1);
  out[33] = "Text 1: " + to_string(right[0]) + "\nText 2: " + to_string(right[1]);
  const Tensor logarithms = log(right.flatten());
  out[35] = to_string(logarithms);
  out[37] = to_string(logarithms.mean());
  const Tensor loss = cross_entropy(logits.flatten(0, 1), targets.flatten());
  out[48] = to_string(loss);
  out[50] = to_string(exp(loss));
}

/// Samples a thousand words from softmax(logits / temperature), and lists the counts.
std::string draws_text(std::uint64_t seed, const Words& words, const Tensor& logits,
                       double temperature) {
  tend::manual_seed(seed);
  const Tensor probabilities = softmax(logits / temperature, 0);
  std::vector<int> counts(words.size());
  for (int i = 0; i < 1000; ++i) ++counts[multinomial(probabilities, 1).item<std::size_t>()];
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i > 0 ? "\n" : "") + std::to_string(counts[i]) + " x " + words[i];
  return text;
}

void print_draws(std::uint64_t seed, Printed& out) {
  const Words words{"closer", "every", "effort", "forward", "inches",
                    "moves",  "pizza", "toward", "you"};
  const Tensor logits = tend::tensor({4.51, 0.89, -1.90, 6.75, 1.63, -1.62, -1.89, 6.28, 1.79});
  out[92] = words[logits.argmax().item<std::size_t>()];
  tend::manual_seed(seed);
  out[93] = words[multinomial(softmax(logits, 0), 1).item<std::size_t>()];
  out[95] = draws_text(seed, words, logits, 1);
  out[101] = draws_text(seed, words, logits, 0.1);
  out[103] = draws_text(seed, words, logits, 5);
  const auto [top, places] = topk(logits, 3);
  out[109] = "Top logits: " + to_string(top) + "\nTop positions: " + to_string(places);
  const Tensor others_out =
      where(logits < top[-1], -std::numeric_limits<double>::infinity(), logits);
  out[110] = to_string(others_out);
  out[112] = to_string(softmax(others_out, 0));
}

Sizes sizes_of(const Setup& setup) {
  Sizes sizes = setup.sizes;
  sizes.context_length = setup.window;
  return sizes;
}

std::string loss_line(const Losses& losses) {
  const std::string step = std::to_string(losses.step);
  return "Ep " + std::to_string(losses.epoch) + " (Step " + std::string(6 - step.size(), '0') +
         step + "): Train loss " + lab::number(losses.training, 3) + ", Val loss " +
         lab::number(losses.validation, 3) + '\n';
}

tend::nn::Maps patterns_of(const Setup& setup, const GPT& model) {
  tend::nn::Maps maps{{{"layer", {}}, {"head", {}}}, {}, {}, {}, "token", "attends to"};
  const Tokens tokens = continued(model, setup.gpt2.encode(kPrompt), 11);
  for (std::size_t i = 0; i < tokens.size(); ++i)
    maps.rows.push_back(std::to_string(i) + setup.gpt2.decode({tokens[i]}));
  maps.columns = maps.rows;
  const auto run = tend::lens::run_with_cache(
      model, tend::tensor(tokens).unsqueeze(0),
      {.filter = [](const std::string& name) { return name.ends_with("hook_pattern"); }});
  for (std::int64_t i = 0; i < setup.sizes.heads; ++i)
    maps.choices[1].names.push_back(std::to_string(i));
  for (std::int64_t i = 0; i < setup.sizes.layers; ++i) {
    maps.choices[0].names.push_back(std::to_string(i));
    const Tensor pattern = run.cache["blocks." + std::to_string(i) + ".attention.hook_pattern"];
    const auto values = pattern.to(tend::float64).to_vector<double>();
    maps.values.insert(maps.values.end(), values.begin(), values.end());
  }
  return maps;
}

}  // namespace

Printed chapter5(const Setup& setup) {
  const tend::NoGradGuard no_grad;
  Printed out;
  tend::manual_seed(setup.seed);
  GPT model(sizes_of(setup));
  model.to(setup.dtype);
  model.eval();
  out[15] = "Output text:\n " + continuation(setup, model, 10);
  print_losses(setup, model, out);
  out[58] = "Characters: " + std::to_string(setup.story.size()) +
            "\nTokens: " + std::to_string(setup.gpt2.encode(setup.story).size());
  Data data(setup.story, setup.gpt2, setup.window);
  const std::int64_t training = tokens_of(data.training), validation = tokens_of(data.validation);
  out[68] = "Training tokens: " + std::to_string(training) +
            "\nValidation tokens: " + std::to_string(validation) +
            "\nAll tokens: " + std::to_string(training + validation);
  tend::manual_seed(setup.seed);
  const double loss = mean_loss(model, data.training, data.training.size());
  out[72] = "Training loss: " + tend::python_repr(loss) + "\nValidation loss: " +
            tend::python_repr(mean_loss(model, data.validation, data.validation.size()));
  print_draws(setup.seed, out);
  return out;
}

Trained trained(const Setup& setup) {
  Data data(setup.story, setup.gpt2, setup.window);
  tend::manual_seed(setup.seed);
  GPT model(sizes_of(setup));
  model.to(setup.dtype);
  tend::optim::AdamW optimizer(model.parameters(), {.lr = 4e-4, .weight_decay = 0.1});
  Trained result;
  std::string& log = result.printed[kTraining];
  std::int64_t step = 0;
  for (std::int64_t epoch = 1; epoch <= setup.epochs; ++epoch) {
    train_epoch(model, optimizer, data, epoch, step,
                [&](const Losses& losses) { log += loss_line(losses); });
    model.eval();
    std::string sentence = continuation(setup, model, 50);
    std::replace(sentence.begin(), sentence.end(), '\n', ' ');
    log += sentence + (epoch < setup.epochs ? "\n" : "");
  }
  const tend::NoGradGuard no_grad;
  result.printed[87] = "Output text:\n " + continuation(setup, model, 25);
  result.patterns = patterns_of(setup, model);
  tend::manual_seed(setup.seed);
  result.printed[116] = "Output text:\n " + continuation(setup, model, 15, 1.4);
  return result;
}

}  // namespace book
