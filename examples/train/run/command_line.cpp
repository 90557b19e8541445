#include "examples/train/run/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <iostream>
#include <string_view>

#include "examples/program.h"
#include "examples/train/page/format.h"
#include "examples/train/run/output_files.h"
#include "examples/train/run/processes.h"

namespace train {

namespace {

constexpr const char* kSamples = "Samples of a text";

/// A deviation: a number, or "fan" for one that depends on each matrix.
void add_deviation(CLI::App& app, const std::string& name, std::optional<double>& target,
                   const std::string& help) {
  app.add_option_function<std::string>(
         name,
         [&target, name](const std::string& text) {
           target = program::parse_number<double>(text);
           if (!target && text != "fan") {
             throw CLI::ValidationError(name, "expects a number or fan, not " + text);
           }
         },
         help)
      ->type_name("NUMBER|fan")
      ->default_str(target ? shortest(*target) : "fan")
      ->group("Training");
}

void add_files(program::CommandLine& line, CommandLine& o) {
  const auto add = [&line](const std::string& name, std::string& target, const std::string& help) {
    return line.add_file(name, target, help)->group("Files")->default_str(target);
  };
  add("--out", o.out,
      "Folder of all files that are written, created if missing; names below that are not absolute "
      "lie in it (default: the current folder)")
      ->type_name("DIR");
  add("--report", o.report, "Page to write, or \"none\"");
  add("--checkpoint", o.checkpoint, "Checkpoint to write, or \"none\"");
  add("--json", o.json,
      "Results to write as JSON, or \"none\" (layers and heads are counted from 1)");
  add("--resume", o.resume,
      "Checkpoint to go on from, or a folder of --save-every for its last one, with its settings, "
      "of which only --text and --steps can be given. With other steps the learning rate's cosine "
      "ends with them. Files beside the checkpoint may be replaced");
  line.add_flag("--overwrite", o.overwrite,
                "Replace files that are there, and remove checkpoints and logs of --save-every; "
                "without it they are refused")
      ->group("Files");
  line.add_whole("--save-every", o.save_every,
                 "Also write a checkpoint to --out every so many steps and at the end, named by "
                 "its step (step-00000100.safetensors), and each step to log.jsonl and log.csv",
                 1)
      ->group("Files");
  line.add_whole("--keep", o.keep, "How many of these checkpoints stay, the last ones", 1,
                 1'000'000'000)
      ->default_str(std::to_string(o.keep))
      ->group("Files");
}

// An option of the group for each kind of option, with its value as the default.

CLI::Option* add_run_option(program::CommandLine& line, const std::string& name,
                            std::uint64_t& target, const std::string& help) {
  return line.add_whole(name, target, help)->default_str(std::to_string(target));
}
CLI::Option* add_run_option(program::CommandLine& line, const std::string& name, double& target,
                            const std::string& help) {
  return line.add_number(name, target, help)->default_str(shortest(target));
}

void add_options(program::CommandLine& line, CommandLine& o) {
  CLI::App& app = line.app();
  Options& s = o.options;
  const auto add_to = [&line](const std::string& group, const std::string& name, auto& target,
                              const std::string& help) {
    add_run_option(line, name, target, help)->group(group);
  };
  app.add_option("--task", s.task, "What to learn")
      ->group("Task")
      ->capture_default_str()
      ->type_name("NAME")
      ->check(CLI::IsMember(task_names()));
  line.add_file("--text", s.text, "Model this file, or pipe, byte by byte instead")
      ->group("Task")
      ->excludes("--task");
  add_to("Task", "--length,--context", s.length,
         "Digits, letters or pairs of a sequence; bytes of a text");

  add_to("Model", "--layers", s.layers, "Transformer blocks");
  add_to("Model", "--heads", s.heads, "Attention heads of a block");
  add_to("Model", "--width", s.width, "Width, a multiple of the heads");
  add_to("Model", "--dropout", s.dropout, "Share of activations dropped in training");

  add_to("Training", "--steps", s.steps, "Optimizer steps");
  add_to("Training", "--max-steps", s.max_steps,
         "After --steps, two thousand held-out answers are checked (others than those of the final "
         "figures). While one is wrong, the run goes on to twice the steps, as with --resume, up "
         "to these. --steps without --max-steps stays as it is (not for texts)");
  add_to("Training", "--batch", s.batch, "Sequences of a step");
  add_to("Training", "--rate", s.rate, "Peak learning rate; a cosine leads down to 2 % of it");
  add_to("Training", "--warmup", s.warmup, "Steps until the peak");
  add_to("Training", "--beta1", s.beta1, "AdamW's first decay");
  add_to("Training", "--beta2", s.beta2, "AdamW's second decay");
  add_to("Training", "--weight-decay", s.weight_decay, "AdamW's weight decay, on matrices");
  add_to("Training", "--clip", s.clip, "Largest norm of the gradient");
  add_deviation(app, "--init", s.init,
                "Standard deviation of the initial weights; fan: 1/sqrt(inputs)");
  add_deviation(app, "--init-embedding", s.embedding_init,
                "The same of the embeddings; fan: as --init");
  const auto set_required = [&o](const std::string& text) {
    o.require = program::parse_number<double>(text);
    if (!o.require || *o.require < 0 || *o.require > 1)
      throw CLI::ValidationError("--require", "'" + text + "' is no number from 0 to 1");
  };
  app.add_option_function<std::string>("--require", set_required,
                                       "Exit with 1 if a smaller share of the held-out sequences "
                                       "is answered right (not for texts)")
      ->type_name("SHARE")
      ->group("Training");
  add_to("Training", "--seed", s.seed, "Seed of weights, batches and dropout");
  line.add_whole("--shards", s.shards,
                 "Divide each batch into so many parts, a power of two, which the processes of "
                 "mpirun share. Results depend on it, not on the number of processes",
                 1, 1 << 20)
      ->group("Training");
  line.add_whole("--threads", o.threads, "Threads to compute with; results do not depend on it", 1,
                 tend::kMaxThreads);
}

void add_sampling(program::CommandLine& line, Sampling& s) {
  const auto set_prompt = [&s](const std::string& text) {
    if (text.empty()) throw CLI::ValidationError("--prompt", "the text is empty");
    s.prompt = text;
  };
  line.app()
      .add_option_function<std::string>("--prompt", set_prompt,
                                        "Go on from this text; otherwise from held-out beginnings")
      ->type_name("TEXT")
      ->group(kSamples);
  line.add_whole("--sample", s.size, "Bytes to write after each beginning", 1, 1'000'000)
      ->default_str(std::to_string(s.size))
      ->group(kSamples);
  line.add_number("--temperature", s.temperature,
                  "Lower: likelier bytes are drawn; 0: the likeliest. --seed decides the draws", 0)
      ->default_str(shortest(s.temperature))
      ->group(kSamples);
  line.add_whole("--top-k", s.top_k, "Draw from the K likeliest bytes alone (default: all)", 1)
      ->group(kSamples);
}

void describe_program(CLI::App& app) {
  std::string names;
  for (const std::string& name : task_names()) {
    names += " " + name;
  }
  app.footer(
      "Tasks:" + names +
      ". Each has its own settings, with which it is learned in seconds; any of them can be "
      "changed.\n"
      "Ctrl-C and SIGTERM end the run after the current step with a checkpoint and a report; "
      "the program exits with 130 and 143 (mpirun with a status of its own).\n"
      "A loss that is infinite or no number ends it, too: with 1, the curve up to there, and "
      "the model and the checkpoint of the last validation before it.\n"
      "Each file is written for itself: the program exits with 1 when one could not be, or "
      "standard output, and with 2 for wrong usage. Links are followed; pipes and devices "
      "are written into. A checkpoint has a checksum, and a damaged one is refused.");
  app.get_formatter()->column_width(34);
}

/// The checkpoint decides these: given as well, they would be ignored or contradict it.
void refuse_options_with_resume(const CLI::App& app) {
  constexpr std::array<std::string_view, 5> kAllowed{"--help", "--text", "--steps", "--threads",
                                                     "--require"};
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    const std::string group = option->get_group();
    if (option->count() > 0 && group != "Files" && group != kSamples &&
        std::find(kAllowed.begin(), kAllowed.end(), name) == kAllowed.end()) {
      throw CLI::ValidationError(name, "is decided by the checkpoint that --resume names");
    }
  }
}

void parse(CommandLine& command_line, int argc, const char* const* argv, bool only_for_task) {
  program::CommandLine line(
      "train", "Trains a small causal transformer and shows what its attention heads learned.");
  CLI::App& app = line.app();
  describe_program(app);
  add_options(line, command_line);
  add_sampling(line, command_line.sampling);
  add_files(line, command_line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    if (only_for_task) return;
    if (was_started_first()) std::cout << app.help();
    throw;
  }
  if (!command_line.resume.empty()) {
    refuse_options_with_resume(app);
  }
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group() == kSamples && option->count() > 0)
      command_line.sampling.given = option->get_name();
  }
  if (app.get_option("--steps")->count() > 0) {
    command_line.steps = command_line.options.steps;
    if (app.get_option("--max-steps")->count() == 0)
      command_line.options.max_steps = command_line.options.steps;
  }
}

}  // namespace

int explain_usage(const std::string& problem) {
  std::cerr << "train: " << problem << "\nTry train --help.\n";
  return 2;
}

std::optional<CommandLine> parse_command_line(int argc, const char* const* argv, int& exit_code) {
  try {
    // Read twice: the first time for the task, which decides what the second time starts from (and
    // what --help calls the defaults).
    CommandLine first;
    parse(first, argc, argv, /*only_for_task=*/true);
    CommandLine command_line;
    command_line.options =
        default_options(first.options.text.empty() ? first.options.task : "text");
    parse(command_line, argc, argv, /*only_for_task=*/false);
    place_files(command_line);
    validate(command_line.options);
    return command_line;
  } catch (const CLI::CallForHelp&) {
    exit_code = 0;
  } catch (const CLI::ParseError& error) {
    exit_code = explain_usage(error.what());
  } catch (const std::invalid_argument& error) {
    exit_code = explain_usage(error.what());
  }
  return std::nullopt;
}

}  // namespace train
