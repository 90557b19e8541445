#include <tend/nn/training/profiler.h>

#include <algorithm>
#include <iomanip>
#include <locale>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <utility>

namespace tend::nn {

namespace {

using autograd::TimedOperation;

constexpr double kNanosecond = 1e-9;

// Sums the costs of operations with the same name and direction.
class Rows {
 public:
  void add(const std::string& name, const TimedOperation& operation) {
    ProfileRow& row = rows_[{name, operation.is_derivative}];
    row.name = name;
    row.is_derivative = operation.is_derivative;
    ++row.calls;
    row.seconds += static_cast<double>(operation.end - operation.begin) * kNanosecond;
    row.bytes += static_cast<double>(operation.bytes);
    row.flops += static_cast<double>(operation.flops);
  }
  std::vector<ProfileRow> longest_first() const {
    std::vector<ProfileRow> sorted;
    for (const auto& [key, row] : rows_) sorted.push_back(row);
    const auto is_longer = [](const ProfileRow& a, const ProfileRow& b) {
      return a.seconds > b.seconds;
    };
    std::stable_sort(sorted.begin(), sorted.end(), is_longer);
    return sorted;
  }

 private:
  std::map<std::pair<std::string, bool>, ProfileRow> rows_;
};

// Returns "Net", "Net.blocks" and "Net.blocks.0" for the path "Net.blocks.0"; nothing for "".
std::vector<std::string> paths_to(const std::string& module) {
  std::vector<std::string> paths;
  if (module.empty()) return paths;
  for (std::size_t end = module.find('.'); end != std::string::npos;
       end = module.find('.', end + 1))
    paths.push_back(module.substr(0, end));
  paths.push_back(module);
  return paths;
}

// Events of Chrome's trace format. The event of a module comes before the events within it.
class TraceEvents {
 public:
  // Adds the next operation.
  void add(const TimedOperation& operation, const std::vector<std::string>& modules) {
    enter(operation, paths_to(modules[operation.module]));
    Json args{{"module", modules[operation.module]},
              {"bytes", operation.bytes},
              {"flops", operation.flops}};
    const auto nanoseconds = static_cast<double>(operation.end - operation.begin);
    if (operation.flops > 0 && nanoseconds > 0)
      args["GFLOP/s"] = static_cast<double>(operation.flops) / nanoseconds;
    Json& event = add_event(operation.name, operation.is_derivative ? "backward" : "forward",
                            operation.begin, operation.end);
    event["args"] = args;
  }

  std::string text() const {
    // The name of a module may have bytes that are not UTF-8.
    return Json{{"traceEvents", events_}}.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

 private:
  using Json = nlohmann::ordered_json;

  struct Open {
    std::string path;
    std::size_t event;
    std::int64_t begin;
  };

  Json& add_event(const std::string& name, const char* category, std::int64_t begin,
                  std::int64_t end) {
    return events_.emplace_back(Json{{"name", name},
                                     {"cat", category},
                                     {"ph", "X"},
                                     {"ts", microseconds(begin)},
                                     {"dur", microseconds(end - begin)},
                                     {"pid", 1},
                                     {"tid", 1}});
  }
  // Closes the events of modules that did not run the operation, and opens events of modules that
  // did.
  void enter(const TimedOperation& operation, const std::vector<std::string>& paths) {
    std::size_t same = 0;
    const bool turns = operation.is_derivative != is_backward_;
    is_backward_ = operation.is_derivative;
    while (!turns && same < std::min(open_.size(), paths.size()) && open_[same].path == paths[same])
      ++same;
    open_.resize(same);
    for (std::size_t i = same; i < paths.size(); ++i) {
      open_.push_back({paths[i], events_.size(), operation.begin});
      add_event(paths[i] + (is_backward_ ? ", backward" : ""), "module", operation.begin,
                operation.end);
    }
    for (const Open& each : open_)
      events_[each.event]["dur"] = microseconds(operation.end - each.begin);
  }
  static double microseconds(std::int64_t nanoseconds) {
    return static_cast<double>(nanoseconds) * 1e-3;
  }

  Json events_ = Json::array();
  std::vector<Open> open_;  // the modules of the last operation, the outermost first
  bool is_backward_ = false;
};

void print(std::ostream& out, const char* title, const std::vector<ProfileRow>& rows,
           double seconds) {
  std::size_t width = std::string(title).size();
  const auto text_of = [](const ProfileRow& row) {
    return (row.name.empty() ? "outside of modules" : row.name) +
           (row.is_derivative ? ", backward" : "");
  };
  for (const ProfileRow& row : rows) width = std::max(width, text_of(row).size());
  const auto column = [&](int size) -> std::ostream& { return out << std::setw(size); };
  out << std::left << std::setw(static_cast<int>(width)) << title << std::right;
  column(10) << "calls" << std::setw(12) << "ms" << std::setw(8) << "%" << std::setw(12) << "MB"
             << std::setw(10) << "GFLOP/s" << '\n';
  out << std::fixed;
  for (const ProfileRow& row : rows) {
    out << std::left << std::setw(static_cast<int>(width)) << text_of(row) << std::right;
    column(10) << row.calls;
    out << std::setprecision(3) << std::setw(12) << row.seconds * 1e3;
    out << std::setprecision(1) << std::setw(8) << 100 * row.seconds / seconds;
    out << std::setw(12) << row.bytes * 1e-6;
    if (row.flops > 0 && row.seconds > 0) {
      column(10) << row.flops / row.seconds * 1e-9;
    } else {
      column(10) << '-';
    }
    out << '\n';
  }
}

}  // namespace

std::vector<ProfileRow> Profiler::by_operation() const {
  Rows rows;
  for (const TimedOperation& each : timeline_.record().operations) rows.add(each.name, each);
  return rows.longest_first();
}

std::vector<ProfileRow> Profiler::by_module() const {
  const auto& record = timeline_.record();
  Rows rows;
  for (const TimedOperation& each : record.operations) {
    const std::vector<std::string> paths = paths_to(record.modules[each.module]);
    for (const std::string& path : paths) rows.add(path, each);
    if (paths.empty()) rows.add("", each);
  }
  return rows.longest_first();
}

double Profiler::seconds() const {
  return static_cast<double>(timeline_.record().end) * kNanosecond;
}

std::string Profiler::trace() const {
  const auto& record = timeline_.record();
  TraceEvents events;
  for (const TimedOperation& each : record.operations) events.add(each, record.modules);
  return events.text();
}

std::ostream& operator<<(std::ostream& out, const Profiler& profiler) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  const double seconds = profiler.seconds();
  double in_operations = 0;
  const std::vector<ProfileRow> operations = profiler.by_operation();
  for (const ProfileRow& row : operations) in_operations += row.seconds;
  print(text, "operation", operations, seconds);
  text << '\n';
  print(text, "module", profiler.by_module(), seconds);
  text << '\n'
       << std::setprecision(3) << seconds * 1e3 << " ms, of which "
       << (seconds - in_operations) * 1e3 << " ms outside of operations\n";
  return out << text.str();
}

}  // namespace tend::nn
