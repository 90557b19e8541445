// Benchmarks of the shapes that a command line asks for, beside what the machine can do.
#pragma once

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "examples/program.h"
#include "program.h"

namespace tend::benchmarks {

/// The sizes of "768x128x512", from 1 on; nothing where they are not so many.
inline std::optional<std::vector<std::int64_t>> parse_shape(const std::string& text,
                                                            std::size_t dimensions) {
  std::vector<std::int64_t> sizes;
  const char* next = text.data();
  const char* const end = next + text.size();
  for (;;) {
    std::int64_t size = 0;
    const auto [stop, error] = std::from_chars(next, end, size);
    if (error != std::errc() || size < 1 || size > (1 << 24)) return std::nullopt;
    sizes.push_back(size);
    if (stop == end) break;
    if (*stop != 'x') return std::nullopt;
    next = stop + 1;
  }
  if (sizes.size() != dimensions) return std::nullopt;
  return sizes;
}

/// The main function of a benchmark with the option --shape SHAPE, any number of times. Where it is
/// given, add(shape) is called for each, instead of all benchmarks that are registered. `form` is
/// like "768x128x512".
inline int run_shapes(int argc, char** argv, const std::string& name, const std::string& form,
                      const std::function<void(const std::vector<std::int64_t>&)>& add) {
  std::vector<std::string> shapes, rest;
  program::CommandLine line(name, "Times kernels beside what the machine can do");
  line.add_words("--shape", shapes, "Instead of the benchmarks' own, such as " + form);
  line.add_rest(rest, "Google Benchmark's options are taken, too.");
  return line.run(argc, argv, [&] {
    const auto dimensions = static_cast<std::size_t>(std::ranges::count(form, 'x')) + 1;
    if (!shapes.empty()) benchmark::ClearRegisteredBenchmarks();
    for (const std::string& text : shapes) {
      const auto shape = parse_shape(text, dimensions);
      if (!shape) {
        throw std::invalid_argument("--shape '" + text + "' is not like " + form +
                                    ", each size from 1 to 16777216");
      }
      add(*shape);
    }
    return run(argv[0], rest);
  });
}

/// Times f() over and over; the counter peak% is the share of `limit`, in amounts a second, that
/// `amount` each time makes.
template <class F>
void measure(benchmark::State& state, const char* name, double amount, double limit, F&& f) {
  f();  // pages and caches are warm
  const auto start = std::chrono::steady_clock::now();
  for (auto _ : state) f();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  state.counters[name] = rate(amount);
  state.counters["peak%"] =
      100 * amount * static_cast<double>(state.iterations()) / seconds.count() / limit;
}

}  // namespace tend::benchmarks
