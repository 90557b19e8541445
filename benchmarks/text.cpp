// Tokenizers: B is the rate of bytes of text. Without options a vocabulary is trained on a text
// that is made here; `text --text FILE` takes that text, `--vocab vocab.json --merges merges.txt`
// or
// `--tokenizer tokenizer.json` that vocabulary.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <tend/nn/text/byte_pair_encoding.h>

#include "examples/program.h"
#include "program.h"

using namespace tend;
using nn::BytePairEncoding;

namespace {

struct Options {
  std::string text, vocab, merges, tokenizer;
};

std::string read_file(const std::string& path) {
  if (std::filesystem::is_directory(path)) throw std::runtime_error(path + " is a folder");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Words of random letters, the first ones often, with punctuation, code, Greek, Chinese and emoji.
std::string made_text(std::size_t bytes) {
  std::mt19937 random(1);
  std::vector<std::string> words;
  for (int i = 0; i < 5000; ++i) {
    std::string word;
    for (auto letters = 1 + random() % 9; letters > 0; --letters)
      word += "etaoinshrdlucmfwypvbgk"[std::min(random() % 22, random() % 22)];
    words.push_back(std::move(word));
  }
  const std::vector<std::string> others{", ",
                                        ". ",
                                        "\n",
                                        " = 3.14;\n  ",
                                        " \xCE\xB1\xCE\xB2",
                                        "\xE4\xBD\xA0\xE5\xA5\xBD",
                                        " \xF0\x9F\x98\x80",
                                        "'s"};
  std::string text;
  while (text.size() < bytes) {
    // The n-th word comes about as often as in a natural language: 1 / n.
    const double place = std::pow(5000.0, std::uniform_real_distribution<>()(random));
    text += words[static_cast<std::size_t>(place) - 1];
    text += random() % 6 == 0 ? others[random() % others.size()] : " ";
  }
  return text;
}

BytePairEncoding tokenizer_of(const Options& options, const std::string& text) {
  if (!options.tokenizer.empty()) {
    return BytePairEncoding::load_tokenizer_json(options.tokenizer, {.ignore_normalizer = true});
  }
  if (!options.vocab.empty()) return BytePairEncoding::load(options.vocab, options.merges);
  return BytePairEncoding::train(text, {.vocab_size = 5000});
}

template <class F>
void measure(const std::string& name, double bytes, F f) {
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(f());
    state.counters["B"] = benchmarks::rate(bytes);
  })->Unit(benchmark::kMillisecond);
}

void add_benchmarks(const Options& options) {
  const std::string text = options.text.empty() ? made_text(1'000'000) : read_file(options.text);
  const BytePairEncoding tokenizer = tokenizer_of(options, text);
  const auto ids = tokenizer.encode(text);
  const auto size = static_cast<double>(text.size());
  benchmark::AddCustomContext("text", std::to_string(text.size()) + " bytes, " +
                                          std::to_string(ids.size()) + " ids of " +
                                          std::to_string(tokenizer.vocab_size()));
  measure("encode", size, [=] { return tokenizer.encode(text); });
  measure("decode", size, [=] { return tokenizer.decode(ids); });
  std::string letters;  // without a space: one piece
  for (const char c : text) {
    if (c >= 'a' && c <= 'z') letters += c;
  }
  measure("encode/one_piece", static_cast<double>(letters.size()),
          [=] { return tokenizer.encode(letters); });
  measure("train/5000", size,
          [=] { return BytePairEncoding::train(text, {.vocab_size = 5000}).vocab_size(); });
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  std::vector<std::string> rest;
  program::CommandLine line("text", "How fast texts are encoded");
  line.add_text("--text", options.text, "A text");
  program::Option vocab = line.add_text("--vocab", options.vocab, "GPT-2's vocab.json");
  vocab.needs(line.add_text("--merges", options.merges, "Its merges.txt").needs(vocab));
  line.add_text("--tokenizer", options.tokenizer, "A tokenizer.json").excludes(vocab);
  line.add_rest(rest, "Google Benchmark's options are taken, too.");
  return line.run(argc, argv, [&] {
    add_benchmarks(options);
    return benchmarks::run(argv[0], rest);
  });
}
