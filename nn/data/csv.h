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
  /// The first line has the columns' names.
  bool header = true;
  /// Of the values: float32, float64 or int64.
  DType dtype = float32;
};

struct CsvTable {
  std::vector<std::string> names;  // of the columns; none without a header
  Tensor values;                   // (rows, columns)
};

///@{
/// The numbers of a file of comma-separated values, or of such a text. Fields may be in
/// quotes, where a quote is doubled. Spaces around a number, empty lines and a byte order mark are
/// ignored, and every kind of line end is read. Numbers have a point, whatever the locale; nan and
/// inf are numbers. Format: RFC 4180.
///
/// Throws: IoError     - with line and column: a field is not a number of the dtype, a line has
///                       more or fewer fields than the first, a quote does not close
///         Error       - the delimiter could be a part of a number, a quote or a line end
///         DTypeError  - the dtype is bool
CsvTable read_csv(const std::filesystem::path& path, const CsvOptions& options = {});
CsvTable parse_csv(std::string_view text, const CsvOptions& options = {});
///@}

}  // namespace tend::data
