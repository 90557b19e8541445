#include "examples/train/run/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <iostream>
#include <string_view>

#include "examples/program.h"
#include "examples/train/page/format.h"
#include "examples/train/run/output_files.h"

namespace train {

namespace {

constexpr const char* kSampleGroup = "Samples of a text";

void add_files(program::CommandLine& line, CommandLine& o) {
  const auto add = [&line](const std::string& name, std::string& target, const std::string& help) {
    return line.add_file(name, target, help)->group("Files")->default_str(target);
  };
  add("--out", o.out,
      "Folder for the files that are written, created if missing. File names without a folder are "
      "put into it (default: the folder of --resume, or the current folder)")
      ->type_name("DIR");
  add("--report", o.report, "Web page to write, or \"none\"");
  add("--checkpoint", o.checkpoint, "Checkpoint to write, or \"none\"");
  add("--json", o.json,
      "JSON file of results to write, or \"none\" (layers and heads are counted from 1)");
  add("--resume", o.resume,
      "Continue from this checkpoint, or from the last checkpoint in this folder. The run has the "
      "checkpoint's settings, but --text and --steps may be given. The learning rate's cosine ends "
      "with --steps. Files in the folder of the checkpoint may be replaced. With --prompt and "
      "without --steps, the program does not train, and writes only the files that are named");
  line.add_flag("--overwrite", o.overwrite,
                "Replace existing files, and remove the checkpoints and logs of --save-every. "
                "Without this option, existing files are an error")
      ->group("Files");
  line.add_whole("--save-every", o.save_every,
                 "Also write a checkpoint to --out each time after this number of steps, and at "
                 "the end. It is named by its step (step-00000100.safetensors). Each step is also "
                 "written to log.jsonl and log.csv",
                 1)
      ->group("Files");
  line.add_whole("--keep", o.keep, "Keep only this number of the latest checkpoints", 1,
                 1'000'000'000)
      ->default_str(std::to_string(o.keep))
      ->group("Files");
}

// Adds an option for a number. The present value of the target is the default.

void add_number(program::CommandLine& line, const OptionText& text, std::uint64_t& target) {
  line.add_whole(text.option, target, text.help)
      ->default_str(std::to_string(target))
      ->group(text.group);
}
void add_number(program::CommandLine& line, const OptionText& text, double& target) {
  line.add_number(text.option, target, text.help)->default_str(shortest(target))->group(text.group);
}
/// A standard deviation: a number, or "fan" if it depends on the size of each matrix.
void add_number(program::CommandLine& line, const OptionText& text, std::optional<double>& target) {
  const std::string name = text.option;
  const auto set = [&target, name](const std::string& word) {
    target = program::parse_number<double>(word);
    if (!target && word != "fan")
      throw CLI::ValidationError(name, "expects a number or fan, not " + word);
  };
  line.app()
      .add_option_function<std::string>(name, set, text.help)
      ->type_name("NUMBER|fan")
      ->default_str(target ? shortest(*target) : "fan")
      ->group(text.group);
}

void add_options(program::CommandLine& line, CommandLine& o) {
  CLI::App& app = line.app();
  app.add_option("--task", o.options.task, "The task to learn")
      ->group("Task")
      ->capture_default_str()
      ->type_name("NAME")
      ->check(CLI::IsMember(task_names()));
  line.add_file("--text", o.options.text, "Learn to predict the bytes of this file or pipe instead")
      ->group("Task")
      ->excludes("--task");
  for_each_option(o.options, [&](const OptionText& text, auto& target, const Range&) {
    add_number(line, text, target);
  });
  const auto set_required = [&o](const std::string& text) {
    o.require = program::parse_number<double>(text);
    if (!o.require || *o.require < 0 || *o.require > 1)
      throw CLI::ValidationError("--require", "'" + text + "' is not a number from 0 to 1");
  };
  app.add_option_function<std::string>("--require", set_required,
                                       "Exit with 1 if the share of right held-out answers is "
                                       "smaller than this (not for texts)")
      ->type_name("SHARE")
      ->group("Training");
  line.add_threads();
}

void add_sampling(program::CommandLine& line, Sampling& s) {
  const auto set_prompt = [&s](const std::string& text) {
    if (text.empty()) throw CLI::ValidationError("--prompt", "the text is empty");
    s.prompt = text;
  };
  line.app()
      .add_option_function<std::string>("--prompt", set_prompt,
                                        "Continue this text (default: held-out beginnings)")
      ->type_name("TEXT")
      ->group(kSampleGroup);
  line.add_whole("--sample", s.size, "Number of bytes to generate after each beginning", 1,
                 1'000'000)
      ->default_str(std::to_string(s.size))
      ->group(kSampleGroup);
  line.add_number("--temperature", s.temperature,
                  "Lower values sample likelier bytes, 0 always chooses the likeliest byte. --seed "
                  "is the seed of the sampling",
                  0)
      ->default_str(shortest(s.temperature))
      ->group(kSampleGroup);
  line.add_whole("--top-k", s.top_k, "Sample only from the K likeliest bytes (default: all)", 1)
      ->group(kSampleGroup);
}

void describe_program(CLI::App& app) {
  std::string names;
  for (const std::string& name : task_names()) {
    names += " " + name;
  }
  app.footer(
      "Tasks:" + names +
      ". Each task has its own default settings, which learn it in seconds.\n"
      "Ctrl-C and SIGTERM end the run after the current step, with a checkpoint and a report. "
      "The program then exits with 130 or 143 (mpirun has its own status).\n"
      "A loss that is infinite or NaN also ends the run, and the program exits with 1. The report "
      "has the losses up to this step. The model and the checkpoint are from the last validation "
      "before this step.\n"
      "The program exits with 1 if a file or standard output cannot be written, and with 2 for "
      "wrong usage. A checkpoint has a checksum, and a damaged checkpoint is an error.");
  app.get_formatter()->column_width(34);
}

/// Throws for options that the checkpoint decides. They would be ignored, or contradict the
/// checkpoint.
void refuse_options_with_resume(const CLI::App& app) {
  constexpr std::array<std::string_view, 5> kAllowed{"--help", "--text", "--steps", "--threads",
                                                     "--require"};
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    const std::string group = option->get_group();
    if (option->count() > 0 && group != "Files" && group != kSampleGroup &&
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
    std::cout << app.help();
    throw;
  }
  if (!command_line.resume.empty()) refuse_options_with_resume(app);
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group() == kSampleGroup && option->count() > 0)
      command_line.sampling.given = option->get_name();
  }
  if (app.get_option("--steps")->count() > 0) {
    command_line.steps = command_line.options.steps;
    if (app.get_option("--max-steps")->count() == 0)
      command_line.options.max_steps = command_line.options.steps;
  }
  if (command_line.only_samples()) {
    if (app.get_option("--report")->count() == 0) command_line.report.clear();
    if (app.get_option("--checkpoint")->count() == 0) command_line.checkpoint.clear();
  }
}

}  // namespace

int explain_usage(const std::string& problem) {
  std::cerr << "train: " << problem << "\nTry train --help.\n";
  return 2;
}

std::optional<CommandLine> parse_command_line(int argc, const char* const* argv, int& exit_code) {
  try {
    // The command line is read twice. The first pass finds the task, which decides the defaults of
    // the second pass and of --help.
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
