// Benchmarks of shapes that are given on the command line, and their share of the machine's limit.
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

/// The sizes in a text such as "768x128x512", each from 1 to 16777216. Returns nullopt if the text
/// has another form or another number of dimensions.
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

/// The main function of a benchmark with the option --shape SHAPE, which may be repeated.
///
/// If the option is given, only its shapes are measured: all registered benchmarks are removed, and
/// add(shape) registers new ones. `form` is an example of a shape, such as "768x128x512".
inline int run_shapes(int argc, char** argv, const std::string& name, const std::string& form,
                      const std::function<void(const std::vector<std::int64_t>&)>& add) {
  std::vector<std::string> shapes, rest;
  program::CommandLine line(name, "Times kernels, next to the machine's limit");
  line.add_words("--shape", shapes, "Instead of the default shapes; for example " + form);
  line.add_rest(rest, "Google Benchmark's options are accepted too.");
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

/// Times f(). Each call does `amount` of work, such as floating-point operations or bytes.
///
/// The counter `name` is the rate per second. The counter peak% is the share of this rate in
/// `limit`, which is also a rate per second.
template <class F>
void measure(benchmark::State& state, const char* name, double amount, double limit, F&& f) {
  f();  // maps the pages and fills the caches
  const auto start = std::chrono::steady_clock::now();
  for (auto _ : state) f();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  state.counters[name] = rate(amount);
  state.counters["peak%"] =
      100 * amount * static_cast<double>(state.iterations()) / seconds.count() / limit;
}

}  // namespace tend::benchmarks
