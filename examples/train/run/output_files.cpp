#include "examples/train/run/output_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include <tend/nn/files/write_file.h>
#include <tend/nn/training/checkpoint_folder.h>

#include "examples/program.h"

namespace train {

namespace {

namespace fs = std::filesystem;

constexpr const char* kNoFile = "none";

fs::path folder_of(const fs::path& file) {
  return fs::absolute(file).parent_path();
}

/// The folder of the checkpoints on the way, and of the logs beside them.
fs::path saving_folder(const CommandLine& o) {
  return o.out.empty() ? "." : o.out;
}

/// What --save-every writes there, except for checkpoints.
constexpr std::array<std::string_view, 2> kLogs{"log.jsonl", "log.csv"};

/// Checkpoints and logs would replace files of such names.
void refuse_saved_names(const CommandLine& o, const std::string& text) {
  const fs::path folder = fs::weakly_canonical(saving_folder(o));
  for (const std::string& file : {o.report, o.checkpoint, o.json, text}) {
    const fs::path path = fs::weakly_canonical(file);
    const std::string name = path.filename().string();
    const bool is_log = std::ranges::find(kLogs, name) != kLogs.end();
    if (!file.empty() && path.parent_path() == folder && (is_log || name.starts_with("step-")))
      throw std::invalid_argument(file + " has a name of what --save-every writes");
  }
}

/// Whether the run goes on with one that has its files in this folder.
bool is_resumed_in(const fs::path& folder, const CommandLine& o) {
  if (o.resume.empty()) return false;
  const fs::path resumed = fs::is_directory(o.resume) ? fs::path(o.resume) : folder_of(o.resume);
  std::error_code error;
  return fs::equivalent(folder, resumed, error);
}

/// Whether the run writes to the folder of the checkpoints on the way. Those of another run that
/// are there must go then, also where this one writes none: --resume would take them for its own.
bool uses_saving_folder(const CommandLine& o) {
  const fs::path folder = fs::weakly_canonical(saving_folder(o));
  const auto lies_there = [&](const std::string& file) {
    return !file.empty() && fs::weakly_canonical(folder_of(file)) == folder;
  };
  return o.save_every > 0 || lies_there(o.report) || lies_there(o.checkpoint) || lies_there(o.json);
}

/// What would be lost of another run's checkpoints and logs.
std::optional<fs::path> find_saved(const CommandLine& o) {
  const fs::path folder = saving_folder(o);
  if (!fs::is_directory(folder) || !uses_saving_folder(o)) return std::nullopt;
  const fs::path last = tend::nn::CheckpointFolder(folder).last();
  if (!last.empty()) return last;
  for (const std::string_view log : kLogs) {
    if (fs::exists(folder / log)) return folder / log;
  }
  return std::nullopt;
}

void refuse_shared_files(const CommandLine& o, const std::string& text) {
  const std::vector<std::pair<std::string, std::string>> files{{"--report", o.report},
                                                               {"--checkpoint", o.checkpoint},
                                                               {"--json", o.json},
                                                               {"--resume", o.resume},
                                                               {"--text", text}};
  for (std::size_t i = 0; i < 3; ++i) {  // those that are written
    for (std::size_t j = i + 1; j < files.size(); ++j) {
      const auto& [name, file] = files[i];
      const auto& [other_name, other] = files[j];
      if (file.empty() || other.empty() || !program::is_same_file(file, other)) continue;
      if (name == "--checkpoint" && other_name == "--resume") continue;
      std::string message = name;
      message.append(" and ").append(other_name).append(" are one file, ").append(file);
      throw std::invalid_argument(message);
    }
  }
}

/// Whether a file is there whose content would be lost. What standard output goes to is not: it is
/// written on.
bool would_be_lost(const std::string& file) {
  struct stat status {};
  if (stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat own {};
    if (fstat(descriptor, &own) == 0 && own.st_dev == status.st_dev && own.st_ino == status.st_ino)
      return false;
  }
  return true;
}

void refuse_to_overwrite(const CommandLine& o) {
  if (o.overwrite) return;
  const auto refuse = [&o](const std::string& file) {
    if (is_resumed_in(folder_of(file), o)) return;
    throw std::runtime_error(file +
                             " is there already: --overwrite replaces it, --out DIR writes to "
                             "another folder, --resume goes on with a run in its own");
  };
  for (const std::string& file : {o.report, o.checkpoint, o.json}) {
    if (!file.empty() && would_be_lost(file)) refuse(file);
  }
  const std::optional<fs::path> found = find_saved(o);
  if (found) refuse(found->string());
}

void check_folder(const fs::path& out) {
  if (fs::is_directory(out)) return;
  if (fs::exists(fs::symlink_status(out)))
    throw std::runtime_error("--out " + out.string() + " is no folder");
  fs::path existing = fs::absolute(out);
  while (!fs::exists(existing)) existing = existing.parent_path();
  tend::nn::check_can_write(existing / "file");
}

}  // namespace

void place_files(CommandLine& command_line) {
  for (std::string* file : {&command_line.report, &command_line.checkpoint, &command_line.json}) {
    if (*file == kNoFile) file->clear();
    if (!file->empty()) *file = (fs::path(command_line.out) / *file).string();
  }
}

void check_files(const CommandLine& command_line, const std::string& text) {
  refuse_shared_files(command_line, text);
  if (command_line.save_every > 0) refuse_saved_names(command_line, text);
  if (!command_line.out.empty()) check_folder(command_line.out);
  const fs::path out = (fs::path(command_line.out) / "").parent_path();  // without a last slash
  const bool is_new_folder = !command_line.out.empty() && !fs::exists(command_line.out);
  for (const std::string& file :
       {command_line.report, command_line.checkpoint, command_line.json}) {
    // Files in a folder to come can be written if the folder can.
    if (file.empty() || (is_new_folder && fs::path(file).parent_path() == out)) continue;
    tend::nn::check_can_write(file);
  }
  refuse_to_overwrite(command_line);
}

void prepare_folder(const CommandLine& command_line) {
  if (!command_line.out.empty()) fs::create_directories(command_line.out);
  const fs::path folder = saving_folder(command_line);
  if (!uses_saving_folder(command_line) || is_resumed_in(folder, command_line)) return;
  tend::nn::CheckpointFolder(folder).clear(-1);
  if (command_line.save_every > 0) return;  // which writes its own logs
  for (const std::string_view log : kLogs) fs::remove(folder / log);
}

}  // namespace train
