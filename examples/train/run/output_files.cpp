#include "examples/train/run/output_files.h"

#include <filesystem>
#include <stdexcept>
#include <vector>

#include <tend/nn/files/write_file.h>
#include <tend/nn/training/checkpoint_folder.h>

#include "examples/program.h"

namespace train {

namespace {

namespace fs = std::filesystem;

fs::path folder_of(const CommandLine& o) {
  return o.out.empty() ? "." : o.out;
}

std::vector<fs::path> logs_in(const fs::path& folder) {
  return {folder / "log.jsonl", folder / "log.csv"};
}

/// The folder of the run that --resume continues.
fs::path resumed_folder(const CommandLine& o) {
  if (fs::is_directory(o.resume)) return o.resume;
  const fs::path folder = fs::path(o.resume).parent_path();
  return folder.empty() ? "." : folder;
}

/// True if --resume continues a run whose files are in this folder.
bool is_resumed_in(const fs::path& folder, const CommandLine& o) {
  if (o.resume.empty()) return false;
  std::error_code error;
  return fs::equivalent(folder, resumed_folder(o), error);
}

/// True if the run writes files to its folder. Then the folder must not have another
/// run's checkpoints.
bool uses_folder(const CommandLine& o) {
  return o.save_every > 0 || !o.report.empty() || !o.checkpoint.empty() || !o.json.empty();
}

/// Throws std::runtime_error if an output file exists, or if the folder has checkpoints or logs.
void refuse_to_overwrite(const CommandLine& o) {
  const auto refuse = [&o](const fs::path& file) {
    if (is_resumed_in(fs::absolute(file).parent_path(), o)) return;
    throw std::runtime_error(file.string() +
                             " already exists: --overwrite replaces it, --out DIR writes to "
                             "another folder, --resume continues a run in its own folder");
  };
  for (const std::string& file : {o.report, o.checkpoint, o.json})
    if (fs::is_regular_file(file)) refuse(file);
  const fs::path folder = folder_of(o);
  if (!uses_folder(o) || !fs::is_directory(folder)) return;
  const fs::path last = tend::nn::CheckpointFolder(folder).last();
  if (!last.empty()) refuse(last);
  for (const fs::path& log : logs_in(folder))
    if (fs::exists(log)) refuse(log);
}

}  // namespace

void place_files(CommandLine& o) {
  if (o.out.empty() && !o.resume.empty()) o.out = resumed_folder(o).string();
  for (std::string* file : {&o.report, &o.checkpoint, &o.json}) {
    if (*file == "none") file->clear();
    *file = program::place_in(o.out, *file);
  }
}

void check_files(const CommandLine& o) {
  fs::create_directories(folder_of(o));
  for (const std::string& file : {o.report, o.checkpoint, o.json})
    if (!file.empty()) tend::nn::check_can_write(file);
  if (!o.overwrite) refuse_to_overwrite(o);
}

void clear_folder(const CommandLine& o) {
  const fs::path folder = folder_of(o);
  if (!uses_folder(o) || is_resumed_in(folder, o)) return;
  tend::nn::CheckpointFolder(folder).clear(-1);
  for (const fs::path& log : logs_in(folder)) fs::remove(log);
}

}  // namespace train
