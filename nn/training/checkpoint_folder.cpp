#include <tend/nn/training/checkpoint_folder.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <tend/nn/files/file_name.h>
#include <tend/nn/files/write_file.h>

namespace tend::nn {

namespace {

constexpr const char* kFolder = "CheckpointFolder";
constexpr std::string_view kBefore = "step-", kBehind = ".safetensors";
constexpr std::size_t kDigits = 8;  // so that names sort as steps do

std::string file_name(std::int64_t step) {
  const std::string digits = std::to_string(step);
  const std::size_t zeros = kDigits - std::min(kDigits, digits.size());
  return as_text(kBefore, std::string(zeros, '0'), digits, kBehind);
}

std::optional<std::int64_t> step_of(const std::string& name) {
  std::int64_t step = 0;
  if (name.size() <= kBefore.size() + kBehind.size()) return std::nullopt;
  std::from_chars(name.data() + kBefore.size(), name.data() + name.size(), step);
  if (name != file_name(step)) return std::nullopt;
  return step;
}

}  // namespace

CheckpointFolder::CheckpointFolder(std::filesystem::path folder, std::int64_t keep)
    : folder_(std::move(folder)), keep_(keep) {
  if (keep < 1) fail(kFolder, "keep must be at least 1, got ", keep);
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) fail<IoError>(kFolder, folder_, " cannot be made: ", error.message());
}

std::filesystem::path CheckpointFolder::save(
    const RunState& run, std::int64_t step,
    const std::map<std::string, std::string>& settings) const {
  if (step < 0) fail("CheckpointFolder::save", "step ", step, " is negative");
  std::filesystem::path path = folder_ / file_name(step);
  run.save(path, settings);
  clear(step);
  return path;
}

void CheckpointFolder::clear(std::int64_t step) const {
  remove_leftovers(folder_, kBefore);
  const auto there = steps();
  auto left = std::distance(there.begin(), there.upper_bound(step));
  for (const auto& [each, file] : there) {
    std::error_code ignored;  // a checkpoint that cannot be removed does no harm
    if (left > keep_ || each > step) std::filesystem::remove(file, ignored);
    --left;
  }
}

std::map<std::int64_t, std::filesystem::path> CheckpointFolder::steps() const {
  std::map<std::int64_t, std::filesystem::path> found;
  std::error_code error;
  for (const auto& each : std::filesystem::directory_iterator(folder_, error)) {
    const auto step = step_of(each.path().filename().string());
    if (step && each.is_regular_file()) found[*step] = each.path();
  }
  // Without this error the folder would look empty, and a new run would replace another run's
  // checkpoints.
  if (error) fail<IoError>(kFolder, folder_, " cannot be read: ", error.message());
  return found;
}

std::filesystem::path CheckpointFolder::last() const {
  const auto there = steps();
  return there.empty() ? std::filesystem::path() : there.rbegin()->second;
}

}  // namespace tend::nn
