// What all programs do alike: the command line, and what they end with.
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

// CLI11, which reads the command line, takes seconds to compile; program.cpp includes it once for
// all.
namespace CLI {  // NOLINT(readability-identifier-naming): its name
class App;
class Option;
}  // namespace CLI

namespace program {

/// The number that is the whole of `text`, decimal and finite; for a T that is unsigned, digits
/// alone.
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

/// The largest whole number that an option can set a T to.
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
  /// What --help calls the default.
  Option& default_text(const std::string& text);
  /// What --help calls the value.
  Option& type(const std::string& name);
  /// The value is the name of a file that is there.
  Option& must_exist();
  /// This one is given together with the other.
  Option& needs(Option other);
  /// Only one of the two is given.
  Option& excludes(Option other);
  /// CLI11's option, for a source that includes CLI11.
  CLI::Option* operator->() const { return option_; }

 private:
  CLI::Option* option_;
};

/// The command line of a program. Each option has a variable, which stays as it is where the option
/// is not given. A name without dashes is that of a word by its place.
class CommandLine {
 public:
  /// --help begins with the description.
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
  /// A whole number from `least` to `most`; the target may be a std::optional.
  template <class T>
  Option add_whole(const std::string& name, T& target, const std::string& help,
                   std::uint64_t least = 0, std::uint64_t most = kLargest<T>) {
    const auto set = [&target](std::uint64_t value) { target = static_cast<T>(value); };
    return whole(name, set, help, least, most);
  }
  /// A finite number from `least` on; the target may be a std::optional.
  template <class T>
  Option add_number(const std::string& name, T& target, const std::string& help,
                    double least = std::numeric_limits<double>::lowest()) {
    return number(
        name, [&target](double value) { target = value; }, help, least);
  }
  /// The path of a file, which is not empty.
  Option add_file(const std::string& name, std::string& target, const std::string& help);
  /// --json, whose target is what check_can_write() and write_results() get.
  void add_json(std::string& target) { add_file("--json", target, "Write results to this file"); }
  Option add_text(const std::string& name, std::string& target, const std::string& help);
  /// One of the words; --help calls the target the default.
  Option add_choice(const std::string& name, std::string& target, const std::string& help,
                    const std::vector<std::string>& words);
  /// Words with commas between.
  Option add_words(const std::string& name, std::vector<std::string>& target,
                   const std::string& help);
  /// --threads, which sets the number of tend's threads.
  void add_threads() {
    const auto set = [](std::uint64_t count) { tend::set_num_threads(static_cast<int>(count)); };
    whole("--threads", set, "threads to use (default: all cores)", 1, tend::kMaxThreads);
  }
  /// All that is none of the options, which would be wrong usage otherwise.
  void add_rest(std::vector<std::string>& target, const std::string& help);

  bool was_given(const std::string& name) const;

  /// What main() returns. Where the command line is read, main_of() of the name and `work`;
  /// otherwise 0 after --help, and 2 after wrong usage has been explained on stderr.
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

/// IoError where write_results(path) is sure to fail. A program asks before it begins to work.
inline void check_can_write(const std::string& path) {
  if (!path.empty()) tend::nn::check_can_write(path);
}

/// A file's path: that of a name without a folder lies in `folder`. Empty for an empty name.
std::string place_in(const std::string& folder, const std::string& file);

/// Writes what --json asks for, make() and a line end; nothing where the path is empty, as the
/// option was not given then. What was printed before comes first where the file is standard
/// output. IoError where it cannot be written.
template <class Make>
void write_results(const std::string& path, Make make) {
  if (path.empty()) return;
  std::cout.flush();
  std::fflush(stdout);
  tend::nn::write_file(path, make() + '\n');
}

/// The text as one word of a shell's command.
std::string shell_quoted(const std::string& text);

/// What main() returns: what `work` does, or after a message on stderr 2 where it throws
/// std::invalid_argument, for wrong usage, and 1 where it throws another exception or standard
/// output did not take all that was printed.
int main_of(const std::string& name, const std::function<int()>& work);

}  // namespace program
