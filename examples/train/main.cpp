// Trains a small causal transformer on a task that shows what attention learns, and writes a page
// about it.

#include <csignal>
#include <exception>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <utility>

#include <tend/nn/write_file.h>

#include "checkpoint.h"
#include "examples/program.h"
#include "examples/progress_line.h"
#include "files.h"
#include "format.h"
#include "interrupt.h"
#include "options.h"
#include "outcome.h"
#include "progress.h"
#include "results.h"
#include "training.h"

namespace train {

namespace {

constexpr int kInterrupted = 130;  // what a shell reports for a program that Ctrl-C ended

Task task_of(const Settings& settings) {
  return settings.task == "text" ? make_text_task(read_file(settings.text), settings.length)
                                 : make_task(settings.task, settings.length);
}

/// A new training, or the one that a checkpoint holds. Files that are to be written are looked at
/// before the text is read.
Training prepare(const Options& options) {
  Settings settings = options.settings;
  std::optional<Checkpoint> checkpoint;
  if (!options.resume.empty()) {
    checkpoint.emplace(options.resume);
    settings = checkpoint->settings();
    if (settings.task != "text" && !options.settings.text.empty())
      throw std::invalid_argument("--text is not for the checkpoint's task, " + settings.task);
    settings.text = options.settings.text.empty() ? settings.text : options.settings.text;
    settings.steps = options.steps.value_or(settings.steps);
  }
  refuse_shared_files(options, settings.text);
  for (const std::string& file : {options.report, options.checkpoint, options.json}) {
    if (!file.empty()) tend::nn::check_can_write(file);
  }
  Task task = task_of(settings);
  if (!checkpoint) return Training(settings, std::move(task));
  Training training = checkpoint->resume(settings, std::move(task));
  if (training.steps_done() > settings.steps) {
    throw std::invalid_argument("the checkpoint is at step " +
                                std::to_string(training.steps_done()) + ", beyond --steps " +
                                std::to_string(settings.steps));
  }
  return training;
}

void run(Training& training) {
  program::ProgressLine progress;
  while (!training.is_complete() && !interrupted()) {
    training.step();
    if (progress.is_due()) progress.show(progress_line(standing(training)));
  }
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
    if (file.empty()) return;
    try {
      write(file);
      written_ += "wrote " + file + '\n';
    } catch (const std::exception& error) {
      explain_failure(error);
      complete_ = false;
    }
  }
  const std::string& written() const { return written_; }
  bool complete() const { return complete_; }

 private:
  std::string written_;
  bool complete_ = true;
};

bool write_results(const Options& options, Training& training) {
  Results results;
  results.write(options.checkpoint, [&](const auto& file) { save_checkpoint(training, file); });
  const Report report = make_report(training);
  results.write(options.report,
                [&](const auto& file) { tend::nn::write_file(file, render_html(report)); });
  results.write(options.json, [&](const auto& file) {
    tend::nn::write_file(file, results_json(report, training.settings.seed));
  });
  std::cout << summary(report) << results.written();
  return results.complete();
}

int train(const Options& options) {
  if (options.threads > 0) tend::set_num_threads(options.threads);
  Training training = prepare(options);
  note_interrupts();
  std::cout << introduction(training) << std::flush;
  run(training);
  if (!write_results(options, training)) return 1;
  return interrupted() ? kInterrupted : 0;
}

}  // namespace

}  // namespace train

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // who stops reading the output does not stop the training
  int exit_code = 0;
  const std::optional<train::Options> options = train::parse_options(argc, argv, exit_code);
  if (!options) return program::end("train", exit_code);
  try {
    return program::end("train", train::train(*options));
  } catch (const std::invalid_argument& error) {
    return train::explain_usage(error.what());
  } catch (const std::exception& error) {
    train::explain_failure(error);
    return 1;
  }
}
