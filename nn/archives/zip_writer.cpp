#include <tend/nn/archives/zip_writer.h>

#include <algorithm>
#include <array>
#include <memory>

#include <tend/core/base/error.h>
#include <tend/nn/files/json.h>

#include <zlib.h>
#include <nlohmann/json.hpp>

namespace tend::nn {
namespace {

// Numbers of the format: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
constexpr std::uint64_t kMax16 = 0xffff, kMax32 = 0xffffffff;
constexpr std::uint16_t kUtf8Names = 0x0800;
constexpr std::uint16_t kZip64Extra = 1;
constexpr std::uint16_t kPaddingExtra = 0x4246;  // "FB", which readers do not know and skip
constexpr std::uint16_t kFirstDate = 0x21;       // 1980-01-01: the same bytes at any time
constexpr std::uint64_t kLocalHeader = 30;

// Appends little-endian numbers.
struct Fields {
  std::string& text;

  Fields& number(std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
    return *this;
  }
  Fields& u16(std::uint64_t value) { return number(value, 2); }
  Fields& u32(std::uint64_t value) { return number(value, 4); }
  Fields& u64(std::uint64_t value) { return number(value, 8); }
};

// zlib counts in 32 bits.
template <class F>
void in_pieces(std::string_view data, F f) {
  constexpr std::size_t kPiece = std::size_t{1} << 30;
  for (; !data.empty(); data.remove_prefix(std::min(data.size(), kPiece)))
    f(reinterpret_cast<const Bytef*>(data.data()),
      static_cast<uInt>(std::min(data.size(), kPiece)));
}

std::uint32_t checksum_of(std::span<const std::string_view> parts) {
  uLong sum = crc32(0, nullptr, 0);
  for (const std::string_view part : parts)
    in_pieces(part, [&](const Bytef* data, uInt bytes) { sum = crc32(sum, data, bytes); });
  return static_cast<std::uint32_t>(sum);
}

struct EndDeflate {
  void operator()(z_stream* stream) const noexcept { deflateEnd(stream); }
};

// Deflates what the stream was given, until it wants more (or, to finish, to its end).
void deflate_into(z_stream& stream, int flush, std::string& out) {
  std::array<char, 65'536> buffer;
  do {
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    deflate(&stream, flush);  // which cannot fail: the stream's state is good
    out.append(buffer.data(), buffer.size() - stream.avail_out);
  } while (stream.avail_out == 0);
}

std::string deflated(std::span<const std::string_view> parts) {
  z_stream stream{};
  // Without zlib's own header, as zip has it; otherwise zlib's defaults.
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    fail_memory("zip");
  }
  const std::unique_ptr<z_stream, EndDeflate> end(&stream);
  std::string out;
  for (const std::string_view part : parts) {
    in_pieces(part, [&](const Bytef* data, uInt bytes) {
      stream.next_in = const_cast<Bytef*>(data);  // zlib reads it
      stream.avail_in = bytes;
      deflate_into(stream, Z_NO_FLUSH, out);
    });
  }
  deflate_into(stream, Z_FINISH, out);
  return out;
}

// With one of these in a name, libzip takes it for another encoding than the UTF-8 that it is.
bool is_refused_control(char c) {
  return static_cast<unsigned char>(c) < ' ' && c != '\t' && c != '\n' && c != '\r';
}

}  // namespace

bool is_utf8(const std::string& text) {
  try {
    json::quoted(text);
    return true;
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

void check_entry_name(std::string_view operation, const std::filesystem::path& path,
                      const std::string& name, std::unordered_set<std::string>& names) {
  const FileName file{operation, path};
  if (name.size() > kMax16) file.refuse("the name '", shown(name), "' is too long");
  if (name.find('\0') != std::string::npos || !is_utf8(name))
    file.refuse("a name is not UTF-8, or has a zero byte");
  if (std::ranges::any_of(name, is_refused_control)) {
    file.refuse("the name '", shown(name), "' has a control character, with which libzip refuses ",
                "the archive");
  }
  if (!names.insert(name).second) file.refuse("the name '", shown(name), "' is used twice");
}

void ZipWriter::put_text(std::string_view text) {
  put_(text.data(), text.size());
  at_ += text.size();
}

void ZipWriter::add(const std::string& name, std::span<const std::string_view> parts) {
  Sizes sizes;
  sizes.checksum = checksum_of(parts);
  for (const std::string_view part : parts) sizes.size += part.size();
  sizes.packed = sizes.size;
  std::string packed;
  std::string_view packed_part;
  if (options_.compressed) {
    packed = deflated(parts);
    sizes.packed = packed.size();
    packed_part = packed;
    parts = std::span(&packed_part, 1);
  }
  const std::uint64_t begin = at_;
  put_local_header(name, sizes);
  for (const std::string_view part : parts) put_text(part);
  add_to_directory(name, sizes, begin);
}

void ZipWriter::put_local_header(const std::string& name, const Sizes& sizes) {
  const bool is_large = std::max(sizes.size, sizes.packed) >= kMax32;
  std::string extra;
  if (is_large) Fields{extra}.u16(kZip64Extra).u16(16).u64(sizes.size).u64(sizes.packed);
  if (options_.align > 1 && !options_.compressed) {
    const std::uint64_t data = at_ + kLocalHeader + name.size() + extra.size() + 4;
    const std::uint64_t padding = (0 - data) % options_.align;
    Fields{extra}.u16(kPaddingExtra).u16(padding);
    extra.append(padding, 'Z');
  }
  std::string header;
  Fields{header}
      .u32(0x04034b50)
      .u16(is_large ? 45 : 20)
      .u16(kUtf8Names)
      .u16(options_.compressed ? Z_DEFLATED : 0)
      .u16(0)
      .u16(kFirstDate)
      .u32(sizes.checksum)
      .u32(is_large ? kMax32 : sizes.packed)
      .u32(is_large ? kMax32 : sizes.size)
      .u16(name.size())
      .u16(extra.size());
  put_text(header + name + extra);
}

void ZipWriter::add_to_directory(const std::string& name, const Sizes& sizes, std::uint64_t begin) {
  ++count_;
  std::string large;
  const auto in_32 = [&](std::uint64_t value, bool is_large) -> std::uint64_t {
    if (is_large) Fields{large}.u64(value);
    return is_large ? kMax32 : value;
  };
  const bool is_large = std::max(sizes.size, sizes.packed) >= kMax32;
  const std::uint64_t size = in_32(sizes.size, is_large), packed = in_32(sizes.packed, is_large),
                      offset = in_32(begin, begin >= kMax32);
  const std::uint64_t version = large.empty() ? 20 : 45;
  std::string extra;
  if (!large.empty()) Fields{extra}.u16(kZip64Extra).u16(large.size());
  extra += large;
  Fields{directory_}
      .u32(0x02014b50)
      .u16(version)
      .u16(version)
      .u16(kUtf8Names)
      .u16(options_.compressed ? Z_DEFLATED : 0)
      .u16(0)
      .u16(kFirstDate)
      .u32(sizes.checksum)
      .u32(packed)
      .u32(size)
      .u16(name.size())
      .u16(extra.size())
      .u16(0)
      .u16(0)
      .u16(0)
      .u32(0)
      .u32(offset);
  directory_ += name + extra;
}

void ZipWriter::finish() {
  const std::uint64_t begin = at_;
  put_text(directory_);
  std::string end;
  Fields fields{end};
  if (count_ >= kMax16 || begin >= kMax32 || directory_.size() >= kMax32) {
    fields.u32(0x06064b50).u64(44).u16(45).u16(45).u32(0).u32(0);
    fields.u64(count_).u64(count_).u64(directory_.size()).u64(begin);
    fields.u32(0x07064b50).u32(0).u64(begin + directory_.size()).u32(1);
  }
  fields.u32(0x06054b50).u16(0).u16(0);
  fields.u16(std::min(count_, kMax16)).u16(std::min(count_, kMax16));
  fields.u32(std::min<std::uint64_t>(directory_.size(), kMax32))
      .u32(std::min(begin, kMax32))
      .u16(0);
  put_text(end);
}

}  // namespace tend::nn
