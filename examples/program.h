// Shared by all programs: the command line, the exit codes and the writing of results.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <type_traits>
#include <vector>

#include <tend/core/threads/parallel.h>
#include <tend/nn/files/write_file.h>

// CLI11 reads the command line. It takes seconds to compile, so only program.cpp includes it.
namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own name
class App;
class Option;
}  // namespace CLI

namespace program {

/// Reads `text` as a decimal, finite number. Returns std::nullopt if any part of the text does not
/// belong to the number. An unsigned T accepts only digits.
template <class T>
std::optional<T> parse_number(const std::string& text) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(value)) return std::nullopt;
  }
  return value;
}

/// The largest whole number that an option of type T accepts.
template <class T>
inline constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();
template <class T>
requires std::is_integral_v<T>
inline constexpr std::uint64_t kLargest<T> = std::numeric_limits<T>::max();
template <class T>
inline constexpr std::uint64_t kLargest<std::optional<T>> = kLargest<T>;

/// An option of a command line.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option& required();
  /// Sets the text that --help shows as the default.
  Option& default_text(const std::string& text);
  /// Sets the name that --help shows for the value.
  Option& type(const std::string& name);
  /// The value must be the path of an existing file.
  Option& must_exist();
  /// This option is only valid together with the other.
  Option& needs(Option other);
  /// This option is not valid together with the other.
  Option& excludes(Option other);
  /// CLI11's option, for a source that includes CLI11.
  CLI::Option* operator->() const { return option_; }

 private:
  CLI::Option* option_;
};

/// The command line of a program. Each option has a target variable, which keeps its value if the
/// option is not given. A name without dashes declares a positional argument.
class CommandLine {
 public:
  /// --help prints the description first.
  CommandLine(std::string name, const std::string& description);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// An option without a value, which sets the target to `value`.
  template <class T>
  Option add_flag(const std::string& name, T& target, const std::string& help,
                  std::type_identity_t<T> value = true) {
    return flag(
        name, [&target, value] { target = value; }, help);
  }
  /// A whole number from `least` to `most`. The target may be a std::optional.
  template <class T>
  Option add_whole(const std::string& name, T& target, const std::string& help,
                   std::uint64_t least = 0, std::uint64_t most = kLargest<T>) {
    const auto set = [&target](std::uint64_t value) { target = static_cast<T>(value); };
    return whole(name, set, help, least, most);
  }
  /// A finite number of at least `least`. The target may be a std::optional.
  template <class T>
  Option add_number(const std::string& name, T& target, const std::string& help,
                    double least = std::numeric_limits<double>::lowest()) {
    return number(
        name, [&target](double value) { target = value; }, help, least);
  }
  /// The path of a file. An empty path is an error.
  Option add_file(const std::string& name, std::string& target, const std::string& help);
  /// --json. Pass the target to check_can_write() and write_results().
  void add_json(std::string& target) {
    add_file("--json", target, "Write the results to this file");
  }
  Option add_text(const std::string& name, std::string& target, const std::string& help);
  /// One of the words. --help shows the present value of the target as the default.
  Option add_choice(const std::string& name, std::string& target, const std::string& help,
                    const std::vector<std::string>& words);
  /// A list of words, separated by commas.
  Option add_words(const std::string& name, std::vector<std::string>& target,
                   const std::string& help);
  /// --threads, which sets the number of tend's threads.
  void add_threads() {
    const auto set = [](std::uint64_t count) { tend::set_num_threads(static_cast<int>(count)); };
    whole("--threads", set, "Number of threads (default: all cores)", 1, tend::kMaxThreads);
  }
  /// Collects every argument that is not one of the options. Without this, such an argument is
  /// wrong usage.
  void add_rest(std::vector<std::string>& target, const std::string& help);

  bool was_given(const std::string& name) const;

  /// Reads the command line and runs `work`. Returns the exit code for main(): 0 after --help, 2
  /// for wrong usage, which is explained on stderr, and otherwise the result of main_of().
  int run(int argc, const char* const* argv, const std::function<int()>& work);

  /// CLI11's command line, for a source that includes CLI11.
  CLI::App& app() { return *app_; }

 private:
  Option flag(const std::string& name, const std::function<void()>& set, const std::string& help);
  Option whole(const std::string& name, const std::function<void(std::uint64_t)>& set,
               const std::string& help, std::uint64_t least, std::uint64_t most);
  Option number(const std::string& name, const std::function<void(double)>& set,
                const std::string& help, double least);

  std::string name_;
  std::unique_ptr<CLI::App> app_;
};

/// Throws IoError if write_results(path) is sure to fail. Programs call this before they start
/// their work.
inline void check_can_write(const std::string& path) {
  if (!path.empty()) tend::nn::check_can_write(path);
}

/// Returns the path of `file`. A name without a folder is put into `folder`. An empty name stays
/// empty.
std::string place_in(const std::string& folder, const std::string& file);

/// Writes the text of make() and a line end to the file of --json. Does nothing if the path is
/// empty, which means that the option was not given.
///
/// Flushes standard output first, in case the path is standard output, too. Throws IoError if the
/// file cannot be written.
template <class Make>
void write_results(const std::string& path, Make make) {
  if (path.empty()) return;
  std::cout.flush();
  std::fflush(stdout);
  tend::nn::write_file(path, make() + '\n');
}

/// Quotes the text so that a shell reads it as one word.
std::string shell_quoted(const std::string& text);

/// Runs `work` and returns the exit code for main().
///
/// The code is the result of `work` unless something fails. If `work` throws std::invalid_argument,
/// which means wrong usage, the code is 2. If it throws another exception, or if standard output
/// cannot be written, the code is 1. A failure prints a message on stderr.
int main_of(const std::string& name, const std::function<int()>& work);

}  // namespace program
