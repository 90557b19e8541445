// Runs the training program as a user does, for its tests.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <tend/nn/files/safetensors.h>

#include <nlohmann/json.hpp>

#include "tests/examples/process.h"

namespace tend::test {

inline const std::string kProgram = TEND_EXAMPLES "/train";

/// The arguments for a small model and task, followed by `more`. A step takes well under a
/// millisecond. Dropout is on, so that results depend on the random numbers.
inline std::vector<std::string> small(std::vector<std::string> more) {
  std::vector<std::string> words{"--length", "4", "--width",   "8",
                                 "--batch",  "4", "--dropout", "0.1"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

inline Ended run(const std::vector<std::string>& arguments, const TemporaryFolder& folder) {
  return run_program(kProgram, arguments, folder);
}

inline nlohmann::json results(const TemporaryFolder& folder, const std::string& name = "r.json") {
  return nlohmann::json::parse(content(folder.file(name)));
}

/// The names and bytes of everything in a checkpoint, except the training times and the checksum,
/// which depends on these times.
inline std::map<std::string, std::string> state_of(const std::string& path) {
  const tend::nn::Safetensors file = tend::nn::load_safetensors(path);
  std::map<std::string, std::string> state(file.metadata);
  for (const auto& [name, tensor] : file.tensors) {
    const auto* data = static_cast<const char*>(tensor.array().raw());
    state["tensor " + name] = std::string(
        data, static_cast<std::size_t>(tensor.numel() * tend::item_size(tensor.dtype())));
  }
  state.erase("tensor training.history.seconds");
  state.erase("checksum");
  return state;
}

/// Runs the program in a shell. `before` and `behind` are shell text before and after the command,
/// for example variables and redirections.
inline Ended run_in_shell(const std::string& before, const std::string& behind,
                          const std::vector<std::string>& arguments, const TemporaryFolder& folder,
                          Through through = Through::pipe) {
  std::vector<std::string> words{"-c", before + R"( "$0" "$@" )" + behind, kProgram};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_program("/bin/sh", words, folder, through);
}

}  // namespace tend::test
