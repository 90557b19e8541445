// What a run of hostile calls can be told by environment variables.
#pragma once

#include <cstdlib>
#include <string>

#include "tests/hostile/guard.h"

namespace tend::test {

/// TEND_HOSTILE_SEED, TEND_HOSTILE_CALLS and TEND_HOSTILE_SECONDS (without a number of calls as
/// many as come) make a longer run; TEND_HOSTILE_ONLY takes the functions of that name alone;
/// TEND_HOSTILE_CALL makes the one call of that number.
struct HostileOptions {
  std::uint64_t seed = 1;
  CallRange range;
  std::string only;

  bool takes(const std::string& function) const { return only.empty() || function == only; }
};

inline HostileOptions hostile_options(std::int64_t calls) {
  const auto text = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  HostileOptions options;
  options.range.last = calls;
  options.only = text("TEND_HOSTILE_ONLY");
  if (const std::string seed = text("TEND_HOSTILE_SEED"); !seed.empty())
    options.seed = std::stoull(seed);
  if (const std::string seconds = text("TEND_HOSTILE_SECONDS"); !seconds.empty()) {
    options.range.seconds = std::stod(seconds);
    options.range.last = std::int64_t{1} << 62;
  }
  if (const std::string count = text("TEND_HOSTILE_CALLS"); !count.empty())
    options.range.last = std::stoll(count);
  if (const std::string call = text("TEND_HOSTILE_CALL"); !call.empty()) {
    options.range.first = std::stoll(call);
    options.range.last = options.range.first + 1;
  }
  return options;
}

}  // namespace tend::test
