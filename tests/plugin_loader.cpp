// plugin_loader PLUGIN: a program that knows nothing of tend loads a library that uses it, calls
// it, also on other threads and in the child of a fork, and lets it go, time after time.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

namespace {

using Step = double (*)();

constexpr int kRounds = 200;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "plugin_loader: %s\n", what);
  std::exit(1);
}

long resident_pages() {
  std::ifstream file("/proc/self/statm");
  long size = 0, resident = 0;
  file >> size >> resident;
  return resident;
}

long open_files() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

double load_and_step(const char* plugin) {
  void* const library = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
  require(library != nullptr, "the plugin cannot be loaded");
  const auto step = reinterpret_cast<Step>(dlsym(library, "train_step"));
  require(step != nullptr, "the plugin has no train_step");
  const double loss = step();
  double other = 0;
  std::thread([&] { other = step(); }).join();
  require(loss > 0 && other == loss, "another thread has another loss");
  require(dlclose(library) == 0, "the plugin cannot be closed");
  return loss;
}

}  // namespace

int main(int, char** argv) {
  const double loss = load_and_step(argv[1]);
  for (int round = 0; round < 10; ++round) load_and_step(argv[1]);
  const long pages = resident_pages(), files = open_files();
  for (int round = 0; round < kRounds; ++round)
    require(load_and_step(argv[1]) == loss, "another round has another loss");
  require(open_files() == files, "files stay open");
  require(resident_pages() <= pages + 256,
          "memory grows");  // a megabyte, for lists of the C library

  const pid_t child = fork();
  if (child == 0) _exit(load_and_step(argv[1]) == loss ? 0 : 1);
  int status = 0;
  require(waitpid(child, &status, 0) == child && status == 0, "the child of a fork fails");
  std::printf("%d rounds\n", kRounds);
  return 0;
}
