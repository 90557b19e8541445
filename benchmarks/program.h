#pragma once

/// The main function of every benchmark. It runs Google Benchmark, and also prints the versions and
/// settings on which the numbers depend.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include <tend/core/array/array.h>
#include <tend/core/build_info.h>

namespace tend::benchmarks {

inline int run(int argc, char** argv) {
  const BuildInfo info = build_info();
  benchmark::AddCustomContext("library", "tend " + info.version);
  benchmark::AddCustomContext("blas", info.blas);
  benchmark::AddCustomContext("blas core", info.blas_core);
  benchmark::AddCustomContext("simd", info.simd_target);
  benchmark::AddCustomContext("matmul path", info.matmul_path);
  benchmark::AddCustomContext("threads", std::to_string(info.threads));
  // Debian builds Google Benchmark without NDEBUG, so it warns that it is a debug build.
  benchmark::AddCustomContext("note",
                              "\"Library was built as DEBUG\" means Google Benchmark, not tend");
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  try {
    if (benchmark::RunSpecifiedBenchmarks() == 0) return 2;  // the reason was already printed
  } catch (const std::exception& error) {  // such as an array that does not fit into memory
    std::cerr << error.what() << '\n';
    return 1;
  }
  benchmark::Shutdown();
  if (std::cout.flush() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return 0;
  std::cerr << "standard output could not be written\n";
  return 1;
}

/// The main function for the arguments that the program's own command line did not use.
inline int run(char* program, std::vector<std::string>& rest) {
  std::vector<char*> arguments{program};
  for (std::string& each : rest) arguments.push_back(each.data());
  return run(static_cast<int>(arguments.size()), arguments.data());
}

/// A counter that is printed as a rate with an SI prefix, such as name=250G/s.
inline benchmark::Counter rate(double amount_per_iteration) {
  return {amount_per_iteration, benchmark::Counter::kIsIterationInvariantRate};
}

/// An array of varied numbers between -5 and 5.1.
inline Array varied(const Shape& shape, DType dtype = float32) {
  const Array out = Array::empty(shape, float64);
  for (std::int64_t i = 0; i < out.numel(); ++i)
    out.data<double>()[i] = static_cast<double>(i % 1009) * 0.01 - 5;
  return out.to(dtype);
}

}  // namespace tend::benchmarks
