// How many processors a process may use.
#pragma once

#include <filesystem>
#include <optional>

namespace tend {

/// The processors that the control groups (version 2) of a process leave it, from cpu.max of its
/// group and of those above; nothing where there is no limit. `memberships` is the process's
/// /proc/self/cgroup, `groups` the folder where control groups are mounted.
std::optional<double> cgroup_cpu_quota(const std::filesystem::path& memberships,
                                       const std::filesystem::path& groups);

/// The processors of the affinity mask, cut by the quota of the control groups (rounded up); at
/// least 1.
int available_processors() noexcept;

}  // namespace tend
