// A GPT of 4,192 parameters learns to invent names, with the same numbers as a program in Python.
// A. Karpathy, microgpt, https://gist.github.com/karpathy/8627fe009c40f57531cb18360106ce95: one
// layer of width 16 and 4 heads, RMSNorm without weights, ReLU, no biases. The training has 1,000
// steps of Adam on one name each, with a learning rate that falls linearly from 0.01 to 0, and
// betas 0.85 and 0.99. Then the model samples 20 names at temperature 0.5.
//
// The published program computes every number by itself in Python. Here each operation computes the
// whole name in one call. Both use float64. Python's random numbers are in python_random.h.

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <tend/tend.h>

#include "examples/lab/lab.h"
#include "examples/lab/python_random.h"

namespace {

using lab::PythonRandom;
using tend::Tensor;
using tend::nn::Curve;
using tend::nn::Maps;
using tend::nn::Parameter;
using Words = std::vector<std::string>;

constexpr std::int64_t kWidth = 16, kHeads = 4, kBlock = 16;

Parameter drawn(PythonRandom& random, std::int64_t rows, std::int64_t columns) {
  std::vector<double> values(static_cast<std::size_t>(rows * columns));
  for (double& value : values) value = random.gauss(0, 0.08);
  return Parameter(tend::tensor(values, tend::float64).view({rows, columns}));
}

Tensor normed(const Tensor& x) {
  return tend::rms_norm(x, {kWidth}, {}, 1e-5);
}

struct MicroGPT : tend::nn::Module<MicroGPT> {
  /// The weights get their random numbers in the order of their declaration.
  MicroGPT(PythonRandom& random, std::int64_t vocab_size)
      : tokens(drawn(random, vocab_size, kWidth)),
        places(drawn(random, kBlock, kWidth)),
        head(drawn(random, vocab_size, kWidth)),
        query_key_value(drawn(random, 3 * kWidth, kWidth)),
        out(drawn(random, kWidth, kWidth)),
        up(drawn(random, 4 * kWidth, kWidth)),
        down(drawn(random, kWidth, 4 * kWidth)) {}

  /// The logits (T, vocab_size) of tokens (T).
  Tensor forward(const Tensor& ids) const {
    Tensor x = normed(embedding(ids, tokens) + places.narrow(0, 0, ids.size(0)));
    x = x + linear(attention(normed(x)), out);
    x = x + linear(relu(linear(normed(x), up)), down);
    return linear(x, head);
  }

  Tensor attention(const Tensor& x) const {
    const tend::attention::AttentionOptions causal{.is_causal = true};
    const auto parts = linear(x, query_key_value).view({-1, 3, kHeads, kWidth / kHeads}).unbind(1);
    const Tensor query = parts[0].transpose(0, 1), key = parts[1].transpose(0, 1),
                 value = parts[2].transpose(0, 1);
    if (!hook_pattern.is_heard())
      return scaled_dot_product_attention(query, key, value, causal).transpose(0, 1).flatten(1);
    const Tensor pattern = attention_with_weights(query, key, value, causal).weights;
    return matmul(hook_pattern(pattern), value).transpose(0, 1).flatten(1);
  }

  tend::lens::HookPoint hook_pattern{"hook_pattern"};
  TEND_PARAMETER(tokens);
  TEND_PARAMETER(places);
  TEND_PARAMETER(head);
  TEND_PARAMETER(query_key_value);
  TEND_PARAMETER(out);
  TEND_PARAMETER(up);
  TEND_PARAMETER(down);
};

/// The letters of all names in sorted order, and then the character that begins and ends a name. A
/// token is an index into this text.
std::string letters_of(const Words& names) {
  std::set<char> letters;
  for (const std::string& name : names) letters.insert(name.begin(), name.end());
  return std::string(letters.begin(), letters.end()) + '\n';
}

Tensor tokens_of(const std::string& text, const std::string& letters) {
  std::vector<std::int64_t> tokens;
  for (const char c : text) tokens.push_back(static_cast<std::int64_t>(letters.find(c)));
  return tend::tensor(tokens);
}

/// Samples a name, letter by letter.
std::string sample(const MicroGPT& model, const std::string& letters, PythonRandom& random) {
  const tend::NoGradGuard no_grad;
  std::string text = "\n";
  for (std::int64_t i = 0; i < kBlock; ++i) {
    const Tensor logits = model(tokens_of(text, letters)).select(0, -1);
    const char next = letters[random.choice(softmax(logits / 0.5, -1).to_vector<double>())];
    if (next == '\n') break;
    text += next;
  }
  return text.substr(1);
}

/// The attention of each letter of the name.
Maps patterns_of(const MicroGPT& model, const std::string& letters, const std::string& name) {
  const tend::NoGradGuard no_grad;
  const Tensor ids = tokens_of('\n' + name, letters);
  const Tensor patterns = tend::lens::run_with_cache(model, ids).cache["hook_pattern"];
  Words labels{"start"};
  for (const char letter : name) labels.emplace_back(1, letter);
  return {{{"head", {"0", "1", "2", "3"}}},       labels,   labels,
          patterns.flatten().to_vector<double>(), "letter", "attends to"};
}

/// Trains the model. Returns the loss of every step.
Curve train(MicroGPT& model, const Words& names, const std::string& letters, int steps) {
  tend::optim::Adam optimizer(model.parameters(), {.betas = {0.85, 0.99}});
  Curve curve{"loss", {}, {}, /*is_smoothed=*/true};
  for (int step = 0; step < steps; ++step) {
    const std::string& name = names[static_cast<std::size_t>(step) % names.size()];
    const Tensor tokens = tokens_of('\n' + name + '\n', letters);
    const std::int64_t count = std::min(kBlock, tokens.size(0) - 1);
    const Tensor logits = model(tokens.narrow(0, 0, count));
    const Tensor loss = cross_entropy(logits, tokens.narrow(0, 1, count));
    optimizer.zero_grad();
    loss.backward();
    optimizer.set_lr(0.01 * (1 - static_cast<double>(step) / steps));
    optimizer.step();
    curve.x.push_back(step + 1);
    curve.y.push_back(loss.item());
  }
  return curve;
}

lab::Findings run(const lab::Call& call, const std::string& path) {
  if (path.empty() && !call.quick) throw std::invalid_argument("--names FILE is required");
  const std::string published =
      "kamon ann karai jaire vialan karia yeran anna areli kaina konna keylen liole alerin earan "
      "lenne kana lara alela anton";
  Words names{"anna", "karia", "lenne", "lara"};
  if (std::ifstream file(path); file) names = {std::istream_iterator<std::string>(file), {}};
  PythonRandom random(call.seed);
  random.shuffle(names);
  const std::string letters = letters_of(names);
  MicroGPT model(random, std::ssize(letters));

  const int steps = call.quick ? 50 : 1000;
  const auto start = std::chrono::steady_clock::now();
  const Curve losses = train(model, names, letters, steps);
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
  std::string reached = sample(model, letters, random);
  const Maps patterns = patterns_of(model, letters, reached);
  for (int i = 1; i < 20; ++i) reached += ' ' + sample(model, letters, random);

  lab::Findings findings;
  findings.compare("loss at step 1000", 2.6497, losses.y.back(), 0.5e-4);
  findings.compare_text("twenty names", published, reached);
  findings.add("microseconds per step, in tensor operations (published for other machines)",
               "49,000 in CPython, 270 in C++, 118 in Rust, 3.0 in C with the derivative by hand",
               lab::number(took.count() / steps, 0), {});
  findings.show("Loss", tend::nn::Chart{{{"", {losses}}}},
                "Each step uses one name, so the loss depends on how common the name is.");
  findings.show("Attention", patterns,
                "The attention of the four heads for the first of the twenty names.");
  return findings;
}

}  // namespace

int main(int argc, char** argv) {
  lab::Program program(
      {.name = "microgpt",
       .title = "microgpt",
       .question = "Does a GPT of 4,192 parameters give the loss and names of a Python program?",
       .source = "A. Karpathy, microgpt, 2026, "
                 "https://gist.github.com/karpathy/8627fe009c40f57531cb18360106ce95",
       .settings = {{"model", "1 layer, width 16, 4 heads, 16 tokens, float64"},
                    {"training", "1,000 steps of Adam, one name each, rate 0.01 to 0"},
                    {"sampling", "20 names, temperature 0.5"}},
       .seed = 42});
  std::string names;
  program.line()
      .add_file("--names", names, "File of names, one per line (makemore's names.txt)")
      .must_exist();
  return program.run(argc, argv, [&](const lab::Call& call) { return run(call, names); });
}
