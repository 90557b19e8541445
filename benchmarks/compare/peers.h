// The libraries that tend is compared with: their workers, and the options of each.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace compare {

/// Environment variables of one process. An empty list means "as installed".
using Options = std::vector<std::pair<std::string, std::string>>;

/// The options as a text: "as installed", or NAME=VALUE NAME=VALUE.
std::string describe(const Options& options);

/// `subject` is tend, and a `peer` is a library that tend is compared with. A `limit` is only
/// reported.
enum class Role { subject, peer, limit };

struct Peer {
  std::string name;
  std::string program;
  Role role = Role::peer;
  /// If there are several, each row uses the fastest.
  std::vector<Options> options;
  /// True if the library computes on the caller's memory and has no tensors.
  bool is_kernels_only = false;
};

/// The workers in `folder`, for all libraries that were found. The first is tend's. If `tend` is
/// not empty, it is the path of tend's worker. The options use at most `threads` threads.
std::vector<Peer> find_peers(const std::string& folder, const std::string& tend, int threads);

/// PyTorch's settings for one thread and for `threads` threads, with OpenBLAS's fastest kernels.
std::vector<Options> torch_thread_settings(int threads);

/// The environment of a process with these options. It is the driver's environment with the options
/// added, and without all variables that configure one of the libraries.
std::vector<std::string> environment(const Options& options);

}  // namespace compare
