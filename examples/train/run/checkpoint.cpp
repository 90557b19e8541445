#include "examples/train/run/checkpoint.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include <tend/nn/training/checkpoint_folder.h>

#include "examples/train/run/command_line.h"

namespace train {

namespace {

constexpr const char* kFormat = "tend train 6";

std::string sizes_json(const Training& training) {
  const Options& s = training.options;
  const nlohmann::ordered_json sizes{{"vocabulary", training.task.labels.size()},
                                     {"context", training.task.context()},
                                     {"layers", s.layers},
                                     {"heads", s.heads},
                                     {"width", s.width},
                                     {"parameters", training.model.num_parameters()}};
  return sizes.dump();
}

/// The checkpoint at `path`. For a folder, this is its latest checkpoint, which a run wrote at its
/// end or because of --save-every.
std::filesystem::path file_of(const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  if (!fs::is_directory(path)) return path;
  const fs::path last = tend::nn::CheckpointFolder(path).last();
  const fs::path end = path / CommandLine().checkpoint;
  if (!fs::exists(end)) {
    if (last.empty()) throw std::runtime_error(path.string() + " has no checkpoint");
    return last;
  }
  return last.empty() || fs::last_write_time(end) > fs::last_write_time(last) ? end : last;
}

}  // namespace

std::map<std::string, std::string> checkpoint_settings(const Training& training) {
  return {{"format", kFormat},
          {"settings", options_to_json(training.options)},
          // Stores the labels, not the spellings: a spelling may be a byte that is not UTF-8, which
          // JSON does not allow.
          {"vocabulary", nlohmann::json(training.task.labels).dump()},
          {"sizes", sizes_json(training)},
          {"text", std::to_string(training.task.fingerprint)}};
}

Checkpoint::Checkpoint(const std::filesystem::path& path)
    : path_(file_of(path)), file_(tend::nn::load_run(path_)) {
  const auto format = file_.metadata.find("format");
  if (format == file_.metadata.end() || format->second != kFormat)
    throw std::runtime_error(path_.string() + " was not written by this version of train");
  try {
    options_ = options_from_json(file_.metadata["settings"]);
  } catch (const std::exception& error) {
    throw std::runtime_error(path_.string() + ": " + error.what());
  }
}

void Checkpoint::restore(Training& training) const {
  for (const auto& [key, expected] : checkpoint_settings(training)) {
    const auto found = file_.metadata.find(key);
    const std::string value = found == file_.metadata.end() ? "" : found->second;
    if (key == "settings" || value == expected) continue;
    if (key == "text") throw std::runtime_error(path_.string() + " was trained on another text");
    throw std::runtime_error(path_.string() + " has another " + key + ": " + value + ", not " +
                             expected);
  }
  training.trainer.state.load_state_dict(file_.tensors);
  if (static_cast<std::uint64_t>(training.trainer.steps_done()) != training.steps_done())
    throw std::runtime_error(path_.string() + " has different numbers of steps and of losses");
  training.trainer.set_steps(static_cast<std::int64_t>(training.steps_planned()));
}

}  // namespace train
