#include <tend/core/threads/cpu_limit.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/catch.h"

using namespace tend;
namespace fs = std::filesystem;

namespace {

// A temporary folder with files in the form of /proc and /sys.
class Files {
 public:
  Files() { fs::create_directories(root_); }
  ~Files() { fs::remove_all(root_); }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  void write(const fs::path& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  std::optional<double> quota() const { return cgroup_cpu_quota(root_ / "self", root_ / "groups"); }

 private:
  fs::path root_ = fs::temp_directory_path() / ("tend_cpu_limit_" + std::to_string(getpid()));
};

}  // namespace

TEST_CASE("The quota is the smallest of the process's control group and the groups above it") {
  const Files files;
  files.write("self", "0::/user/job\n");
  CHECK_FALSE(files.quota());
  files.write("groups/user/job/cpu.max", "max 100000\n");
  CHECK_FALSE(files.quota());
  files.write("groups/user/job/cpu.max", "350000 100000\n");
  CHECK(files.quota() == 3.5);
  files.write("groups/user/cpu.max", "50000 25000\n");
  CHECK(files.quota() == 2.0);
  files.write("groups/user/job/cpu.max", "150000 100000\n");
  CHECK(files.quota() == 1.5);
}

TEST_CASE("A container sees its own quota at the root of the control groups") {
  const Files files;
  files.write("self", "0::/../../of-the-host\n");
  files.write("groups/cpu.max", "150000 100000\n");
  CHECK(files.quota() == 1.5);
}

TEST_CASE("Control groups of version 1 set no limit") {
  const Files files;
  files.write("self", "4:cpu,cpuacct:/job\n");
  files.write("groups/cpu,cpuacct/job/cpu.cfs_quota_us", "250000\n");
  files.write("groups/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  CHECK_FALSE(files.quota());
  files.write("self", "4:cpu,cpuacct:/job\n0::/new\n");
  files.write("groups/new/cpu.max", "150000 100000\n");
  CHECK(files.quota() == 1.5);
}

TEST_CASE("Invalid files of control groups set no limit") {
  const Files files;
  files.write("self", "nonsense\n:\n::\n0:cpu\n0::/x\n");
  files.write("groups/x/cpu.max", "soon 7\n");
  CHECK_FALSE(files.quota());
  for (const char* text : {"100000 0\n", "0 100000\n", "-1 100000\n", "100000\n", ""}) {
    files.write("groups/x/cpu.max", text);
    CHECK_FALSE(files.quota());
  }
  CHECK_FALSE(cgroup_cpu_quota("/nowhere/at/all", "/nowhere"));
}

TEST_CASE("A process may use at least one processor") {
  CHECK(available_processors() >= 1);
}
