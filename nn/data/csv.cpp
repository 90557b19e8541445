#include <tend/nn/data/csv.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <system_error>
#include <type_traits>

#include <tend/autograd/ops/creation.h>
#include <tend/core/base/error.h>
#include <tend/nn/files/file_name.h>

namespace tend::data {
namespace {

// Reads the fields of a text one by one.
class CsvFields {
 public:
  CsvFields(std::string_view text, char delimiter, std::string_view source)
      : text_(text), delimiter_(delimiter), source_(source) {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
  }

  // Moves to the next line that is not empty. Returns false if there is no such line.
  bool next_line() {
    while (!text_.empty() && (text_.front() == '\n' || text_.front() == '\r')) end_line();
    column_ = 0;
    more_ = !text_.empty();
    field_line_ = line_;
    return more_;
  }

  // Reads the next field of the line. Returns false if the line has no further field.
  bool next_field(std::string& field) {
    if (!more_) return false;
    ++column_;
    field_line_ = line_;
    field.clear();
    if (!text_.empty() && text_.front() == '"') {
      take_quoted(field);
    } else {
      const std::size_t end = text_.find_first_of(std::string{delimiter_, '\n', '\r'});
      take(field, std::min(end, text_.size()));
    }
    more_ = !text_.empty() && text_.front() == delimiter_;
    if (more_) {
      text_.remove_prefix(1);
    } else if (!text_.empty() && text_.front() != '\n' && text_.front() != '\r') {
      refuse("there is text after the closing quote");
    }
    return true;
  }

  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail<IoError>("read_csv", source_, "line ", field_line_, ", column ", column_, ": ", parts...);
  }

 private:
  // "\r\n", "\n" and "\r" end a line.
  void end_line() {
    ++line_;
    text_.remove_prefix(text_.starts_with("\r\n") ? 2 : 1);
  }

  void take(std::string& field, std::size_t count) {
    field.append(text_.substr(0, count));
    text_.remove_prefix(count);
  }

  void take_quoted(std::string& field) {
    text_.remove_prefix(1);
    for (;;) {
      const std::size_t quote = text_.find('"');
      if (quote == std::string_view::npos) refuse("the quote is not closed");
      for (const char c : text_.substr(0, quote)) line_ += c == '\n' ? 1 : 0;
      take(field, quote);
      text_.remove_prefix(1);
      if (text_.empty() || text_.front() != '"') return;
      take(field, 1);
    }
  }

  std::string_view text_;
  char delimiter_;
  std::string_view source_;
  std::int64_t line_ = 1, field_line_ = 1, column_ = 0;
  bool more_ = false;
};

std::string_view without_spaces(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

template <class T>
T csv_number(const CsvFields& fields, std::string_view field) {
  std::string_view digits = without_spaces(field);
  if (digits.starts_with("+") && !digits.starts_with("+-")) digits.remove_prefix(1);
  T value{};
  const char* end = digits.data() + digits.size();
  auto [stop, status] = std::from_chars(digits.data(), end, value);
  if constexpr (std::is_floating_point_v<T>) {
    // Numbers too close to zero are rounded: 1e-50 is accepted as a float32, 1e-400 as a float64.
    long double wide = 0;
    if (status == std::errc::result_out_of_range &&
        std::from_chars(digits.data(), end, wide).ec == std::errc() && std::abs(wide) < 1) {
      value = static_cast<T>(wide);
      status = std::errc();
    }
  }
  if (status == std::errc::result_out_of_range)
    fields.refuse('"', nn::shown(field.substr(0, 40)), "\" is out of the range of ", dtype_of<T>());
  if (status != std::errc() || stop != end)
    fields.refuse('"', nn::shown(field.substr(0, 40)), "\" is not a valid ", dtype_of<T>());
  return value;
}

template <class T>
Tensor csv_values(CsvFields& fields, std::size_t columns) {
  std::vector<T> values;
  std::string field;
  std::int64_t rows = 0;
  for (; fields.next_line(); ++rows) {
    std::size_t count = 0;
    for (; fields.next_field(field); ++count) {
      if (columns != 0 && count == columns)
        fields.refuse("the line has more than the ", columns, " fields of the first line");
      values.push_back(csv_number<T>(fields, field));
    }
    if (columns == 0) columns = count;
    if (count < columns) fields.refuse("the line must have ", columns, " fields, but has ", count);
  }
  Tensor table = empty({rows, static_cast<std::int64_t>(columns)}, dtype_of<T>());
  std::copy(values.begin(), values.end(), table.data_ptr<T>());
  return table;
}

CsvTable csv_table(std::string_view text, const CsvOptions& options, std::string_view source) {
  constexpr std::string_view kInFields = "\"\r\n+-.";
  const char delimiter = options.delimiter;
  if (std::isalnum(static_cast<unsigned char>(delimiter)) != 0 ||
      kInFields.find(delimiter) != std::string_view::npos)
    fail("read_csv", "fields cannot be delimited by '", delimiter, '\'');
  CsvFields fields(text, delimiter, source);
  CsvTable table;
  if (options.header && fields.next_line()) {
    for (std::string name; fields.next_field(name);) table.names.push_back(name);
  }
  const std::size_t columns = table.names.size();
  switch (options.dtype) {
    case DType::int64: table.values = csv_values<std::int64_t>(fields, columns); break;
    case DType::float32: table.values = csv_values<float>(fields, columns); break;
    case DType::float64: table.values = csv_values<double>(fields, columns); break;
    case DType::boolean: fail<DTypeError>("read_csv", "the dtype cannot be bool"); break;
  }
  return table;
}

}  // namespace

CsvTable read_csv(const std::filesystem::path& path, const CsvOptions& options) {
  return csv_table(nn::read_text({"read_csv", path}), options, path.string() + ": ");
}

CsvTable parse_csv(std::string_view text, const CsvOptions& options) {
  return csv_table(text, options, "");
}

}  // namespace tend::data
