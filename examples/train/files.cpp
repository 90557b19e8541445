#include "files.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <unistd.h>

namespace train {

namespace {

[[noreturn]] void fail(const std::string& what, const std::string& path, int error) {
  throw std::runtime_error("cannot " + what + " " + path + ": " + std::strerror(error));
}

}  // namespace

std::string read_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  // A folder opens but does not read; an empty file makes the insertion fail without an error.
  if (!file || (!(content << file.rdbuf()) && errno != 0)) fail("read", path, errno);
  return content.str();
}

void write_file(const std::string& path, std::string_view content) {
  const std::string beside = path + ".part";
  errno = 0;
  std::ofstream file(beside, std::ios::binary);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  if (!file) fail("write", path, errno);
  std::error_code error;
  std::filesystem::rename(beside, path, error);
  if (error) fail("write", path, error.value());
}

void check_can_write(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (std::filesystem::is_directory(path)) fail("write", path, EISDIR);
  if (access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0) fail("write", path, errno);
}

}  // namespace train
