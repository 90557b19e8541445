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

static_assert(std::endian::native == std::endian::little, "elements are written as they lie");

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr std::size_t kMaxNpyDims = 64;
// NumPy's own headers have some hundred bytes; more than this would be read for nothing.
constexpr std::uint64_t kMaxNpyHeader = 1'000'000;
constexpr std::size_t kAlign = 64;

struct NpyType {
  std::string_view name;  // without the byte order
  NumberKind kind;
};
constexpr std::array kNpyTypes{
    NpyType{"b1", NumberKind::boolean}, NpyType{"i1", NumberKind::i8},
    NpyType{"i2", NumberKind::i16},     NpyType{"i4", NumberKind::i32},
    NpyType{"i8", NumberKind::i64},     NpyType{"u1", NumberKind::u8},
    NpyType{"u2", NumberKind::u16},     NpyType{"u4", NumberKind::u32},
    NpyType{"u8", NumberKind::u64},     NpyType{"f2", NumberKind::f16},
    NpyType{"f4", NumberKind::f32},     NpyType{"f8", NumberKind::f64},
};

std::string_view descr_of(DType dtype) {
  switch (dtype) {
    case DType::boolean: return "|b1";
    case DType::int64: return "<i8";
    case DType::float32: return "<f4";
    case DType::float64: break;
  }
  return "<f8";
}

// What NumPy calls dtypes that are not read.
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
  std::optional<NumberKind> kind;
  bool swapped = false;
  std::optional<bool> is_fortran;
  std::optional<Shape> shape;
};

// Reads the header, a Python dict of three entries, from front to end: no more of Python's grammar
// than NumPy writes.
class HeaderParser {
 public:
  HeaderParser(const Source& source, std::string_view text) : source_(source), text_(text) {}

  Header parse() {
    expect('{');
    while (!accept('}')) {
      read_entry();
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (!text_.empty()) refuse_header("something follows its dict");
    if (!header_.kind) refuse_header("it has no 'descr'");
    if (!header_.is_fortran) refuse_header("it has no 'fortran_order'");
    if (!header_.shape) refuse_header("it has no 'shape'");
    return header_;
  }

 private:
  [[noreturn]] void refuse_header(std::string_view what) const {
    source_.refuse("its header is not NumPy's: ", what);
  }
  void skip_space() {
    text_.remove_prefix(std::min(text_.find_first_not_of(" \t\r\n"), text_.size()));
  }
  bool accept(char wanted) {
    skip_space();
    if (text_.empty() || text_.front() != wanted) return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) refuse_header(as_text("'", wanted, "' is missing"));
  }
  bool accept_word(std::string_view word) {
    skip_space();
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  std::string_view read_text() {
    skip_space();
    const char quote = text_.empty() ? '\0' : text_.front();
    if (quote != '\'' && quote != '"') refuse_header("a text is missing");
    const std::size_t end = text_.find(quote, 1);
    if (end == std::string_view::npos) refuse_header("a text has no end");
    const std::string_view text = text_.substr(1, end - 1);
    if (text.find('\\') != std::string_view::npos) refuse_header("a text has a backslash");
    text_.remove_prefix(end + 1);
    return text;
  }

  void read_entry() {
    const std::string_view key = read_text();
    expect(':');
    if (key == "descr" && !header_.kind) return read_descr();
    if (key == "fortran_order" && !header_.is_fortran) return read_order();
    if (key == "shape" && !header_.shape) return read_shape();
    refuse_header(as_text("'", shown(key), "' is unknown or given twice"));
  }
  void read_descr() {
    skip_space();
    if (text_.starts_with('[')) source_.refuse("structures cannot be read");
    const std::string_view descr = read_text();
    const char order = descr.empty() ? '\0' : descr.front();
    const bool has_order = std::string_view("<>|=").find(order) != std::string_view::npos;
    const std::string_view name = has_order ? descr.substr(1) : descr;
    const auto same = [&](const NpyType& type) { return type.name == name; };
    const auto* const type = std::find_if(kNpyTypes.begin(), kNpyTypes.end(), same);
    if (type == kNpyTypes.end()) {
      source_.refuse(kind_name(name.empty() ? '\0' : name.front()), " (dtype '", shown(descr),
                     "') cannot be read");
    }
    if (!has_order || (order == '|' && stored_size(type->kind) > 1)) {
      refuse_header(as_text("the dtype '", descr, "' does not say its byte order"));
    }
    header_.kind = type->kind;
    header_.swapped = order == '>';
  }
  void read_order() {
    if (accept_word("True")) {
      header_.is_fortran = true;
    } else if (accept_word("False")) {
      header_.is_fortran = false;
    } else {
      refuse_header("'fortran_order' is neither True nor False");
    }
  }
  void read_shape() {
    Shape shape;
    expect('(');
    while (!accept(')')) {
      shape.push_back(read_size());
      if (shape.size() > kMaxNpyDims) refuse_header("its shape has more than 64 dimensions");
      const bool has_comma = accept(',');
      if (!has_comma && shape.size() == 1) refuse_header("its shape is no tuple");
      if (!has_comma) {
        expect(')');
        break;
      }
    }
    header_.shape = shape;
  }
  std::int64_t read_size() {
    skip_space();
    std::int64_t size = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), size);
    if (error != std::errc() || size < 0) refuse_header("its shape has a part that is no size");
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    accept_word("L");  // as Python 2 wrote them
    return size;
  }

  const Source& source_;
  std::string_view text_;
  Header header_;
};

// What stands before the header's text: the magic, a version of two bytes, and the text's length.
struct Start {
  std::uint64_t bytes = 0;
  std::uint64_t header_bytes = 0;
};

Start read_start(const Source& source) {
  std::array<unsigned char, 12> bytes{};
  constexpr std::size_t kFixed = kMagic.size() + 2;
  if (source.size < kFixed + 2) source.refuse("is too short for a .npy file");
  source.read(bytes.data(), kFixed + 2);
  if (!has_magic(bytes.data())) source.refuse("is no .npy file");
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
    source.refuse("a header of ", start.header_bytes, " bytes in a file of ", source.size);
  }
  return start;
}

void check_size(const Source& source, const Header& header, std::uint64_t data_bytes) {
  // Sizes of zero count as one, so that no product of some of the sizes overflows later.
  std::int64_t bytes = 8;
  bool overflows = false, is_empty = false;
  for (const std::int64_t size : *header.shape) {
    overflows |= __builtin_mul_overflow(bytes, std::max<std::int64_t>(size, 1), &bytes);
    is_empty |= size == 0;
  }
  if (overflows) source.refuse("its shape ", *header.shape, " is beyond 2^63 bytes");
  const std::int64_t stored = is_empty ? 0 : bytes / 8 * stored_size(*header.kind);
  if (static_cast<std::uint64_t>(stored) != data_bytes) {
    source.refuse("its shape ", *header.shape, " takes ", stored, " bytes, ", data_bytes,
                  " follow the header");
  }
}

}  // namespace

bool has_magic(const void* bytes) {
  return std::memcmp(bytes, kMagic.data(), kMagic.size()) == 0;
}

std::string header_text(std::string_view operation, const std::string& name, const Tensor& tensor) {
  if (!tensor.defined()) fail<IoError>(operation, name, ": the tensor is undefined");
  if (tensor.shape().size() > kMaxNpyDims) {
    fail<IoError>(operation, name, ": ", tensor.shape().size(),
                  " dimensions are more than NumPy's 64");
  }
  std::string text = "{'descr': '" + std::string(descr_of(tensor.dtype())) +
                     "', 'fortran_order': False, 'shape': " + to_string(tensor.shape()) + ", }";
  const std::size_t before = kMagic.size() + 4;
  const std::size_t whole = (before + text.size() + 1 + kAlign - 1) / kAlign * kAlign;
  text.resize(whole - before - 1, ' ');
  text += '\n';
  std::string start(kMagic);
  start += {'\1', '\0', static_cast<char>(text.size() % 256), static_cast<char>(text.size() / 256)};
  return start + text;
}

namespace {

// The elements that begin at `position`, row-major.
Array read_elements(const Source& source, const Header& header, std::uint64_t position,
                    const Shape& shape) {
  if (source.mapped && !header.swapped) {
    if (const auto mapped = source.mapped(*header.kind, position, shape)) return *mapped;
  }
  Array out = Array::empty(shape, widened(*header.kind));
  if (const auto bad = read_numbers(*header.kind, header.swapped, source.read, out)) {
    Shape at = unravel_index(*bad, shape);
    if (*header.is_fortran) std::reverse(at.begin(), at.end());
    source.refuse("int64 cannot hold the uint64 at ", at);
  }
  return out;
}

}  // namespace

Tensor read(const Source& source) {
  const Start start = read_start(source);
  std::string text(start.header_bytes, '\0');
  source.read(text.data(), text.size());
  const Header header = HeaderParser(source, text).parse();
  const std::uint64_t position = start.bytes + start.header_bytes;
  check_size(source, header, source.size - position);
  Shape shape = *header.shape;
  if (*header.is_fortran) std::reverse(shape.begin(), shape.end());
  Array out = read_elements(source, header, position, shape);
  if (*header.is_fortran) {
    Shape dims = shape;
    for (std::int64_t i = 0; i < dims.rank(); ++i) dims[i] = dims.rank() - 1 - i;
    out = out.permute(dims);
  }
  return Tensor(out);
}

}  // namespace tend::nn::npy
