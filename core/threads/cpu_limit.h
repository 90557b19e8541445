// The number of processors that a process may use.
#pragma once

#include <filesystem>
#include <optional>

namespace tend {

/// The number of processors that the control groups (version 2) allow a process; nullopt if there
/// is no limit. It is the minimum of the quotas in cpu.max of the process's group and of the groups
/// above it.
///
/// `memberships` is the process's /proc/self/cgroup. `groups` is the folder where control groups
/// are mounted.
std::optional<double> cgroup_cpu_quota(const std::filesystem::path& memberships,
                                       const std::filesystem::path& groups);

/// The number of processors in the affinity mask, but no more than the control groups' quota,
/// rounded up. It is at least 1.
int available_processors() noexcept;

}  // namespace tend
