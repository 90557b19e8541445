// What all programs of the laboratory do alike: the command line, the table of published and
// reached figures, and the page.
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

/// What a program's --help and page say about its experiment.
struct Experiment {
  std::string name;                                           ///< The program's.
  std::string title;                                          ///< The page's.
  std::string question;                                       ///< In a sentence.
  std::string source;                                         ///< Who published it, and where.
  std::vector<std::pair<std::string, std::string>> settings;  ///< Names and values.
  std::uint64_t seed = 0;                                     ///< Where --seed is not given.
};

/// How a program was called.
struct Call {
  bool quick = false;  ///< A small size, which only shows that all of it works.
  std::uint64_t seed = 0;
  std::string out;  ///< The folder of the page and of what else the program writes.
};

/// A published figure beside ours.
struct Row {
  std::string what;
  std::string published;
  std::string reached;
  std::optional<bool> passed;  ///< None where nothing can be compared, which `what` explains.
};

/// A table of the page.
struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
};

/// A part of the page: a picture or a table with a heading, and text beneath.
struct Section {
  std::string heading;
  std::variant<tend::nn::Chart, tend::nn::Maps, Table> content;
  std::string text;
};

/// What an experiment found.
struct Findings {
  std::vector<Row> rows;
  std::vector<Section> sections;

  /// A row that passes where `reached` is within `tolerance` of `published`.
  void compare(const std::string& what, double published, double reached, double tolerance,
               int digits = 4);
  /// A row that passes where the texts are equal.
  void compare_text(const std::string& what, const std::string& published,
                    const std::string& reached);
  void add(std::string what, std::string published, std::string reached,
           std::optional<bool> passed);
  void show(std::string heading, std::variant<tend::nn::Chart, tend::nn::Maps, Table> content,
            std::string text = "");
};

/// `value` with `digits` digits after the point, or as 1.2e-05 where that would show none of them.
std::string number(double value, int digits = 4);

/// "12.3", at least 0.1.
std::string seconds_text(double seconds);

/// "reached", "not reached", or nothing where nothing can be compared.
std::string verdict(std::optional<bool> passed);

/// The program of an experiment. Options of its own are added to line() before run().
class Program {
 public:
  explicit Program(Experiment experiment);

  program::CommandLine& line() { return line_; }
  /// What main() returns: runs the experiment, prints its rows, and writes NAME.html and, for
  /// --json, its rows and charts. Figures that were not reached end with 1, but for --quick.
  int run(int argc, const char* const* argv, const std::function<Findings(const Call&)>& work);

 private:
  int finish(const Findings& findings, double seconds) const;

  Experiment experiment_;
  Call call_;
  std::string json_;
  program::CommandLine line_;
};

/// Shows `text` on stderr in place of the last one, for what takes more than two seconds.
void show_progress(const std::string& text);

}  // namespace lab
