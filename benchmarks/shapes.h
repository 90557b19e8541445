// Benchmarks of the shapes that a command line asks for, beside what the machine can do.
#pragma once

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

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

/// Takes each --shape SHAPE, or --shape=SHAPE, out of the arguments. Where there is one, add(shape)
/// is called for each, instead of all benchmarks that are registered. Returns false after wrong
/// usage, which is explained. `form` is like "768x128x512".
inline bool take_shapes(int& argc, char** argv, const std::string& form,
                        const std::function<void(const std::vector<std::int64_t>&)>& add) {
  const auto dimensions = static_cast<std::size_t>(std::count(form.begin(), form.end(), 'x')) + 1;
  std::vector<std::vector<std::int64_t>> shapes;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--help") std::cout << "--shape " << form << ", any number of times; then:\n";
    if (argument != "--shape" && !argument.starts_with("--shape=")) {
      argv[kept++] = argv[i];
      continue;
    }
    const bool has_own = argument != "--shape";
    const std::string text = has_own ? argument.substr(8) : ++i < argc ? argv[i] : "";
    const auto shape = parse_shape(text, dimensions);
    if (!shape) {
      std::cerr << "--shape '" << text << "' is not like " << form
                << ", each size from 1 to 16777216\n";
      return false;
    }
    shapes.push_back(*shape);
  }
  argc = kept;
  if (!shapes.empty()) benchmark::ClearRegisteredBenchmarks();
  for (const auto& shape : shapes) add(shape);
  return true;
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
