// Continues a text with a model from a Hugging Face folder: config.json, safetensors files, and
// tokenizer.json or vocab.json and merges.txt.

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tend/attention/generation/generate.h>
#include <tend/attention/pretrained/load_pretrained.h>
#include <tend/core/random/random.h>
#include <tend/core/threads/parallel.h>
#include <tend/nn/text/byte_pair_encoding.h>

#include "examples/program.h"

#include <nlohmann/json.hpp>

namespace {

using tend::attention::GenerateOptions;
using tend::attention::TokenSequence;
using Clock = std::chrono::steady_clock;

constexpr double kTemperature = 0.8;

struct Options {
  std::string folder;
  std::string prompt;
  std::string json_path;
  std::uint64_t seed = 0;
  bool ignores_normalizer = false;
  bool reads_special_tokens = false;
  std::optional<double> temperature;
  GenerateOptions generation{.max_new_tokens = 100};
};

void add_options(program::CommandLine& line, Options& options) {
  line.add_text("folder", options.folder, "Folder with config.json, weights and tokenizer")
      .required();
  line.add_text("--prompt", options.prompt, "The text to continue; - reads standard input")
      .required();
  GenerateOptions& o = options.generation;
  line.add_whole("--max-new-tokens", o.max_new_tokens, "Length of the continuation (100)");
  line.add_number("--temperature", options.temperature,
                  "0 chooses the likeliest tokens, higher values vary more (0.8)", 0);
  line.add_whole("--top-k", o.top_k, "Sample from the k likeliest tokens", 1, 4'294'967'295);
  line.add_number("--top-p", o.top_p,
                  "Sample from the likeliest tokens that together have this probability");
  line.add_number("--min-p", o.min_p,
                  "Sample from tokens with at least this share of the largest probability");
  line.add_number("--repetition-penalty", o.repetition_penalty,
                  "Above 1 makes tokens that already occurred less likely (1)", 0);
  line.add_whole("--num-samples", o.num_samples, "Number of continuations (1)", 1, 1000);
  line.add_whole("--num-beams", o.num_beams,
                 "Above 1 searches for the likeliest continuation by beam search (1)", 1, 1000);
  line.add_flag("--no-cache", o.use_cache,
                "Compute the keys and values of all tokens again for each new token", false);
  line.add_flag("--special-tokens", options.reads_special_tokens,
                "Read special tokens in the prompt, such as <|begin_of_text|>, as single tokens");
  line.add_flag("--ignore-normalizer", options.ignores_normalizer,
                "Accept a tokenizer.json with a normalizer (Qwen's NFC), without applying it. The "
                "tokens are right for texts that the normalizer would not change");
  line.add_whole("--seed", options.seed, "Seed of the sampling (0)");
  line.add_threads();
  line.add_file("--json", options.json_path, "Write the texts, tokens and times to this file");
}

/// Sets the temperature. Throws std::invalid_argument for options that contradict each other.
void settle_sampling(Options& options) {
  GenerateOptions& o = options.generation;
  if (o.top_p && !(*o.top_p > 0 && *o.top_p <= 1))
    throw std::invalid_argument("--top-p must be above 0 and at most 1");
  if (o.min_p && !(*o.min_p >= 0 && *o.min_p <= 1))
    throw std::invalid_argument("--min-p must be from 0 to 1");
  if (!(o.repetition_penalty > 0))
    throw std::invalid_argument("--repetition-penalty must be above 0");
  if (o.num_beams > 1 && options.temperature.value_or(0) != 0) {
    throw std::invalid_argument(
        "--num-beams searches and does not sample: --temperature must be 0");
  }
  o.temperature = o.num_beams > 1 ? 0 : options.temperature.value_or(kTemperature);
  if (o.temperature == 0 && o.num_beams == 1 && o.num_samples > 1)
    throw std::invalid_argument(
        "--num-samples with --temperature 0 would give the same text each time");
  if (o.temperature == 0 && (o.top_k || o.top_p || o.min_p)) {
    throw std::invalid_argument(
        "--top-k, --top-p and --min-p are for sampling: with --num-beams, or --temperature 0, "
        "nothing is sampled");
  }
}

tend::nn::BytePairEncoding load_tokenizer(const Options& options) {
  const std::filesystem::path folder = options.folder;
  if (std::filesystem::exists(folder / "tokenizer.json")) {
    return tend::nn::BytePairEncoding::load_tokenizer_json(
        folder / "tokenizer.json", {.ignore_normalizer = options.ignores_normalizer});
  }
  return tend::nn::BytePairEncoding::load(folder / "vocab.json", folder / "merges.txt");
}

std::string read_prompt(const std::string& prompt) {
  if (prompt != "-") return prompt;
  return {std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
}

double seconds(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

/// The generated sequences, and how long they took.
struct Run {
  std::vector<TokenSequence> sequences;
  std::size_t prompt_tokens = 0;
  std::int64_t steps = 0;    // new tokens of the longest sequence
  std::int64_t later = 0;    // new tokens of all sequences, without the first of each
  double first_seconds = 0;  // until the first token, or with beams until the end
  double other_seconds = 0;
};

/// The text of the tokens. Many models round their number of tokens up, so they have more tokens
/// than their tokenizer. The additional tokens have no text.
std::string text_of(const tend::nn::BytePairEncoding& tokenizer, TokenSequence tokens) {
  std::erase_if(tokens, [&](std::int64_t token) { return token >= tokenizer.vocab_size(); });
  return tokenizer.decode(tokens);
}

Run run(const Options& options, const tend::attention::GPT& model,
        const tend::nn::BytePairEncoding& tokenizer, const TokenSequence& prompt) {
  GenerateOptions generation = options.generation;
  Run result;
  result.prompt_tokens = prompt.size();
  const Clock::time_point start = Clock::now();
  std::optional<Clock::time_point> first;
  if (generation.num_beams == 1) {
    generation.on_token = [&](std::size_t sequence, std::int64_t token) {
      if (!first) first = Clock::now();
      if (generation.num_samples == 1 && sequence == 0) {
        std::cout << text_of(tokenizer, {token}) << std::flush;
      }
      return true;
    };
  }
  result.sequences = generate(model, std::vector<TokenSequence>{prompt}, generation);
  const Clock::time_point end = Clock::now();
  for (const TokenSequence& each : result.sequences) {
    const std::int64_t tokens = std::ssize(each) - std::ssize(prompt);
    result.steps = std::max(result.steps, tokens);
    result.later += std::max<std::int64_t>(0, tokens - 1);
  }
  result.first_seconds = seconds(start, first.value_or(end));
  result.other_seconds = seconds(first.value_or(end), end);
  return result;
}

void print_speed(const Run& run, const Options& options) {
  const auto rate = [](double count, double time) { return time > 0 ? count / time : 0.0; };
  if (options.generation.num_beams > 1) {
    std::cerr << "searched for " << run.first_seconds << " s\n";
    return;
  }
  std::cerr << "prompt: " << run.prompt_tokens << " tokens in " << run.first_seconds << " s";
  if (run.steps > 1) {
    std::cerr << "; then " << rate(static_cast<double>(run.later), run.other_seconds)
              << " tokens/s";
  }
  std::cerr << '\n';
}

void write_json(const Run& run, const Options& options,
                const tend::nn::BytePairEncoding& tokenizer) {
  nlohmann::json json{
      {"folder", options.folder},
      {"seed", options.seed},
      {"threads", tend::num_threads()},
      {"prompt_tokens", run.prompt_tokens},
      {options.generation.num_beams > 1 ? "search_seconds" : "prompt_seconds", run.first_seconds},
      {"decode_steps", std::max<std::int64_t>(0, run.steps - 1)},
      {"decode_seconds", run.other_seconds},
      {"tokens", run.sequences}};
  for (const TokenSequence& each : run.sequences) json["texts"].push_back(text_of(tokenizer, each));
  // A character may consist of several tokens, so a text may end inside a character.
  program::write_results(options.json_path, [&] {
    return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
  });
}

int run(Options options) {
  program::check_can_write(options.json_path);
  settle_sampling(options);
  const auto tokenizer = load_tokenizer(options);
  const tend::attention::GPT model = tend::attention::load_pretrained(options.folder);
  options.generation.stop_tokens = tend::attention::pretrained_stop_tokens(options.folder);
  const std::string prompt = read_prompt(options.prompt);
  const TokenSequence tokens =
      tokenizer.encode(prompt, {.allow_special = options.reads_special_tokens});
  tend::manual_seed(options.seed);
  const bool streams = options.generation.num_samples == 1 && options.generation.num_beams == 1;
  if (streams) std::cout << prompt << std::flush;
  const Run result = run(options, model, tokenizer, tokens);
  if (streams) {
    std::cout << '\n';
  } else {
    for (const TokenSequence& each : result.sequences) {
      std::cout << text_of(tokenizer, each) << "\n---\n";
    }
  }
  print_speed(result, options);
  if (!options.json_path.empty()) write_json(result, options, tokenizer);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  program::CommandLine line(
      "generate",
      "Continues a text with a GPT-2, Llama, Mistral or Qwen model from a Hugging Face folder.");
  Options options;
  add_options(line, options);
  return line.run(argc, argv, [&] { return run(std::move(options)); });
}
