// The libraries that tend is compared with: their workers, and the options of each.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace compare {

/// Environment variables of one process. An empty list means "as installed".
using Options = std::vector<std::pair<std::string, std::string>>;

/// "as installed", or NAME=VALUE NAME=VALUE.
std::string describe(const Options& options);

enum class Role { subject, peer, limit };

struct Peer {
  std::string name;
  std::string program;
  Role role = Role::peer;
  /// With several, each row takes the fastest.
  std::vector<Options> options;
  /// Whether it computes on memory that it is given and knows no tensors.
  bool is_kernels_only = false;
};

/// The workers that were built into `folder`. tend, the first, is the one at `tend` unless that is
/// empty. The best options use at most `threads` threads.
std::vector<Peer> find_peers(const std::string& folder, const std::string& tend, int threads);

/// One thread or all, with the fastest kernels for products.
std::vector<Options> torch_thread_settings(int threads);

/// The environment of a process with these options: the driver's environment without the variables
/// that set up one of the libraries, and the options.
std::vector<std::string> environment(const Options& options);

}  // namespace compare
