#include <tend/nn/training/run_log.h>

#include <charconv>
#include <fstream>
#include <iomanip>
#include <locale>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include <tend/core/base/error.h>
#include <tend/nn/files/write_file.h>

namespace tend::nn {
namespace {

constexpr const char* kLog = "RunLog";
constexpr const char* kLines = "log.jsonl";
constexpr const char* kTable = "log.csv";
constexpr auto kReplace = nlohmann::json::error_handler_t::replace;  // for bytes that are not UTF-8
constexpr std::string_view kHead = "step,loss,lr,grad_norm,seconds,tokens_per_second,evaluation";

// Rewrites the file: `head`, and then the lines of the steps up to `last`. Each line begins with
// `start` and the number of its step.
void keep_until(const std::filesystem::path& path, std::int64_t last, const std::string& head,
                std::string_view start) {
  std::ifstream file(path);
  std::string kept = head;
  for (std::string line; std::getline(file, line) && !file.eof();) {
    if (!line.starts_with(start)) continue;
    std::int64_t step = 0;
    const char* const end = line.data() + line.size();
    const auto [stop, error] = std::from_chars(line.data() + start.size(), end, step);
    if (error == std::errc() && stop != end && step <= last) kept += line + '\n';
  }
  write_file(path, kept, kLog);
}

// The number as in JSON: null if it is not finite.
std::string text_of(double number) {
  return nlohmann::json(number).dump();
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
  keep_until(folder_ / kLines, last, "", "{\"step\":");
  keep_until(folder_ / kTable, last, std::string(kHead) + '\n', "");
}

void RunLog::write(const TrainedStep& s) const {
  const std::pair<std::string_view, std::string> fields[] = {
      {"step", std::to_string(s.step)},
      {"loss", text_of(s.loss)},
      {"lr", text_of(s.lr)},
      {"grad_norm", text_of(s.grad_norm)},
      {"seconds", text_of(s.seconds)},
      {"tokens_per_second", text_of(s.tokens_per_second)},
      {"evaluation", s.evaluation ? text_of(*s.evaluation) : ""}};
  std::string line, row;
  for (const auto& [name, value] : fields) {
    if (!line.empty()) row += ',';
    row += value;
    if (!value.empty()) line += as_text(line.empty() ? '{' : ',', '"', name, "\":", value);
  }
  if (!s.scores.empty()) {
    nlohmann::ordered_json scores;
    for (const auto& [name, numbers] : s.scores) scores[name] = numbers;
    line += ",\"scores\":" + scores.dump(-1, ' ', false, kReplace);
  }
  line += "}\n";
  row += '\n';
  const auto lines = folder_ / kLines, table = folder_ / kTable;
  append_file(lines, line, kLog);
  append_file(table, row, kLog);
}

}  // namespace tend::nn
