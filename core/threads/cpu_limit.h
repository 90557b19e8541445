// How many processors a process may use.
#pragma once

#include <filesystem>
#include <optional>

namespace tend {

/// The number of processors that the control groups (version 2) of a process allow it, from cpu.max
/// of its group and of those above; nullopt if there is no limit. `memberships` is the process's
/// /proc/self/cgroup, `groups` the folder where control groups are mounted.
std::optional<double> cgroup_cpu_quota(const std::filesystem::path& memberships,
                                       const std::filesystem::path& groups);

/// The number of processors in the affinity mask, limited by the quota of the control groups
/// (rounded up); at least 1.
int available_processors() noexcept;

}  // namespace tend
