#include <tend/core/array/print.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <mutex>
#include <ostream>
#include <string_view>
#include <vector>

#include <tend/core/base/error.h>

namespace tend {
namespace {

constexpr std::int64_t kMaxDigits = 1000;

// `value` as C's %f or %e prints it.
std::string number(double value, std::chars_format format, std::int64_t precision) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  // Large enough for 310 digits before the point, the sign, the point and the exponent.
  char text[320 + kMaxDigits];
  const auto end =
      std::to_chars(text, text + sizeof text, value, format, static_cast<int>(precision));
  return {text, end.ptr};
}

std::string pad_left(const std::string& text, std::int64_t width) {
  const auto room = width - static_cast<std::int64_t>(text.size());
  return std::string(static_cast<std::size_t>(std::max<std::int64_t>(room, 0)), ' ') + text;
}

// The indices that are shown along a dimension: [0, head) and [tail, size).
struct Shown {
  bool cut;
  std::int64_t head;
  std::int64_t tail;
  std::int64_t size;
};

Shown shown_indices(std::int64_t size, bool summarize, std::int64_t edgeitems) {
  if (!summarize || size / 2 < edgeitems || size == 2 * edgeitems) return {false, size, size, size};
  return {true, edgeitems, size - edgeitems, size};
}

// Formats all elements with the same width. The elements that are shown decide the notation and the
// width.
class Formatter {
 public:
  Formatter(const Array& array, bool summarize, const PrintOptions& options) : options_(options) {
    collect(array, summarize);
    if (!is_floating(array.dtype())) return;
    choose_mode();
  }

  std::int64_t width() const { return width_; }

  std::string operator()(const Array& element) const {
    if (element.dtype() == boolean)
      return pad_left(element.item<bool>() ? "True" : "False", width_);
    if (element.dtype() == int64) {
      return pad_left(std::to_string(element.item<std::int64_t>()), width_);
    }
    const auto value = element.item<double>();
    std::string text = raw(value, scientific_, whole_);
    if (whole_ && !scientific_ && std::isfinite(value)) text += '.';
    return pad_left(text, width_);
  }

 private:
  std::string raw(double value, bool scientific, bool whole) const {
    if (scientific) return number(value, std::chars_format::scientific, options_.precision);
    return number(value, std::chars_format::fixed, whole ? 0 : options_.precision);
  }

  // Visits the elements that are shown. Widens width_ for integers and bools, and adds the finite
  // floats except zero to values_.
  void collect(const Array& array, bool summarize) {
    if (array.rank() > 0) {
      const Shown shown = shown_indices(array.shape()[0], summarize, options_.edgeitems);
      for (std::int64_t i = 0; i < shown.head; ++i) collect(array.select(0, i), summarize);
      for (std::int64_t i = shown.tail; i < shown.size; ++i) collect(array.select(0, i), summarize);
    } else if (is_floating(array.dtype())) {
      const auto value = array.item<double>();
      if (std::isfinite(value) && value != 0.0) values_.push_back(value);
    } else {
      widen((*this)(array), 0);
    }
  }

  void widen(const std::string& text, std::int64_t extra) {
    width_ = std::max(width_, static_cast<std::int64_t>(text.size()) + extra);
  }

  // If all numbers are whole, no digits are shown after the point. Values that are far apart or
  // extreme use scientific notation. sci_mode may force the other notation. As in PyTorch, the
  // width is computed for the notation without sci_mode.
  void choose_mode() {
    if (values_.empty()) return;
    whole_ = std::all_of(values_.begin(), values_.end(),
                         [](double value) { return value == std::ceil(value); });
    double low = std::numeric_limits<double>::infinity();
    double high = 0.0;
    for (const double value : values_) {
      low = std::min(low, std::abs(value));
      high = std::max(high, std::abs(value));
    }
    scientific_ = high / low > 1000.0 || high > 1.0e8 || (!whole_ && low < 1.0e-4);
    for (const double value : values_) {
      widen(raw(value, scientific_, whole_), whole_ && !scientific_ ? 1 : 0);
    }
    scientific_ = options_.sci_mode.value_or(scientific_);
  }

  const PrintOptions& options_;
  std::vector<double> values_;
  std::int64_t width_ = 1;
  bool whole_ = true;
  bool scientific_ = false;
};

// Writes the brackets, commas and line breaks around the elements.
class Writer {
 public:
  Writer(const Array& array, const PrintOptions& options)
      : options_(options),
        summarize_(array.numel() > options.threshold),
        format_(array, summarize_, options) {}

  // `indent` is the column at which the text starts.
  std::string operator()(const Array& array, std::int64_t indent) const {
    if (array.rank() == 0) return format_(array);
    const Shown shown = shown_indices(array.shape()[0], summarize_, options_.edgeitems);
    std::vector<std::string> items;
    const auto add = [&](std::int64_t i) {
      const Array item = array.select(0, i);
      items.push_back(array.rank() == 1 ? format_(item) : (*this)(item, indent + 1));
    };
    for (std::int64_t i = 0; i < shown.head; ++i) add(i);
    if (shown.cut) items.emplace_back(array.rank() == 1 && options_.edgeitems > 0 ? " ..." : "...");
    for (std::int64_t i = shown.tail; i < shown.size; ++i) add(i);
    return array.rank() == 1 ? vector_text(items, indent) : block_text(items, array.rank(), indent);
  }

 private:
  std::string vector_text(const std::vector<std::string>& items, std::int64_t indent) const {
    const std::int64_t room = (options_.linewidth - indent) / (format_.width() + 2);
    const auto per_line = static_cast<std::size_t>(std::max<std::int64_t>(1, room));
    std::string text = "[";
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) text += i % per_line == 0 ? line_break(1, indent + 1) : ", ";
      text += items[i];
    }
    return text + ']';
  }

  std::string block_text(const std::vector<std::string>& items, std::int64_t rank,
                         std::int64_t indent) const {
    std::string text = "[";
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) text += line_break(rank - 1, indent + 1);
      text += items[i];
    }
    return text + ']';
  }

  static std::string line_break(std::int64_t lines, std::int64_t indent) {
    return ',' + std::string(static_cast<std::size_t>(lines), '\n') +
           std::string(static_cast<std::size_t>(indent), ' ');
  }

  const PrintOptions& options_;
  bool summarize_;
  Formatter format_;
};

std::vector<std::string> own_suffixes(const Array& array, const PrintOptions& options) {
  std::vector<std::string> suffixes;
  const bool empty = array.numel() == 0;
  if (empty ? array.rank() != 1 : options.edgeitems == 0) {
    suffixes.push_back("size=" + to_string(array.shape()));
  }
  if (array.dtype() == float64 || (empty && array.dtype() != float32)) {
    suffixes.push_back("dtype=torch." + std::string(dtype_name(array.dtype())));
  }
  return suffixes;
}

void check(const PrintOptions& options) {
  const auto need = [](std::string_view name, std::int64_t value) {
    if (value < 0) fail("set_printoptions", name, " is ", value, ", not >= 0");
  };
  need("precision", options.precision);
  need("threshold", options.threshold);
  need("edgeitems", options.edgeitems);
  need("linewidth", options.linewidth);
  if (options.precision > kMaxDigits) {
    fail("set_printoptions", "precision must be at most ", kMaxDigits, ", but is ",
         options.precision);
  }
}

PrintOptions shared_options;
std::mutex options_mutex;

}  // namespace

PrintOptions get_printoptions() {
  const std::lock_guard lock(options_mutex);
  return shared_options;
}

void set_printoptions(const PrintOptions& options) {
  check(options);
  const std::lock_guard lock(options_mutex);
  shared_options = options;
}

std::string to_string(const Array& array, const PrintOptions& options) {
  return format_tensor(array, {}, options);
}

namespace {

std::string tensor_text(const Array& array, std::span<const std::string> suffixes,
                        const PrintOptions& options) {
  if (!array.defined()) return "tensor(undefined)";
  constexpr std::string_view kPrefix = "tensor(";
  constexpr std::size_t kIndent = kPrefix.size();
  std::string text(kPrefix);
  text += array.numel() == 0 ? "[]" : Writer(array, options)(array, kIndent);

  std::vector<std::string> all = own_suffixes(array, options);
  all.insert(all.end(), suffixes.begin(), suffixes.end());
  const std::size_t newline = text.rfind('\n');
  // PyTorch counts two characters too many for the last line.
  std::size_t column = newline == std::string::npos ? text.size() + 2 : text.size() - newline + 1;
  for (const std::string& suffix : all) {
    if (column + suffix.size() + 2 > static_cast<std::size_t>(options.linewidth)) {
      text += ",\n" + std::string(kIndent, ' ') + suffix;
      column = kIndent + suffix.size();
    } else {
      text += ", " + suffix;
      column += suffix.size() + 2;
    }
  }
  return text + ')';
}

}  // namespace

std::string format_tensor(const Array& array, std::span<const std::string> suffixes,
                          const PrintOptions& options) {
  check(options);
  return tensor_text(array, suffixes, options);
}

std::ostream& operator<<(std::ostream& out, const Array& array) {
  return out << to_string(array);
}

std::string size_text(const Shape& shape) {
  std::string text = "torch.Size([";
  for (std::int64_t d = 0; d < shape.rank(); ++d) {
    if (d > 0) text += ", ";
    text += std::to_string(shape[d]);
  }
  return text + "])";
}

std::string python_repr(double value) {
  if (!std::isfinite(value)) return number(value, std::chars_format::fixed, 0);
  const double magnitude = std::abs(value);
  const bool scientific = magnitude >= 1e16 || (magnitude < 1e-4 && magnitude != 0.0);
  char buffer[32];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value,
                    scientific ? std::chars_format::scientific : std::chars_format::fixed);
  std::string text(buffer, end.ptr);
  if (!scientific && text.find('.') == std::string::npos) text += ".0";
  return text;
}

}  // namespace tend
