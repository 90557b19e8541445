// What all programs do alike: numbers on the command line, and the end of standard output.
#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <limits>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <tend/core/threads/parallel.h>

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

/// An option for a whole number from `least` to `most`. CLI11's own would take -1 for 2^64 - 1, and
/// its versions differ in what else they take.
template <class T>
CLI::Option* add_whole(CLI::App& app, const std::string& name, T& target, const std::string& help,
                       std::uint64_t least = 0,
                       std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
  const auto set = [&target, name, least, most](const std::string& text) {
    const std::optional<std::uint64_t> value = parse_number<std::uint64_t>(text);
    if (!value || *value < least || *value > most) {
      throw CLI::ValidationError(name, "'" + text + "' is no whole number from " +
                                           std::to_string(least) + " to " + std::to_string(most));
    }
    if constexpr (std::is_integral_v<T>) {
      if (!std::in_range<T>(*value))
        throw CLI::ValidationError(name, "'" + text + "' is too large");
    }
    target = static_cast<T>(*value);
  };
  return app.add_option_function<std::string>(name, set, help)->type_name("UINT");
}

/// An option for a finite number from `least` on.
inline CLI::Option* add_number(CLI::App& app, const std::string& name, double& target,
                               const std::string& help,
                               double least = std::numeric_limits<double>::lowest()) {
  const auto set = [&target, name, least](const std::string& text) {
    const std::optional<double> value = parse_number<double>(text);
    if (!value) throw CLI::ValidationError(name, "'" + text + "' is no finite number");
    if (*value < least) throw CLI::ValidationError(name, "'" + text + "' is too small");
    target = *value;
  };
  return app.add_option_function<std::string>(name, set, help)->type_name("FLOAT");
}

/// An option for the path of a file, which is not empty.
inline CLI::Option* add_file(CLI::App& app, const std::string& name, std::string& target,
                             const std::string& help) {
  const auto set = [&target, name](const std::string& text) {
    if (text.empty()) throw CLI::ValidationError(name, "the name of the file is empty");
    target = text;
  };
  return app.add_option_function<std::string>(name, set, help)->type_name("FILE");
}

/// The option --threads; 0 stands for one that was not given.
inline CLI::Option* add_threads(CLI::App& app, int& threads) {
  return add_whole(app, "--threads", threads, "threads to use (default: all cores)", 1,
                   tend::kMaxThreads);
}

/// What a program ends with: `code`, or 1 after a message on stderr where standard output did not
/// take all that was printed.
inline int end(const std::string& name, int code) {
  const bool flushed = std::cout.flush() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (flushed) return code;
  std::cerr << name << ": standard output could not be written\n";
  return 1;
}

/// What a program ends with when its command line was not to be run: after --help 0, after wrong
/// usage 2.
inline int end_of_parsing(const std::string& name, const CLI::App& app,
                          const CLI::ParseError& error) {
  return end(name, app.exit(error) == 0 ? 0 : 2);
}

/// The main function of a program: parses the command line, calls run(), which gives what the
/// program ends with, and explains on stderr what it throws (1).
template <class Run>
int main_of(const std::string& name, CLI::App& app, int argc, char** argv, Run run) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return end_of_parsing(name, app, error);
  }
  try {
    return end(name, run());
  } catch (const std::exception& error) {
    std::cerr << name << ": " << error.what() << '\n';
    return 1;
  }
}

}  // namespace program
