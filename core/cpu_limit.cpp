#include <tend/core/cpu_limit.h>

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

// "max 100000" or "150000 100000": microseconds in each period of so many.
std::optional<double> quota_v2(const fs::path& group) {
  std::ifstream file(group / "cpu.max");
  double quota = 0, period = 0;
  if (file >> quota >> period && quota > 0 && period > 0) return quota / period;
  return {};
}

std::optional<double> quota_v1(const fs::path& group) {
  std::ifstream quota_file(group / "cpu.cfs_quota_us"), period_file(group / "cpu.cfs_period_us");
  double quota = 0, period = 0;  // a quota of -1 is none
  if (quota_file >> quota && period_file >> period && quota > 0 && period > 0) {
    return quota / period;
  }
  return {};
}

// The least of the quotas of a group and of those above it, up to `root`. A container sees its own
// group as the root, while its path may be that of the host: what is not there has no limit.
template <class Read>
std::optional<double> least_quota(const fs::path& root, const std::string& path, Read read) {
  std::optional<double> least = read(root);
  fs::path group = root;
  for (const fs::path& part : fs::path(path).relative_path()) {
    group /= part;
    const std::optional<double> quota = read(group);
    if (quota && (!least || *quota < *least)) least = quota;
  }
  return least;
}

bool names_cpu(const std::string& controllers) {
  return (',' + controllers + ',').find(",cpu,") != std::string::npos;
}

int affinity_count() noexcept {
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) return CPU_COUNT(&mask);
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

std::optional<double> cgroup_cpu_quota(const fs::path& memberships, const fs::path& groups) {
  std::ifstream file(memberships);
  std::optional<double> least;
  // Lines are "number:controllers:path"; version 2 has the number 0 and no controllers.
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    std::optional<double> quota;
    if (controllers.empty()) {
      quota = least_quota(groups, path, quota_v2);
    } else if (names_cpu(controllers)) {
      const bool own = fs::exists(groups / "cpu");
      quota = least_quota(groups / (own ? "cpu" : controllers), path, quota_v1);
    }
    if (quota && (!least || *quota < *least)) least = quota;
  }
  return least;
}

int available_processors() noexcept {
  int count = std::max(1, affinity_count());
  try {
    if (const auto quota = cgroup_cpu_quota("/proc/self/cgroup", "/sys/fs/cgroup")) {
      count = static_cast<int>(std::min<double>(count, std::max(1.0, std::ceil(*quota))));
    }
  } catch (const std::exception&) {  // what cannot be read does not limit
  }
  return count;
}

}  // namespace tend
