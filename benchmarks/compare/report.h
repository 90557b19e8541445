// What was measured, as a table and as JSON.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "measurement.h"

namespace compare {

/// By peer, what it says it computes with.
using Facts = std::map<std::string, std::string>;

/// Three digits, and a unit; "" for none.
std::string time_text(std::optional<double> seconds);

/// Two lines that begin a Markdown table with a column for each peer.
std::string table_head(const std::vector<Peer>& peers);
/// The row of a measurement.
std::string table_row(const std::vector<Peer>& peers, const Measurement& measurement);
/// The peak memory of the rows that report it, as a table; "" without any.
std::string memory_table(const std::vector<Measurement>& measurements);

/// The options of libraries that have several, each with the rows where it was the fastest.
std::string settings_list(const std::vector<Peer>& peers,
                          const std::vector<Measurement>& measurements);

/// One object a row: {"row", "tend_s", "peers": {name: {"seconds", "settings"}}, "best_peer",
/// "ratio", "as_installed_ratio", "limit_s", "of_limit", "limits", "memory", "about"}; null for
/// what could not be measured. "best_peer" may be "libtorch as installed", where that is the
/// faster.
nlohmann::json report_json(const std::vector<Peer>& peers,
                           const std::vector<Measurement>& measurements, const Facts& facts);

}  // namespace compare
