// The measurements as a table and as JSON.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "measurement.h"

namespace compare {

/// Each peer's description of itself: its version and settings.
using Facts = std::map<std::string, std::string>;

/// A time with three digits and a unit; "" if there is no time.
std::string time_text(std::optional<double> seconds);

/// The first two lines of a Markdown table that has a column for each peer.
std::string table_head(const std::vector<Peer>& peers);
/// The table's row for a measurement.
std::string table_row(const std::vector<Peer>& peers, const Measurement& measurement);
/// A table with the peak memory of the rows that report it; "" if there are no such rows.
std::string memory_table(const std::vector<Measurement>& measurements);

/// A list of the libraries that have several options. It shows for which rows each of the options
/// was the fastest.
std::string settings_list(const std::vector<Peer>& peers,
                          const std::vector<Measurement>& measurements);

/// An array with an object for each row: {"row", "tend_s", "peers": {name: {"seconds",
/// "settings"}}, "best_peer", "ratio", "as_installed_ratio", "limit_s", "of_limit", "limits",
/// "memory", "about"}. A value that could not be measured is null. "best_peer" may also be
/// "libtorch as installed", if that is the fastest.
nlohmann::json report_json(const std::vector<Peer>& peers,
                           const std::vector<Measurement>& measurements, const Facts& facts);

}  // namespace compare
