#include <tend/nn/training/run_log.h>

#include <algorithm>
#include <charconv>
#include <iomanip>
#include <locale>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include <tend/core/base/error.h>
#include <tend/nn/files/file_name.h>
#include <tend/nn/files/json.h>
#include <tend/nn/files/write_file.h>

#include <nlohmann/json.hpp>

namespace tend::nn {
namespace {

constexpr const char* kLog = "RunLog";
constexpr const char* kLines = "log.jsonl";
constexpr const char* kTable = "log.csv";
constexpr std::string_view kHead = "step,loss,lr,grad_norm,seconds,tokens_per_second,evaluation";

// The step of a line; nothing for one that is broken.
std::optional<std::int64_t> step_in_json(const FileName& file, std::string_view line) {
  try {
    const json::Value parsed = json::parse(file, line);
    const json::Value* const step = json::find(parsed, "step");
    const auto* const number = step == nullptr ? nullptr : step->get_ptr<const std::int64_t*>();
    return number == nullptr ? std::nullopt : std::optional(*number);
  } catch (const IoError&) {
    return std::nullopt;
  }
}

std::optional<std::int64_t> step_in_csv(const FileName&, std::string_view line) {
  const auto commas = [](std::string_view text) {
    return std::count(text.begin(), text.end(), ',');
  };
  if (commas(line) != commas(kHead)) return std::nullopt;
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), step);
  return error == std::errc() && *end == ',' ? std::optional(step) : std::nullopt;
}

// Keeps the lines up to step `last`, behind `head`.
void keep_until(const std::filesystem::path& path, std::int64_t last, std::string_view head,
                std::optional<std::int64_t> (*step_in)(const FileName&, std::string_view)) {
  const FileName file{kLog, path};
  std::error_code unknown;  // nothing is read from pipes and the like, nor from what is not there
  const bool is_file = std::filesystem::is_regular_file(path, unknown);
  const std::string whole = is_file ? read_text(file) : "";
  std::string kept(head);
  std::string_view rest = whole;
  // What ends without an end of line is broken.
  for (auto end = rest.find('\n'); end != rest.npos; end = rest.find('\n')) {
    const auto step = step_in(file, rest.substr(0, end));
    if (step && *step <= last) kept += rest.substr(0, end + 1);
    rest.remove_prefix(end + 1);
  }
  write_file(path, kept, kLog);
}

}  // namespace

std::string progress_text(const TrainedStep& s, std::int64_t steps, double seconds_left) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text << "step " << s.step << '/' << steps << "  loss " << std::fixed << std::setprecision(4)
       << s.loss;
  if (s.evaluation) text << "  evaluation " << *s.evaluation;
  text << "  lr " << std::defaultfloat << std::setprecision(3) << s.lr << "  norm " << s.grad_norm
       << std::fixed << std::setprecision(0);
  if (s.tokens_per_second > 0) text << "  " << s.tokens_per_second << " tokens/s";
  text << "  " << seconds_left << " s left";
  return text.str();
}

RunLog::RunLog(std::filesystem::path folder, std::int64_t last) : folder_(std::move(folder)) {
  keep_until(folder_ / kLines, last, "", step_in_json);
  keep_until(folder_ / kTable, last, as_text(kHead, '\n'), step_in_csv);
}

void RunLog::write(const TrainedStep& s) const {
  const std::pair<std::string_view, std::string> fields[] = {
      {"step", std::to_string(s.step)},
      {"loss", json::number_text(s.loss)},
      {"lr", json::number_text(s.lr)},
      {"grad_norm", json::number_text(s.grad_norm)},
      {"seconds", json::number_text(s.seconds)},
      {"tokens_per_second", json::number_text(s.tokens_per_second)},
      {"evaluation", s.evaluation ? json::number_text(*s.evaluation) : ""}};
  std::string line, row;
  for (const auto& [name, value] : fields) {
    if (!line.empty()) row += ',';
    row += value;
    if (!value.empty()) line += as_text(line.empty() ? '{' : ',', '"', name, "\":", value);
  }
  line += "}\n";
  row += '\n';
  const auto lines = folder_ / kLines, table = folder_ / kTable;
  append_file(lines, line, kLog);
  append_file(table, row, kLog);
}

}  // namespace tend::nn
