// Times the tokenizer. B is the rate in bytes of text. `text --text FILE` trains a vocabulary on
// the file. With `--vocab vocab.json --merges merges.txt` it reads GPT-2's vocabulary instead.
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <tend/nn/files/file_name.h>
#include <tend/nn/text/byte_pair_encoding.h>

#include "examples/program.h"
#include "program.h"

using namespace tend;
using nn::BytePairEncoding;

namespace {

struct Options {
  std::string text, vocab, merges;
};

BytePairEncoding tokenizer_of(const Options& options, const std::string& text) {
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
  const std::filesystem::path path = options.text;
  const std::string text = nn::read_text({"text", path});
  const BytePairEncoding tokenizer = tokenizer_of(options, text);
  const auto ids = tokenizer.encode(text);
  const auto size = static_cast<double>(text.size());
  benchmark::AddCustomContext("text", std::to_string(text.size()) + " bytes, " +
                                          std::to_string(ids.size()) + " ids of " +
                                          std::to_string(tokenizer.vocab_size()));
  measure("encode", size, [=] { return tokenizer.encode(text); });
  measure("decode", size, [=] { return tokenizer.decode(ids); });
  std::string letters;  // without spaces, so the text is one piece
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
  program::CommandLine line("text", "Times encoding, decoding and training of a tokenizer");
  line.add_text("--text", options.text, "The text file to encode").required();
  program::Option vocab = line.add_text("--vocab", options.vocab, "GPT-2's vocab.json");
  vocab.needs(line.add_text("--merges", options.merges, "GPT-2's merges.txt").needs(vocab));
  line.add_rest(rest, "Google Benchmark's options are accepted too.");
  return line.run(argc, argv, [&] {
    add_benchmarks(options);
    return benchmarks::run(argv[0], rest);
  });
}
