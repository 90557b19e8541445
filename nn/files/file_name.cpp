#include <tend/nn/files/file_name.h>

#include <tend/nn/files/input_file.h>

namespace tend::nn {

std::string read_text(const FileName& file) {
  InputFile input(file.path, file.operation);
  std::string text(input.size(), '\0');
  input.read(text.data(), text.size());
  return text;
}

std::string shown(std::string_view text) {
  constexpr std::size_t kMax = 200;
  return text.size() <= kMax ? std::string(text) : as_text(text.substr(0, kMax), "...");
}

}  // namespace tend::nn
