// Trains a small causal transformer on a task that shows what attention learns, and writes a page
// about the result.

#include <csignal>
#include <exception>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <utility>

#include <tend/nn/files/write_file.h>
#include <tend/nn/training/interrupt.h>

#include "examples/program.h"
#include "examples/train/page/format.h"
#include "examples/train/run/checkpoint.h"
#include "examples/train/run/command_line.h"
#include "examples/train/run/outcome.h"
#include "examples/train/run/output_files.h"
#include "examples/train/run/results.h"
#include "examples/train/run/training.h"

namespace train {

namespace {

constexpr int kSignalled = 128;  // a shell reports 128 + N for a program ended by signal N

Task task_of(const Options& options) {
  return options.task == "text" ? make_text_task(read_text_file(options.text), options.length)
                                : make_task(options.task, options.length);
}

/// Throws std::invalid_argument for options that are not for this task.
void check_fits_task(const CommandLine& command_line, const std::string& task) {
  if (task != "text" && !command_line.sampling.given.empty())
    throw std::invalid_argument(command_line.sampling.given + " is for texts, not for " + task);
  if (task == "text" && command_line.require)
    throw std::invalid_argument("--require is for tasks with right answers, not for a text");
}

Options options_of(const CommandLine& command_line, const std::optional<Checkpoint>& checkpoint) {
  if (!checkpoint) return command_line.options;
  Options options = checkpoint->options();
  if (options.task != "text" && !command_line.options.text.empty())
    throw std::invalid_argument("--text is not for the checkpoint's task, " + options.task);
  options.text = command_line.options.text.empty() ? options.text : command_line.options.text;
  if (command_line.steps) options.steps = options.max_steps = *command_line.steps;
  return options;
}

void resume_from(const Checkpoint& checkpoint, Training& training, bool only_samples) {
  checkpoint.restore(training);
  if (only_samples) training.end_here();
  if (training.steps_done() <= training.steps_planned()) return;
  throw std::invalid_argument("the checkpoint is at step " + std::to_string(training.steps_done()) +
                              ", beyond --steps " + std::to_string(training.steps_planned()));
}

/// Writes all files, and returns the exit code. If a file cannot be written, prints the error on
/// stderr and continues with the others.
int finish(const CommandLine& command_line, Training& training, const Course& course) {
  const Report report = make_report(training, course, command_line.sampling);
  std::string written;
  bool all_written = true;
  const auto write = [&](const std::string& file, const auto& save) {
    if (file.empty()) return;
    try {
      save();
      written += "wrote " + file + '\n';
    } catch (const std::exception& error) {
      std::cerr << "train: " << error.what() << '\n';
      all_written = false;
    }
  };
  write(command_line.checkpoint, [&] {
    training.trainer.state.save(command_line.checkpoint, checkpoint_settings(training));
  });
  write(command_line.report,
        [&] { tend::nn::write_file(command_line.report, render_html(report)); });
  write(command_line.json,
        [&] { tend::nn::write_file(command_line.json, results_json(report, training.options)); });
  std::cout << summary(report) << written;
  const bool is_met = !command_line.require || report.exact_match >= *command_line.require;
  if (!is_met) {
    std::cerr << "train: " << percent(report.exact_match) << " of the held-out answers are right, "
              << "less than --require " << shortest(*command_line.require) << '\n';
  }
  const int signal = tend::nn::InterruptGuard::signal();
  if (!all_written) return 1;
  if (signal != 0) return kSignalled + signal;
  return is_met ? 0 : 1;
}

int train(const CommandLine& command_line) {
  std::optional<Checkpoint> checkpoint;  // of --resume
  if (!command_line.resume.empty()) checkpoint.emplace(command_line.resume);
  const Options options = options_of(command_line, checkpoint);
  check_fits_task(command_line, options.task);
  Processes processes(options.shards);
  if (processes.is_first()) check_files(command_line);
  Task task = task_of(options);
  if (command_line.sampling.prompt) encode(task, *command_line.sampling.prompt);
  Training training(options, std::move(task), processes,
                    {.folder = command_line.out.empty() ? "." : command_line.out,
                     .every = command_line.save_every,
                     .keep = command_line.keep});
  if (checkpoint) resume_from(*checkpoint, training, command_line.only_samples());
  if (processes.is_first()) clear_folder(command_line);
  const tend::nn::InterruptGuard interrupts;
  if (processes.is_first()) std::cout << introduction(training) << std::flush;
  const Course course = train_to_end(training);
  if (!processes.is_first()) return 0;
  const int exit_code = finish(command_line, training, course);
  if (!course.failure.empty()) std::cerr << "train: " << course.failure << '\n';
  return course.failure.empty() ? exit_code : 1;
}

int run(int argc, const char* const* argv) {
  try {
    int exit_code = 0;
    const std::optional<CommandLine> command_line = parse_command_line(argc, argv, exit_code);
    return command_line ? train(*command_line) : exit_code;
  } catch (const std::invalid_argument& error) {
    return explain_usage(error.what());
  }
}

}  // namespace

}  // namespace train

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed output does not end the training
  return program::main_of("train", [&] { return train::run(argc, argv); });
}
