#include "examples/program.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <limits>
#include <stdexcept>
#include <utility>

namespace program {

namespace {

/// An option whose value is read by `set`. CLI11's own options for numbers would read -1 as
/// 2^64 - 1, and its versions differ in what else they accept.
Option add_parsed(CLI::App& app, const std::string& name,
                  const std::function<void(const std::string&)>& set, const std::string& help,
                  const std::string& type) {
  return Option(app.add_option_function<std::string>(name, set, help)).type(type);
}

/// Returns `code`. If standard output cannot be written, prints a message and returns 1.
int end(const std::string& name, int code) {
  const bool flushed = std::cout.flush() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (flushed) return code;
  std::cerr << name << ": standard output could not be written\n";
  return 1;
}

/// Prints the error and returns `code`.
int explain(const std::string& name, const std::exception& error, int code) {
  std::cerr << name << ": " << error.what() << '\n';
  return code;
}

}  // namespace

Option& Option::required() {
  option_->required();
  return *this;
}

Option& Option::default_text(const std::string& text) {
  option_->default_str(text);
  return *this;
}

Option& Option::type(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Option& Option::must_exist() {
  option_->check(CLI::ExistingFile);
  return *this;
}

Option& Option::needs(Option other) {
  option_->needs(other.option_);
  return *this;
}

Option& Option::excludes(Option other) {
  option_->excludes(other.option_);
  return *this;
}

CommandLine::CommandLine(std::string name, const std::string& description)
    : name_(std::move(name)), app_(std::make_unique<CLI::App>(description)) {}

CommandLine::~CommandLine() = default;

Option CommandLine::flag(const std::string& name, const std::function<void()>& set,
                         const std::string& help) {
  return Option(app_->add_flag_callback(name, set, help));
}

Option CommandLine::whole(const std::string& name, const std::function<void(std::uint64_t)>& set,
                          const std::string& help, std::uint64_t least, std::uint64_t most) {
  const auto parse = [=](const std::string& text) {
    const std::optional<std::uint64_t> value = parse_number<std::uint64_t>(text);
    if (!value || *value < least || *value > most) {
      const bool is_open = most == std::numeric_limits<std::uint64_t>::max();
      throw CLI::ValidationError(name, "'" + text + "' is not a whole number from " +
                                           std::to_string(least) +
                                           (is_open ? " up" : " to " + std::to_string(most)));
    }
    set(*value);
  };
  return add_parsed(*app_, name, parse, help, "UINT");
}

Option CommandLine::number(const std::string& name, const std::function<void(double)>& set,
                           const std::string& help, double least) {
  const auto parse = [=](const std::string& text) {
    const std::optional<double> value = parse_number<double>(text);
    if (!value) throw CLI::ValidationError(name, "'" + text + "' is not a finite number");
    if (*value < least) throw CLI::ValidationError(name, "'" + text + "' is too small");
    set(*value);
  };
  return add_parsed(*app_, name, parse, help, "FLOAT");
}

Option CommandLine::add_file(const std::string& name, std::string& target,
                             const std::string& help) {
  const auto set = [&target, name](const std::string& text) {
    if (text.empty()) throw CLI::ValidationError(name, "the name of the file is empty");
    target = text;
  };
  return add_parsed(*app_, name, set, help, "FILE");
}

Option CommandLine::add_text(const std::string& name, std::string& target,
                             const std::string& help) {
  return Option(app_->add_option(name, target, help));
}

Option CommandLine::add_choice(const std::string& name, std::string& target,
                               const std::string& help, const std::vector<std::string>& words) {
  return Option(
      app_->add_option(name, target, help)->check(CLI::IsMember(words))->capture_default_str());
}

Option CommandLine::add_words(const std::string& name, std::vector<std::string>& target,
                              const std::string& help) {
  return Option(app_->add_option(name, target, help)->delimiter(','));
}

void CommandLine::add_rest(std::vector<std::string>& target, const std::string& help) {
  app_->allow_extras();
  app_->footer(help);
  app_->parse_complete_callback([this, &target] { target = app_->remaining(); });
}

bool CommandLine::was_given(const std::string& name) const {
  return app_->count(name) > 0;
}

int CommandLine::run(int argc, const char* const* argv, const std::function<int()>& work) {
  return main_of(name_, [&] {
    try {
      app_->parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      return app_->exit(error) == 0 ? 0 : 2;
    }
    return work();
  });
}

std::string place_in(const std::string& folder, const std::string& file) {
  const std::filesystem::path path = file;
  return file.empty() || path.has_parent_path() ? file
                                                : (std::filesystem::path(folder) / path).string();
}

std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

int main_of(const std::string& name, const std::function<int()>& work) {
  try {
    return end(name, work());
  } catch (const std::invalid_argument& error) {
    return explain(name, error, 2);
  } catch (const std::exception& error) {
    return explain(name, error, 1);
  }
}

}  // namespace program
