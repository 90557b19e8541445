#include <tend/nn/archives/tar_reader.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <system_error>

#include <tend/nn/files/file_name.h>

namespace tend::nn {
namespace {

// The format: https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html
constexpr std::uint64_t kTarBlock = 512;
// Times and the like, which Python puts before each file. Real ones have some dozens of bytes.
constexpr std::uint64_t kMaxAttributes = 65'536;

struct TarField {
  std::size_t begin;
  std::size_t size;
};
constexpr TarField kTarName{0, 100}, kTarSize{124, 12}, kTarChecksum{148, 8}, kTarPrefix{345, 155};
constexpr std::size_t kTarType = 156;

using TarBlock = std::array<char, kTarBlock>;

// Up to a zero byte.
std::string_view text_in(const TarBlock& block, const TarField& field) {
  const std::string_view text(block.data() + field.begin, field.size);
  return text.substr(0, text.find('\0'));
}

// A number in octal digits, with spaces around it.
std::optional<std::uint64_t> number_in(const TarBlock& block, const TarField& field) {
  std::string_view text = text_in(block, field);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  text = text.substr(0, text.find(' '));
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, number, 8);
  if (error != std::errc() || last != end) return {};
  return number;
}

// The sum of all bytes, with spaces for the checksum itself.
std::uint64_t checksum_of(const TarBlock& block) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const bool is_checksum = i - kTarChecksum.begin < kTarChecksum.size;
    sum += is_checksum ? ' ' : static_cast<unsigned char>(block[i]);
  }
  return sum;
}

bool is_zero(const TarBlock& block) {
  return std::all_of(block.begin(), block.end(), [](char byte) { return byte == 0; });
}

}  // namespace

TarReader::TarReader(const std::filesystem::path& path, std::string_view operation)
    : file_(path, operation), operation_(operation), name_(path.string()) {
  std::uint64_t at = 0;
  while (read_entry(at)) {
  }
  check_end(at);
}

bool TarReader::read_entry(std::uint64_t& at) {
  TarBlock block;
  if (file_.size() - at < kTarBlock) file_.refuse("ends too early");
  file_.read_at(at, block.data(), kTarBlock);
  if (is_zero(block)) return false;
  if (number_in(block, kTarChecksum) != checksum_of(block))
    file_.refuse("the header at ", at, " has another checksum");
  at += kTarBlock;
  const std::string name(text_in(block, kTarName));
  const auto size = number_in(block, kTarSize);
  const std::uint64_t left = file_.size() - at;
  if (!size || *size > left) file_.refuse("'", shown(name), "' leaves the archive");
  const Range range{at, *size};
  at += std::min(left, (*size + kTarBlock - 1) / kTarBlock * kTarBlock);
  const char type = block[kTarType];
  if (type == 'x' || type == 'g') {
    check_attributes(range);
  } else if ((type != '0' && type != '\0') || !text_in(block, kTarPrefix).empty()) {
    file_.refuse("'", shown(name), "' is no regular file with a short name");
  } else if (!files_.try_emplace(name, range).second) {
    file_.refuse("the name '", shown(name), "' is used twice");
  }
  return true;
}

// Attributes stand before their file, "LENGTH KEY=VALUE\n" each. Those that would give the file
// another name or size, or make it a sparse one, are refused; the others change nothing.
void TarReader::check_attributes(const Range& range) const {
  if (range.size > kMaxAttributes) file_.refuse("attributes of ", range.size, " bytes");
  std::string text(range.size, '\0');
  file_.read_at(range.begin, text.data(), text.size());
  std::string_view rest = text;
  while (!rest.empty()) {
    std::size_t length = 0;
    const auto [last, error] = std::from_chars(rest.data(), rest.data() + rest.size(), length);
    const auto digits = static_cast<std::size_t>(last - rest.data());
    if (error != std::errc() || length <= digits + 1 || length > rest.size())
      file_.refuse("its attributes cannot be read");
    const std::string_view record = rest.substr(digits + 1, length - digits - 1);
    const std::string_view key = record.substr(0, record.find('='));
    if (key == "path" || key == "size" || key == "linkpath" || key.starts_with("GNU.sparse"))
      file_.refuse("the attribute '", shown(key), "' is not read");
    rest.remove_prefix(length);
  }
}

// Two blocks of zeros, and nothing else after them.
void TarReader::check_end(std::uint64_t at) const {
  const std::uint64_t left = file_.size() - at;
  if (left < 2 * kTarBlock || left % kTarBlock != 0) file_.refuse("ends too early");
  TarBlock block;
  for (; at < file_.size(); at += kTarBlock) {
    file_.read_at(at, block.data(), kTarBlock);
    if (!is_zero(block)) file_.refuse("something follows the archive's end");
  }
}

ByteReader TarReader::open(std::string_view name) const {
  const auto found = files_.find(name);
  if (found == files_.end()) file_.refuse("is no file of torch.save: it has no '", name, "'");
  const Range range = found->second;
  return ByteReader(operation_, name_ + ", '" + found->first + "'", range.size,
                    [this, at = range.begin](void* to, std::uint64_t bytes) mutable {
                      file_.read_at(at, to, bytes);
                      at += bytes;
                    });
}

}  // namespace tend::nn
