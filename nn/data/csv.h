// Tables of numbers in text files.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <tend/autograd/tensor/tensor.h>

namespace tend::data {

/// How read_csv reads a file.
struct CsvOptions {
  char delimiter = ',';
  /// True if the first line has the names of the columns.
  bool header = true;
  /// The dtype of the values: float32, float64 or int64.
  DType dtype = float32;
};

struct CsvTable {
  std::vector<std::string> names;  // the columns' names; empty without a header
  Tensor values;                   // (rows, columns)
};

///@{
/// Reads a table of numbers from a file of comma-separated values, or from a text.
///
/// Fields may be in quotes; within quotes, "" is a quote. The reader accepts all kinds of line
/// ends, and ignores spaces around a number, empty lines and a byte order mark. The decimal
/// separator is always a point. nan and inf are numbers. Errors in the text are reported with line
/// and column. Format: RFC 4180.
///
/// Throws:
///   IoError    - the file cannot be read
///   IoError    - a field is not a number of the dtype, or is out of its range
///   IoError    - a line has more or fewer fields than the first
///   IoError    - a quote is not closed
///   Error      - the delimiter is a letter, a digit, a sign, a point, a quote or a line end
///   DTypeError - the dtype is bool
CsvTable read_csv(const std::filesystem::path& path, const CsvOptions& options = {});
CsvTable parse_csv(std::string_view text, const CsvOptions& options = {});
///@}

}  // namespace tend::data
