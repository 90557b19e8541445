// Trains a small causal transformer on a task that shows what attention learns, and writes a page
// about it.

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
#include "examples/train/run/course.h"
#include "examples/train/run/files.h"
#include "examples/train/run/outcome.h"
#include "examples/train/run/output_files.h"
#include "examples/train/run/results.h"
#include "examples/train/run/training.h"

namespace train {

namespace {

constexpr int kSignalled = 128;  // a shell reports 128 + N for a program that signal N ended

Task task_of(const Options& options) {
  return options.task == "text" ? make_text_task(read_file(options.text), options.length)
                                : make_task(options.task, options.length);
}

/// What the command line asks for besides fits the task.
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

void go_on(const Checkpoint& checkpoint, Training& training) {
  checkpoint.restore(training);
  if (training.steps_done() <= training.steps_planned()) return;
  throw std::invalid_argument("the checkpoint is at step " + std::to_string(training.steps_done()) +
                              ", beyond --steps " + std::to_string(training.steps_planned()));
}

void explain_failure(const std::exception& error) {
  std::cerr << "train: " << error.what() << '\n';
}

/// The files of a run, each for itself: what cannot be written is reported on stderr, and the rest
/// is written all the same.
class Results {
 public:
  /// write(file), unless there is to be none.
  template <class Write>
  void write(const std::string& file, Write write) {
    if (file.empty() || !attempt(file, write)) return;
    written_ += "wrote " + file + '\n';
  }
  const std::string& written() const { return written_; }
  bool complete() const { return complete_; }

 private:
  template <class Write>
  bool attempt(const std::string& file, Write write) {
    try {
      write(file);
      return true;
    } catch (const std::exception& error) {
      explain_failure(error);
      complete_ = false;
      return false;
    }
  }

  std::string written_;
  bool complete_ = true;
};

/// Returns whether all files were written and the run met what was required of it.
bool finish(const CommandLine& command_line, Training& training, const Course& course,
            Results& results) {
  results.write(command_line.checkpoint, [&](const auto& file) {
    training.trainer.state.save(file, checkpoint_settings(training));
  });
  const Report report = make_report(training, course, command_line.sampling);
  results.write(command_line.report,
                [&](const auto& file) { tend::nn::write_file(file, render_html(report)); });
  results.write(command_line.json, [&](const auto& file) {
    tend::nn::write_file(file, results_json(report, training.options));
  });
  std::cout << summary(report) << results.written();
  const bool is_met = !command_line.require || report.exact_match >= *command_line.require;
  if (!is_met) {
    std::cerr << "train: " << percent(report.exact_match) << " of the held-out answers are right, "
              << "less than --require " << shortest(*command_line.require) << '\n';
  }
  return results.complete() && is_met;
}

int train(const CommandLine& command_line) {
  if (command_line.threads > 0) tend::set_num_threads(command_line.threads);
  std::optional<Checkpoint> checkpoint;  // to go on from
  if (!command_line.resume.empty()) checkpoint.emplace(command_line.resume);
  const Options options = options_of(command_line, checkpoint);
  check_fits_task(command_line, options.task);
  Processes processes(options.shards);
  // Files that are to be written are looked at before the text is read.
  if (processes.is_first()) check_files(command_line, options.text);
  Task task = task_of(options);
  if (command_line.sampling.prompt) encode(task, *command_line.sampling.prompt);
  Training training(options, std::move(task), processes,
                    {.folder = command_line.out.empty() ? "." : command_line.out,
                     .every = command_line.save_every,
                     .keep = command_line.keep});
  if (checkpoint) go_on(*checkpoint, training);
  if (processes.is_first()) prepare_folder(command_line);
  const tend::nn::InterruptGuard interrupts;
  if (processes.is_first()) std::cout << introduction(training) << std::flush;
  const Course course = train_to_end(training);
  Results results;
  if (!processes.is_first()) return 0;
  const bool is_good = finish(command_line, training, course, results);
  if (!course.failure.empty()) {
    std::cerr << "train: " << course.failure << "\n";
    return 1;
  }
  if (!results.complete() || !course.is_saved) return 1;
  const int signal = tend::nn::InterruptGuard::signal();
  if (signal != 0) return kSignalled + signal;
  return is_good ? 0 : 1;
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
  std::signal(SIGPIPE, SIG_IGN);  // who stops reading the output does not stop the training
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow further is an error as a full disk is
  return program::main_of("train", [&] { return train::run(argc, argv); });
}
