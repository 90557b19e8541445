// Trains a small causal transformer on a task that shows what attention learns, and writes a page
// about it.

#include <exception>
#include <iostream>
#include <optional>
#include <stdexcept>

#include "checkpoint.h"
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

/// A new training, or the one that a checkpoint holds.
Training prepare(const Options& options) {
  Settings settings = options.settings;
  if (!options.resume.empty()) {
    settings = checkpoint_settings(options.resume);
    settings.text = options.settings.text.empty() ? settings.text : options.settings.text;
    settings.steps = options.steps.value_or(settings.steps);
  }
  Training training(settings, task_of(settings));
  if (!options.resume.empty()) load_checkpoint(training, options.resume);
  return training;
}

void run(Training& training) {
  Progress progress;
  while (!training.is_complete() && !interrupted()) {
    training.step();
    progress.show(standing(training));
  }
}

void write_results(const Options& options, Training& training) {
  if (!options.checkpoint.empty()) save_checkpoint(training, options.checkpoint);
  const Report report = make_report(training);
  if (!options.report.empty()) write_file(options.report, render_html(report));
  if (!options.json.empty()) write_file(options.json, results_json(report, training.settings.seed));
  std::cout << summary(report);
  for (const std::string& file : {options.report, options.checkpoint, options.json}) {
    if (!file.empty()) std::cout << "wrote " << file << '\n';
  }
}

int train(const Options& options) {
  for (const std::string& file : {options.report, options.checkpoint, options.json}) {
    if (!file.empty()) check_can_write(file);
  }
  if (options.threads) tend::set_num_threads(*options.threads);
  Training training = prepare(options);
  note_interrupts();
  std::cout << introduction(training) << std::flush;
  run(training);
  write_results(options, training);
  return interrupted() ? kInterrupted : 0;
}

}  // namespace

}  // namespace train

int main(int argc, char** argv) {
  int exit_code = 0;
  const std::optional<train::Options> options = train::parse_options(argc, argv, exit_code);
  if (!options) return exit_code;
  try {
    return train::train(*options);
  } catch (const std::invalid_argument& error) {
    return train::explain_usage(error.what());
  } catch (const std::exception& error) {
    std::cerr << "train: " << error.what() << '\n';
    return 1;
  }
}
