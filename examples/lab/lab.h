// Shared by all programs of the laboratory: the command line, the table of published and reached
// results, and the page.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <tend/nn/training/run_page.h>

#include "examples/program.h"

namespace lab {

/// The description of an experiment, for --help and for the page.
struct Experiment {
  std::string name;                                           ///< The name of the program.
  std::string title;                                          ///< The title of the page.
  std::string question;                                       ///< One sentence.
  std::string source;                                         ///< Who published it, and where.
  std::vector<std::pair<std::string, std::string>> settings;  ///< Names and values.
  std::uint64_t seed = 0;                                     ///< The default of --seed.
};

/// The options that all experiments have.
struct Call {
  bool quick = false;  ///< Run at a small size, which only tests the program.
  std::uint64_t seed = 0;
  std::string out;  ///< The folder for the page and for all other files.
};

/// A published result and ours.
struct Row {
  std::string what;
  std::string published;
  std::string reached;
  std::optional<bool> passed;  ///< Empty if the results cannot be compared; `what` says why.
};

/// A table of the page.
struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
};

/// A part of the page: a heading, a chart, maps or a table, and a text beneath.
struct Section {
  std::string heading;
  std::variant<tend::nn::Chart, tend::nn::Maps, Table> content;
  std::string text;
};

/// The results of an experiment.
struct Findings {
  std::vector<Row> rows;
  std::vector<Section> sections;

  /// Adds a row. It passes if `reached` is within `tolerance` of `published`.
  void compare(const std::string& what, double published, double reached, double tolerance,
               int digits = 4);
  /// Adds a row. It passes if the texts are equal.
  void compare_text(const std::string& what, const std::string& published,
                    const std::string& reached);
  /// Adds a row.
  void add(std::string what, std::string published, std::string reached,
           std::optional<bool> passed);
  /// Adds a section to the page.
  void show(std::string heading, std::variant<tend::nn::Chart, tend::nn::Maps, Table> content,
            std::string text = "");
};

/// `value` with `digits` digits after the point. A value that would be rounded to 0 is written like
/// 1.2e-05.
std::string number(double value, int digits = 4);

/// Seconds with one digit, such as "12.3". The smallest is "0.1".
std::string seconds_text(double seconds);

/// "reached", "not reached", or an empty text if there is nothing to compare.
std::string verdict(std::optional<bool> passed);

/// The program of an experiment. Add the experiment's own options to line() before run().
class Program {
 public:
  explicit Program(Experiment experiment);

  program::CommandLine& line() { return line_; }
  /// Runs the experiment and returns the exit code for main().
  ///
  /// Prints the rows and writes the page NAME.html. Writes the rows and charts to the file of
  /// --json. The exit code is 1 if a published result was not reached, except with --quick.
  int run(int argc, const char* const* argv, const std::function<Findings(const Call&)>& work);

 private:
  int finish(const Findings& findings, double seconds) const;

  Experiment experiment_;
  Call call_;
  std::string json_;
  program::CommandLine line_;
};

/// Shows `text` on stderr, where it replaces the previous text. The first two seconds show no
/// progress.
void show_progress(const std::string& text);

}  // namespace lab
