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
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char c : text.substr(0, kMax)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      out += c;
    } else {
      out += {'\\', 'x', kDigits[byte / 16], kDigits[byte % 16]};
    }
  }
  return text.size() <= kMax ? out : out + "...";
}

}  // namespace tend::nn
