#include "report.h"

#include <cstdio>
#include <map>
#include <optional>

namespace compare {
namespace {

using nlohmann::json;

constexpr const char* kTend = "tend";
constexpr const char* kAsInstalled = "libtorch as installed";
constexpr const char* kMachine = "machine";

std::optional<double> seconds_of(const Measurement& m, const std::string& peer) {
  const auto found = m.timings.find(peer);
  if (found == m.timings.end()) return std::nullopt;
  return found->second.seconds;
}

/// The fastest peer in this row; nullptr if no peer did it.
const Peer* best_peer(const std::vector<Peer>& peers, const Measurement& m) {
  const Peer* best = nullptr;
  for (const Peer& peer : peers) {
    const std::optional<double> seconds = seconds_of(m, peer.name);
    if (peer.role != Role::peer || !seconds) continue;
    if (best == nullptr || *seconds < *seconds_of(m, best->name)) best = &peer;
  }
  return best;
}

std::optional<double> ratio(std::optional<double> a, std::optional<double> b) {
  if (!a || !b) return std::nullopt;
  return *a / *b;
}

std::optional<double> best_seconds(const std::vector<Peer>& peers, const Measurement& m) {
  const Peer* best = best_peer(peers, m);
  return best == nullptr ? std::nullopt : seconds_of(m, best->name);
}

template <class... Values>
std::string format(const char* pattern, Values... values) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

std::string ratio_text(std::optional<double> value) {
  return value ? format("%.2f", *value) : "";
}

json optional_json(std::optional<double> value) {
  return value ? json(*value) : json(nullptr);
}

std::string megabytes(std::int64_t bytes) {
  return bytes > 0 ? format("%.1f MB", static_cast<double>(bytes) / 1e6) : "";
}

}  // namespace

std::string time_text(std::optional<double> seconds) {
  if (!seconds) return "";
  const char* unit = "ns";
  double value = *seconds * 1e9;
  for (const char* next : {"us", "ms", "s"}) {
    if (value < 1000) break;
    value /= 1000;
    unit = next;
  }
  return format(value < 10 ? "%.2f %s" : value < 100 ? "%.1f %s" : "%.0f %s", value, unit);
}

std::string table_head(const std::vector<Peer>& peers) {
  std::string names = "| row |";
  std::string rule = "|---|";
  for (const Peer& peer : peers) {
    names += " " + (peer.name == kMachine ? "limit" : peer.name) + " |";
    rule += "---:|";
  }
  return names + " best / tend | as installed / tend | of the limit |\n" + rule +
         "---:|---:|---:|\n";
}

std::string table_row(const std::vector<Peer>& peers, const Measurement& m) {
  std::string line = "| " + m.row + " |";
  for (const Peer& peer : peers) line += " " + time_text(seconds_of(m, peer.name)) + " |";
  const std::optional<double> tend = seconds_of(m, kTend);
  const std::optional<double> of_limit = ratio(seconds_of(m, kMachine), tend);
  line += " " + ratio_text(ratio(best_seconds(peers, m), tend)) + " |";
  line += " " + ratio_text(ratio(seconds_of(m, kAsInstalled), tend)) + " |";
  line += " " + (of_limit ? format("%.0f %%", 100 * *of_limit) : "") + " |\n";
  return line;
}

std::string memory_table(const std::vector<Measurement>& measurements) {
  std::string lines;
  for (const Measurement& m : measurements) {
    for (const auto& [peer, memory] : m.memory) {
      lines += "| " + m.row + " | " + peer + " | " + megabytes(memory.resident) + " | " +
               megabytes(memory.allocated) + " |\n";
    }
  }
  if (lines.empty()) return "";
  return "| peak memory | in | process grew by | tensors used |\n|---|---|---:|---:|\n" + lines;
}

std::string settings_list(const std::vector<Peer>& peers,
                          const std::vector<Measurement>& measurements) {
  std::string lines;
  for (const Peer& peer : peers) {
    if (peer.options.size() == 1) continue;
    std::map<std::string, std::string> rows;  // by options
    for (const Measurement& m : measurements) {
      const auto timing = m.timings.find(peer.name);
      if (timing == m.timings.end()) continue;
      std::string& names = rows[timing->second.options];
      if (!names.empty()) names += "; ";
      names += m.row;
    }
    for (const auto& [options, names] : rows)
      lines.append("- ").append(peer.name + " with ").append(options + ": ").append(names + "\n");
  }
  return lines.empty() ? "" : "\n" + lines;
}

json report_json(const std::vector<Peer>& peers, const std::vector<Measurement>& measurements,
                 const Facts& facts) {
  json rows = json::array();
  for (const Measurement& m : measurements) {
    const std::optional<double> tend = seconds_of(m, kTend);
    const std::optional<double> limit = seconds_of(m, kMachine);
    const Peer* best = best_peer(peers, m);
    json row{{"row", m.row},
             {"tend_s", optional_json(tend)},
             {"peers", json::object()},
             {"best_peer", best == nullptr ? json(nullptr) : json(best->name)},
             {"ratio", optional_json(ratio(best_seconds(peers, m), tend))},
             {"as_installed_ratio", optional_json(ratio(seconds_of(m, kAsInstalled), tend))},
             {"limit_s", optional_json(limit)},
             {"of_limit", optional_json(ratio(limit, tend))},
             {"limits", json::object()},
             {"memory", json::object()},
             {"about", facts}};
    for (const Peer& peer : peers) {
      const auto timing = m.timings.find(peer.name);
      if (timing == m.timings.end() || peer.role == Role::subject) continue;
      row[peer.role == Role::peer ? "peers" : "limits"][peer.name] = {
          {"seconds", timing->second.seconds}, {"settings", timing->second.options}};
    }
    for (const auto& [peer, memory] : m.memory) {
      row["memory"][peer] = {
          {"resident_bytes", memory.resident},
          {"tensor_bytes", memory.allocated > 0 ? json(memory.allocated) : json(nullptr)}};
    }
    rows.push_back(row);
  }
  return rows;
}

}  // namespace compare
