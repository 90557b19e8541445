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
      "Folder of the files that are written, created if missing; a file name below goes there, a "
      "path does not (default: the folder of --resume, or the current folder)")
      ->type_name("DIR");
  add("--report", o.report, "Page to write, or \"none\"");
  add("--checkpoint", o.checkpoint, "Checkpoint to write, or \"none\"");
  add("--json", o.json,
      "Results to write as JSON, or \"none\" (layers and heads are counted from 1)");
  add("--resume", o.resume,
      "Checkpoint to go on from, or the folder of a run for its last one, with its settings, of "
      "which only --text and --steps can be given. With other steps the learning rate's cosine "
      "ends with them. Files beside the checkpoint may be replaced. With --prompt and no --steps "
      "nothing is trained, and only files that are named are written");
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

// An option for each kind of number, with its value as the default.

void add_number(program::CommandLine& line, const OptionText& text, std::uint64_t& target) {
  line.add_whole(text.option, target, text.help)
      ->default_str(std::to_string(target))
      ->group(text.group);
}
void add_number(program::CommandLine& line, const OptionText& text, double& target) {
  line.add_number(text.option, target, text.help)->default_str(shortest(target))->group(text.group);
}
/// A deviation: a number, or "fan" for one that depends on each matrix.
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
  app.add_option("--task", o.options.task, "What to learn")
      ->group("Task")
      ->capture_default_str()
      ->type_name("NAME")
      ->check(CLI::IsMember(task_names()));
  line.add_file("--text", o.options.text, "Model this file, or pipe, byte by byte instead")
      ->group("Task")
      ->excludes("--task");
  for_each_option(o.options, [&](const OptionText& text, auto& target, const Range&) {
    add_number(line, text, target);
  });
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
  line.add_threads();
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
      ->group(kSampleGroup);
  line.add_whole("--sample", s.size, "Bytes to write after each beginning", 1, 1'000'000)
      ->default_str(std::to_string(s.size))
      ->group(kSampleGroup);
  line.add_number("--temperature", s.temperature,
                  "Lower: likelier bytes are drawn; 0: the likeliest. --seed decides the draws", 0)
      ->default_str(shortest(s.temperature))
      ->group(kSampleGroup);
  line.add_whole("--top-k", s.top_k, "Draw from the K likeliest bytes alone (default: all)", 1)
      ->group(kSampleGroup);
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
      "The program exits with 1 when a file or standard output could not be written, and with 2 "
      "for wrong usage. A checkpoint has a checksum, and a damaged one is refused.");
  app.get_formatter()->column_width(34);
}

/// The checkpoint decides these: given as well, they would be ignored or contradict it.
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
