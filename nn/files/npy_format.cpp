#include <tend/nn/files/npy_format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>

#include <tend/core/array/shape.h>
#include <tend/core/base/error.h>
#include <tend/nn/files/json.h>

namespace tend::nn::npy {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are written as in memory");

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr std::size_t kMaxNpyDims = 64;
// NumPy's headers have about a hundred bytes. A header longer than this is not read.
constexpr std::uint64_t kMaxNpyHeader = 1'000'000;
constexpr std::size_t kAlign = 64;

struct NpyType {
  std::string_view name;  // without the byte order
  std::string_view long_name;
  NumberKind kind;
};
constexpr std::array kNpyTypes{
    NpyType{"b1", "bool", NumberKind::boolean}, NpyType{"i1", "int8", NumberKind::i8},
    NpyType{"i2", "int16", NumberKind::i16},    NpyType{"i4", "int32", NumberKind::i32},
    NpyType{"i8", "int64", NumberKind::i64},    NpyType{"u1", "uint8", NumberKind::u8},
    NpyType{"u2", "uint16", NumberKind::u16},   NpyType{"u4", "uint32", NumberKind::u32},
    NpyType{"u8", "uint64", NumberKind::u64},   NpyType{"f2", "float16", NumberKind::f16},
    NpyType{"f4", "float32", NumberKind::f32},  NpyType{"f8", "float64", NumberKind::f64},
};

std::string descr_of(DType dtype) {
  const NpyType& type = *std::ranges::find(kNpyTypes, kind_of(dtype), &NpyType::kind);
  return (dtype == boolean ? '|' : '<') + std::string(type.name);
}

// Describes the dtypes for which NumPy uses the letter `kind`. tend cannot read these dtypes.
std::string_view kind_name(char kind) {
  switch (kind) {
    case 'c': return "complex numbers";
    case 'f': return "floats of that size (longdouble)";
    case 'S':
    case 'a':
    case 'U': return "text";
    case 'M':
    case 'm': return "dates and times";
    case 'O': return "Python objects";
    case 'V': return "structures";
    default: return "that dtype";
  }
}

struct Header {
  NumberKind kind;
  bool swapped;
  bool is_fortran;
  Shape shape;
};

// Finds the three entries of the header, a Python dict as NumPy writes it.
class HeaderParser {
 public:
  HeaderParser(const Source& source, std::string_view text) : source_(source), text_(text) {}

  Header parse() const {
    const std::size_t last = text_.find_last_not_of(" \t\r\n");
    if (!text_.starts_with('{') || text_[last] != '}') refuse("it is not a dict");
    const auto [kind, swapped] = dtype();
    return {kind, swapped, is_fortran(), shape()};
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const {
    source_.refuse("its header is not NumPy's: ", what);
  }

  [[noreturn]] void refuse_dtype(const std::string& what) const {
    fail<UnreadDType>(source_.operation, source_.name, ": ", what);
  }

  static std::string_view without_spaces(std::string_view text) {
    return text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  }

  // The part of the header's text that begins with the value of this entry.
  std::string_view value_of(std::string_view key) const {
    const std::size_t at = text_.find(as_text('\'', key, '\''));
    if (at == std::string_view::npos) refuse(as_text("it has no '", key, '\''));
    const std::string_view rest = without_spaces(text_.substr(at + key.size() + 2));
    if (!rest.starts_with(':')) refuse(as_text("'", key, "' has no value"));
    return without_spaces(rest.substr(1));
  }

  std::pair<NumberKind, bool> dtype() const {
    const std::string_view value = value_of("descr");
    if (value.starts_with('[')) refuse_dtype("structures cannot be read");
    const std::size_t end = value.find_first_of("'\"", 1);
    if (value.find_first_of("'\"") != 0 || end == std::string_view::npos)
      refuse("'descr' is not a text");
    const std::string_view descr = value.substr(1, end - 1);
    const char order = descr.empty() ? '\0' : descr.front();
    const bool has_order = std::string_view("<>|=").find(order) != std::string_view::npos;
    const std::string_view name = has_order ? descr.substr(1) : descr;
    if (const auto* const named = std::ranges::find(kNpyTypes, descr, &NpyType::long_name);
        named != kNpyTypes.end()) {
      return {named->kind, false};
    }
    const auto* const type = std::ranges::find(kNpyTypes, name, &NpyType::name);
    if (type == kNpyTypes.end()) {
      refuse_dtype(as_text(kind_name(name.empty() ? '\0' : name.front()), " (dtype '", shown(descr),
                           "') cannot be read"));
    }
    if (!has_order || (order == '|' && stored_size(type->kind) > 1))
      refuse(as_text("the dtype '", descr, "' does not say its byte order"));
    return {type->kind, order == '>'};
  }

  bool is_fortran() const {
    const std::string_view value = value_of("fortran_order");
    if (value.starts_with("True")) return true;
    if (value.starts_with("False")) return false;
    refuse("'fortran_order' is neither True nor False");
  }

  // Reads a tuple: "()", "(3,)" or "(3, 4)". Python 2 wrote an L after each number.
  Shape shape() const {
    const std::string_view value = value_of("shape");
    const std::size_t end = value.find(')');
    if (!value.starts_with('(') || end == std::string_view::npos)
      refuse("its shape is not a tuple");
    std::string_view tuple = without_spaces(value.substr(1, end - 1));
    Shape shape;
    while (!tuple.empty()) {
      shape.push_back(take_size(tuple));
      if (shape.size() > kMaxNpyDims) refuse("its shape has more than 64 dimensions");
    }
    return shape;
  }
  std::int64_t take_size(std::string_view& tuple) const {
    std::int64_t size = 0;
    const auto [end, error] = std::from_chars(tuple.data(), tuple.data() + tuple.size(), size);
    if (error != std::errc() || size < 0) refuse("its shape has a part that is not a size");
    tuple.remove_prefix(static_cast<std::size_t>(end - tuple.data()));
    if (tuple.starts_with('L')) tuple.remove_prefix(1);
    tuple = without_spaces(tuple);
    if (tuple.empty()) return size;
    if (!tuple.starts_with(',')) refuse("its shape has a part that is not a size");
    tuple = without_spaces(tuple.substr(1));
    return size;
  }

  const Source& source_;
  std::string_view text_;
};

// The bytes before the header's text: the magic, a version of two bytes, and the text's length.
struct Start {
  std::uint64_t bytes = 0;
  std::uint64_t header_bytes = 0;
};

Start read_start(const Source& source) {
  std::array<unsigned char, 12> bytes{};
  constexpr std::size_t kFixed = kMagic.size() + 2;
  if (source.size < kFixed + 2) source.refuse("is too short for a .npy file");
  source.read(bytes.data(), kFixed + 2);
  if (!has_magic(bytes.data())) source.refuse("is not a .npy file");
  const int major = bytes[kMagic.size()], minor = bytes[kMagic.size() + 1];
  if (major < 1 || major > 3 || minor != 0) {
    source.refuse("version ", major, '.', minor, " of .npy is unknown");
  }
  Start start{kFixed + 2, bytes[kFixed] + 256ULL * bytes[kFixed + 1]};
  if (major > 1) {
    if (source.size < kFixed + 4) source.refuse("is too short for a .npy file");
    source.read(&bytes[kFixed + 2], 2);
    start.bytes += 2;
    start.header_bytes +=
        (std::uint64_t{bytes[kFixed + 2]} << 16) + (std::uint64_t{bytes[kFixed + 3]} << 24);
  }
  const std::uint64_t room = source.size - start.bytes;
  if (start.header_bytes > std::min(room, kMaxNpyHeader)) {
    source.refuse("a header of ", start.header_bytes, " bytes is too long in a file of ",
                  source.size);
  }
  return start;
}

void check_size(const Source& source, const Header& header, std::uint64_t data_bytes) {
  const std::optional<std::int64_t> stored = stored_bytes(header.kind, header.shape);
  if (!stored) source.refuse("its shape ", header.shape, " is beyond 2^63 bytes");
  if (static_cast<std::uint64_t>(*stored) != data_bytes) {
    source.refuse("its shape ", header.shape, " takes ", *stored, " bytes, but ", data_bytes,
                  " follow the header");
  }
}

// The elements that begin at `position`, row-major.
Array read_elements(const Source& source, const Header& header, std::uint64_t position,
                    const Shape& shape) {
  if (source.mapped && !header.swapped) {
    if (const auto mapped = source.mapped(header.kind, position, shape)) return *mapped;
  }
  Array out = Array::empty(shape, widened(header.kind));
  if (const auto bad = read_numbers(header.kind, header.swapped, source.read, out)) {
    Shape at = unravel_index(*bad, shape);
    if (header.is_fortran) std::reverse(at.begin(), at.end());
    source.refuse("int64 cannot hold the uint64 at ", at);
  }
  return out;
}

}  // namespace

bool has_magic(const void* bytes) {
  return std::memcmp(bytes, kMagic.data(), kMagic.size()) == 0;
}

std::string header_text(std::string_view operation, const std::string& name, const Tensor& tensor) {
  if (!tensor.defined()) fail<IoError>(operation, name, ": the tensor is undefined");
  if (tensor.shape().size() > kMaxNpyDims) {
    fail<IoError>(operation, name, ": NumPy allows at most 64 dimensions, got ",
                  tensor.shape().size());
  }
  std::string text = "{'descr': '" + descr_of(tensor.dtype()) +
                     "', 'fortran_order': False, 'shape': " + to_string(tensor.shape()) + ", }";
  const std::size_t before = kMagic.size() + 4;
  const std::size_t whole = (before + text.size() + 1 + kAlign - 1) / kAlign * kAlign;
  text.resize(whole - before - 1, ' ');
  text += '\n';
  std::string start(kMagic);
  start += {'\1', '\0', static_cast<char>(text.size() % 256), static_cast<char>(text.size() / 256)};
  return start + text;
}

Tensor read(const Source& source) {
  const Start start = read_start(source);
  std::string text(start.header_bytes, '\0');
  source.read(text.data(), text.size());
  const Header header = HeaderParser(source, text).parse();
  const std::uint64_t position = start.bytes + start.header_bytes;
  check_size(source, header, source.size - position);
  Shape shape = header.shape;
  if (header.is_fortran) std::reverse(shape.begin(), shape.end());
  Array out = read_elements(source, header, position, shape);
  if (header.is_fortran) {
    Shape dims = shape;
    for (std::int64_t i = 0; i < dims.rank(); ++i) dims[i] = dims.rank() - 1 - i;
    out = out.permute(dims);
  }
  return Tensor(out);
}

}  // namespace tend::nn::npy
