// Tables of numbers in text files.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <tend/autograd/tensor/tensor.h>

namespace tend::data {

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
/// The numbers of a file of comma-separated values, or of such a text. Fields may stand in quotes,
/// with a quote doubled and anything else as it is; spaces around a number, empty lines, a byte
/// order mark and either kind of line end are passed over. Numbers have a point, whatever the
/// locale; nan and inf are some. IoError, with line and column, for a field that is no number or
/// none of the dtype, a line with more or fewer fields than the first, and quotes that do not close
/// or have something behind them; Error for a delimiter that could be a part of a number, a quote
/// or a line end; DTypeError for bool. Format: RFC 4180.
CsvTable read_csv(const std::filesystem::path& path, const CsvOptions& options = {});
CsvTable parse_csv(std::string_view text, const CsvOptions& options = {});
///@}

}  // namespace tend::data
