#include "report.h"

#include <cmath>
#include <fstream>

#include <tend/core/error.h>

nlohmann::ordered_json json_number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

void write_json(const std::string& path, const nlohmann::ordered_json& value) {
  std::ofstream file(path);
  if (!(file << value.dump(1) << '\n' << std::flush))
    throw tend::IoError("gradcheck: cannot write " + path);
}
