#include "examples/train/run/output_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <tend/nn/files/write_file.h>

#include "examples/train/run/files.h"

namespace train {

namespace {

namespace fs = std::filesystem;

constexpr const char* kNoFile = "none";

fs::path folder_of(const fs::path& file) {
  return fs::absolute(file).parent_path();
}

/// Whether a file in the checkpoint's folder has the name of a step_file.
bool is_step_name(const std::string& checkpoint, const std::string& name) {
  const fs::path path(checkpoint);
  const std::string begin = path.stem().string() + "-";
  const std::string end = path.extension().string();
  if (name.size() <= begin.size() + end.size() || !name.starts_with(begin) || !name.ends_with(end))
    return false;
  const auto first = name.begin() + static_cast<std::ptrdiff_t>(begin.size());
  const auto last = name.end() - static_cast<std::ptrdiff_t>(end.size());
  return std::all_of(first, last, [](char c) { return c >= '0' && c <= '9'; });
}

/// A checkpoint of a step that lies where those of this run will.
std::optional<std::string> find_step_file(const std::string& checkpoint) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_of(checkpoint), error)) {
    if (is_step_name(checkpoint, entry.path().filename().string())) return entry.path().string();
  }
  return std::nullopt;
}

/// The checkpoints of steps would replace a file of such a name.
void refuse_step_names(const CommandLine& o, const std::string& text) {
  const fs::path folder = fs::weakly_canonical(folder_of(o.checkpoint));
  for (const auto& [name, file] : {std::pair<std::string, std::string>{"--report", o.report},
                                   {"--json", o.json},
                                   {"--text", text}}) {
    if (file.empty()) continue;
    const fs::path path = fs::weakly_canonical(file);
    if (path.parent_path() == folder && is_step_name(o.checkpoint, path.filename().string())) {
      std::string message = name;
      message.append(" ").append(file);
      message += " has the name of a checkpoint that --save-every writes";
      throw std::invalid_argument(message);
    }
  }
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
      if (file.empty() || other.empty() || !is_same_file(file, other)) continue;
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
    std::error_code error;
    if (!o.resume.empty() && fs::equivalent(folder_of(file), folder_of(o.resume), error)) return;
    throw std::runtime_error(file +
                             " is there already: --overwrite replaces it, --out DIR writes to "
                             "another folder, --resume goes on with a run in its own");
  };
  for (const std::string& file : {o.report, o.checkpoint, o.json}) {
    if (!file.empty() && would_be_lost(file)) refuse(file);
  }
  if (o.save_every == 0) return;
  const std::optional<std::string> found = find_step_file(o.checkpoint);
  if (found) refuse(*found);
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
  if (command_line.save_every > 0) {
    if (command_line.checkpoint.empty())
      throw std::invalid_argument("--save-every needs a --checkpoint");
    if (fs::exists(command_line.checkpoint) && !fs::is_regular_file(command_line.checkpoint))
      throw std::invalid_argument("--save-every needs a --checkpoint that is a regular file");
    refuse_step_names(command_line, text);
  }
  if (!command_line.out.empty()) check_folder(command_line.out);
  const bool is_new_folder = !command_line.out.empty() && !fs::exists(command_line.out);
  for (const std::string& file :
       {command_line.report, command_line.checkpoint, command_line.json}) {
    // Files in a folder to come can be written if the folder can.
    if (file.empty() ||
        (is_new_folder && fs::path(file).parent_path() == fs::path(command_line.out)))
      continue;
    tend::nn::check_can_write(file);
  }
  refuse_to_overwrite(command_line);
}

void create_folder(const CommandLine& command_line) {
  if (!command_line.out.empty()) fs::create_directories(command_line.out);
}

std::string step_file(const std::string& checkpoint, std::uint64_t step) {
  const fs::path path(checkpoint);
  return (path.parent_path() /
          (path.stem().string() + "-" + std::to_string(step) + path.extension().string()))
      .string();
}

}  // namespace train
