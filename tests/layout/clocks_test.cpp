// Clocks. One that somebody sets, or that a network sets, jumps in the midst of a training.
#include "tests/catch.h"
#include "tests/layout/sources.h"

using namespace tend::test;

TEST_CASE("only a clock that nobody can set is read") {
  std::vector<std::string> folders = kFloors;
  folders.insert(folders.end(), {"examples", "benchmarks"});
  int steady = 0;
  for (const std::string& folder : folders) {
    for (const Source& source : sources_of(folder)) {
      for (const std::string& line : source.lines) {
        steady += line.find("steady_clock") != std::string::npos;
        for (const char* other :
             {"system_clock", "high_resolution_clock", "file_clock", "utc_clock", "gettimeofday",
              "std::time(", " ::time(", "CLOCK_REALTIME"}) {
          if (line.find(other) != std::string::npos) FAIL_CHECK(source.path << ": " << line);
        }
      }
    }
  }
  CHECK(steady > 0);
}
