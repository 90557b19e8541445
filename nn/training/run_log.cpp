#include <tend/nn/training/run_log.h>

#include <algorithm>
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

constexpr const char* kLines = "log.jsonl";
constexpr const char* kTable = "log.csv";
constexpr const char* kHead = "step,loss,lr,grad_norm,seconds,tokens_per_second,evaluation";

// The step of a line; nothing for one that is broken.
std::optional<std::int64_t> step_in_json(const std::string& line) {
  const auto parsed = nlohmann::json::parse(line, nullptr, false);
  if (!parsed.is_object() || !parsed.contains("step") || !parsed["step"].is_number_integer())
    return std::nullopt;
  return parsed["step"].get<std::int64_t>();
}

std::optional<std::int64_t> step_in_csv(const std::string& line) {
  const auto commas = std::count(line.begin(), line.end(), ',');
  if (commas != std::count(kHead, kHead + std::string_view(kHead).size(), ',')) return std::nullopt;
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), step);
  return error == std::errc() && *end == ',' ? std::optional(step) : std::nullopt;
}

// Keeps the lines up to step `last`, behind `head`.
void keep_until(const std::filesystem::path& path, std::int64_t last, const std::string& head,
                std::optional<std::int64_t> (*step_in)(const std::string&)) {
  std::string kept = head;
  std::ifstream file;
  std::error_code unknown;  // nothing is read from pipes and the like, nor from what is not there
  if (std::filesystem::is_regular_file(path, unknown)) {
    file.open(path, std::ios::binary);
    if (!file) fail<IoError>("RunLog", path, " cannot be read");
  }
  for (std::string line; std::getline(file, line);) {
    const auto step = step_in(line);
    if (step && *step <= last) kept += line + '\n';
  }
  write_file(path, kept, "RunLog");
}

void append(const std::filesystem::path& path, const std::string& line) {
  std::ofstream file(path, std::ios::binary | std::ios::app);
  file << line << std::flush;
  if (!file) fail<IoError>("RunLog", path, " cannot be written");
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
  with_memory([&] {
    keep_until(folder_ / kLines, last, "", step_in_json);
    keep_until(folder_ / kTable, last, as_text(kHead, '\n'), step_in_csv);
  });
}

void RunLog::write(const TrainedStep& s) const {
  with_memory([&] {
    nlohmann::ordered_json line{{"step", s.step},       {"loss", s.loss},
                                {"lr", s.lr},           {"grad_norm", s.grad_norm},
                                {"seconds", s.seconds}, {"tokens_per_second", s.tokens_per_second}};
    if (s.evaluation) line["evaluation"] = *s.evaluation;
    append(folder_ / kLines, line.dump() + '\n');
    std::string row;
    for (const char* name :
         {"step", "loss", "lr", "grad_norm", "seconds", "tokens_per_second", "evaluation"}) {
      if (!row.empty()) row += ',';
      if (line.contains(name)) row += line[name].dump();
    }
    append(folder_ / kTable, row + '\n');
  });
}

}  // namespace tend::nn
