// Continues a text with a model from a Hugging Face folder: config.json, safetensors files, and
// tokenizer.json or vocab.json and merges.txt.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <tend/attention/generation/generate.h>
#include <tend/attention/pretrained/load_pretrained.h>
#include <tend/core/random/random.h>
#include <tend/core/threads/parallel.h>
#include <tend/nn/files/write_file.h>
#include <tend/nn/text/byte_pair_encoding.h>

#include "examples/program.h"

#include <nlohmann/json.hpp>

namespace {

using tend::attention::GenerateOptions;
using tend::attention::TokenSequence;
using Clock = std::chrono::steady_clock;

struct Options {
  std::string folder;
  std::string prompt;
  std::string json_path;
  std::uint64_t seed = 0;
  int threads = 0;
  bool ignores_normalizer = false;
  bool reads_special_tokens = false;
  GenerateOptions generation{.max_new_tokens = 100, .temperature = 0.8};
};

/// An option that is absent unless it is given.
void add_optional(CLI::App& app, const std::string& name, std::optional<double>& target,
                  const std::string& help) {
  const auto set = [&target, name](const std::string& text) {
    target = program::parse_number<double>(text);
    if (!target) throw CLI::ValidationError(name, "'" + text + "' is no finite number");
  };
  app.add_option_function<std::string>(name, set, help)->type_name("FLOAT");
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("folder", options.folder, "Folder with config.json, weights and tokenizer")
      ->required();
  app.add_option("--prompt", options.prompt, "The text to continue; - reads standard input")
      ->required();
  GenerateOptions& o = options.generation;
  program::add_whole(app, "--max-new-tokens", o.max_new_tokens, "Length of the continuation (100)");
  program::add_number(app, "--temperature", o.temperature,
                      "0 takes the likeliest tokens, higher ones vary more (0.8)", 0);
  const auto set_top_k = [&o](const std::string& text) {
    const auto value = program::parse_number<std::uint32_t>(text);
    if (!value || *value == 0) throw CLI::ValidationError("--top-k", "'" + text + "' is no count");
    o.top_k = *value;
  };
  app.add_option_function<std::string>("--top-k", set_top_k, "Draw from the k likeliest tokens")
      ->type_name("UINT");
  add_optional(app, "--top-p", o.top_p, "Draw from the likeliest tokens of this probability");
  add_optional(app, "--min-p", o.min_p, "Draw from tokens of this share of the likeliest's");
  program::add_number(app, "--repetition-penalty", o.repetition_penalty,
                      "Above 1 makes tokens that are there less likely (1)", 0);
  program::add_whole(app, "--num-samples", o.num_samples, "How many continuations (1)", 1, 1000);
  program::add_whole(app, "--num-beams", o.num_beams,
                     "Above 1 searches for the likeliest continuation (1)", 1, 1000);
  app.add_flag(
      "--no-cache", [&o](std::int64_t) { o.use_cache = false; },
      "Compute keys and values of all tokens for each new one");
  app.add_flag("--special-tokens", options.reads_special_tokens,
               "Special tokens in the prompt, such as <|begin_of_text|>, become their ids");
  app.add_flag("--ignore-normalizer", options.ignores_normalizer,
               "Read a tokenizer.json with a normalizer (Qwen's NFC), which is not applied: right "
               "for texts that it would leave alone");
  program::add_whole(app, "--seed", options.seed, "Seed of the draws (0)");
  program::add_threads(app, options.threads);
  program::add_file(app, "--json", options.json_path, "Write texts, tokens and times to this file");
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

/// What was generated, and how long it took.
struct Run {
  std::vector<TokenSequence> sequences;
  std::size_t prompt_tokens = 0;
  std::int64_t steps = 0;    // new tokens of the longest sequence
  double first_seconds = 0;  // until the first token; with beams until the end
  double other_seconds = 0;
};

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
        std::cout << tokenizer.decode({token}) << std::flush;
      }
      return true;
    };
  }
  result.sequences = generate(model, std::vector<TokenSequence>{prompt}, generation);
  const Clock::time_point end = Clock::now();
  for (const TokenSequence& each : result.sequences) {
    result.steps = std::max(result.steps, std::ssize(each) - std::ssize(prompt));
  }
  result.first_seconds = seconds(start, first.value_or(end));
  result.other_seconds = seconds(first.value_or(end), end);
  return result;
}

void print_speed(const Run& run, const Options& options) {
  const auto rate = [](double count, double time) { return time > 0 ? count / time : 0.0; };
  const auto each = static_cast<double>(run.sequences.size());
  if (options.generation.num_beams > 1) {
    std::cerr << "searched for " << run.first_seconds << " s\n";
    return;
  }
  std::cerr << "prompt: " << run.prompt_tokens << " tokens in " << run.first_seconds << " s";
  if (run.steps > 1) {
    std::cerr << "; then " << rate(static_cast<double>(run.steps - 1) * each, run.other_seconds)
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
  for (const TokenSequence& each : run.sequences) json["texts"].push_back(tokenizer.decode(each));
  // Tokens may cut a character in two.
  tend::nn::write_file(options.json_path,
                       json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

void work(Options& options) {
  if (!options.json_path.empty()) tend::nn::check_can_write(options.json_path);
  if (options.threads > 0) tend::set_num_threads(options.threads);
  if (options.generation.num_beams > 1) options.generation.temperature = 0;
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
      std::cout << tokenizer.decode(each) << "\n---\n";
    }
  }
  print_speed(result, options);
  if (!options.json_path.empty()) write_json(result, options, tokenizer);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Continues a text with a GPT-2, Llama, Mistral or Qwen from a Hugging Face folder."};
  Options options;
  add_options(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return program::end_of_parsing("generate", app, error);
  }
  try {
    work(options);
  } catch (const std::exception& error) {
    std::cerr << "generate: " << error.what() << '\n';
    return program::end("generate", 1);
  }
  return program::end("generate", 0);
}
