#include <tend/core/threads/cpu_limit.h>

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <fstream>
#include <string>
#include <thread>

namespace tend {
namespace {

namespace fs = std::filesystem;

// cpu.max contains "max 100000" or "150000 100000": microseconds of processor time in each period,
// and the period's length in microseconds.
std::optional<double> quota_of(const fs::path& group) {
  std::ifstream file(group / "cpu.max");
  double quota = 0, period = 0;
  if (file >> quota >> period && quota > 0 && period > 0) return quota / period;
  return {};
}

// The minimum of the quotas of a group and of all groups above it, up to `root`.
//
// In a container, `root` is the container's own group, but `path` may be the path on the host. So a
// group of the path need not exist below `root`; then it sets no limit.
std::optional<double> lowest_quota(const fs::path& root, const std::string& path) {
  std::optional<double> lowest = quota_of(root);
  fs::path group = root;
  for (const fs::path& part : fs::path(path).relative_path()) {
    group /= part;
    const std::optional<double> quota = quota_of(group);
    if (quota && (!lowest || *quota < *lowest)) lowest = quota;
  }
  return lowest;
}

int affinity_count() noexcept {
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) return CPU_COUNT(&mask);
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

std::optional<double> cgroup_cpu_quota(const fs::path& memberships, const fs::path& groups) {
  std::ifstream file(memberships);
  // Each line is "number:controllers:path". The line for version 2 is "0::path".
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("0::")) return lowest_quota(groups, line.substr(3));
  }
  return {};
}

int available_processors() noexcept {
  int count = std::max(1, affinity_count());
  try {
    if (const auto quota = cgroup_cpu_quota("/proc/self/cgroup", "/sys/fs/cgroup")) {
      count = static_cast<int>(std::min<double>(count, std::max(1.0, std::ceil(*quota))));
    }
  } catch (const std::exception&) {  // without a readable quota there is no limit
  }
  return count;
}

}  // namespace tend
