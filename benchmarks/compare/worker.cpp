#include "worker.h"

#include <dlfcn.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>

namespace compare {
namespace {

constexpr double kLong = 0.25;          // work of this many seconds gets no second warm-up
constexpr std::size_t kKept = 1 << 16;  // about so many elements of a result tensor are compared

/// A number of /proc/self/status, in bytes.
std::int64_t process_bytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key + ":")) return std::stoll(line.substr(key.size() + 1)) * 1024;
  }
  return 0;
}

class Server {
 public:
  Server(Library library, const Setup& setup) : library_(std::move(library)), setup_(setup) {}

  std::string answer(const std::string& line) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == "about") return "about " + library_.about(setup_);
    if (command == "prepare") return prepare(words);
    if (command == "release") {
      task_ = {};
      return "done 0";
    }
    if (!task_.run) throw std::runtime_error("nothing is prepared");
    if (command == "result") return write_result(words);
    if (command == "time") return time(words);
    if (command == "memory") return memory();
    throw std::runtime_error("unknown command: " + command);
  }

 private:
  std::string prepare(std::istringstream& words) {
    task_ = {};
    count_ = 0;
    Work work;
    words >> work.operation;
    for (std::int64_t size = 0; words >> size;) work.sizes.push_back(size);
    words.clear();
    words >> work.way;
    resident_before_ = process_bytes("VmRSS");
    if (library_.peak_bytes) library_.peak_bytes();
    task_ = library_.prepare(work, setup_);
    malloc_trim(0);                               // frees the memory in which inputs were made
    std::ofstream("/proc/self/clear_refs") << 5;  // resets VmHWM
    if (!task_.run) return "unsupported";
    return task_.way.empty() ? "ready" : "ready " + task_.way;
  }

  std::string write_result(std::istringstream& words) {
    std::string path;
    words >> path;
    Result result;
    task_.result(result);
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    const auto write = [&file](const auto* from, std::size_t count) {
      file.write(reinterpret_cast<const char*>(from),
                 static_cast<std::streamsize>(count * sizeof *from));
    };
    for (const std::vector<float>& values : result.tensors()) {
      const std::uint64_t size = values.size();
      write(&size, 1);
      write(values.data(), values.size());
    }
    file.close();
    if (!file) throw std::runtime_error("cannot write " + path);
    return "done " + std::to_string(result.tensors().size());
  }

  double measure() {
    const auto start = std::chrono::steady_clock::now();
    task_.run(count_);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  /// Finds the number of runs that take at least `enough` seconds.
  void calibrate(double enough) {
    count_ = 1;
    double seconds = measure();
    if (seconds < kLong) seconds = measure();  // the first run also mapped pages and woke threads
    while (seconds < enough) {
      const double wanted = static_cast<double>(count_) * 1.2 * enough / std::max(seconds, 1e-9);
      count_ = std::clamp(static_cast<std::int64_t>(std::ceil(wanted)), count_ + 1, 20 * count_);
      seconds = measure();
    }
    is_long_ = seconds / static_cast<double>(count_) >= kLong;
  }

  std::string time(std::istringstream& words) {
    double milliseconds = 0;
    words >> milliseconds;
    if (count_ == 0) calibrate(milliseconds / 1000);
    // Other workers ran since the last timing. This run wakes the threads and fills the caches.
    if (!is_long_) task_.run(1 + count_ / 10);
    std::ostringstream out;
    out.precision(9);
    out << "seconds " << measure() / static_cast<double>(count_);
    return out.str();
  }

  std::string memory() {
    const std::int64_t allocated = library_.peak_bytes ? library_.peak_bytes() : 0;
    return "bytes " + std::to_string(process_bytes("VmHWM") - resident_before_) + " " +
           std::to_string(allocated);
  }

  Library library_;
  Setup setup_;
  Task task_;
  std::int64_t count_ = 0;
  bool is_long_ = false;
  std::int64_t resident_before_ = 0;
};

}  // namespace

void Result::add(std::span<const float> values) {
  // The step is odd so that it reaches every column of a matrix whose width is a power of two.
  const std::size_t step = values.size() <= kKept ? 1 : (values.size() / kKept) | 1;
  std::vector<float>& kept = tensors_.emplace_back();
  for (std::size_t i = 0; i < values.size(); i += step) kept.push_back(values[i]);
}

int serve(int argc, char** argv, const Library& library) {
  if (argc != 3) {
    std::cerr << "This program is a part of the benchmark compare, which starts it.\n";
    return 2;
  }
  // Answers go to the original standard output. Output of the library goes to standard error.
  std::FILE* answers = fdopen(dup(STDOUT_FILENO), "w");
  dup2(STDERR_FILENO, STDOUT_FILENO);
  Server server(library, {std::stoull(argv[1]), std::stoi(argv[2])});
  for (std::string line; std::getline(std::cin, line);) {
    std::string answer;
    try {
      answer = server.answer(line);
    } catch (const std::exception& error) {
      answer = std::string("failed ") + error.what();
      std::replace(answer.begin(), answer.end(), '\n', ' ');
    }
    std::fprintf(answers, "%s\n", answer.c_str());
    std::fflush(answers);
  }
  return 0;
}

std::string openblas_facts() {
  const auto text = [](const char* name) -> std::string {
    void* symbol = dlsym(RTLD_DEFAULT, name);
    return symbol == nullptr ? "" : reinterpret_cast<const char* (*)()>(symbol)();
  };
  const std::string config = text("openblas_get_config");
  if (config.empty()) return "";
  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ... Haswell MAX_THREADS=64"
  std::istringstream words(config);
  std::string name;
  std::string version;
  words >> name >> version;
  return name + " " + version + " " + text("openblas_get_corename");
}

}  // namespace compare
