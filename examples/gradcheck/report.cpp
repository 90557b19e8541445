#include "report.h"

#include <cmath>
#include <cstdio>

#include <tend/nn/files/write_file.h>

nlohmann::ordered_json json_number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

void write_json(const std::string& path, const nlohmann::ordered_json& value) {
  std::fflush(stdout);  // before a file that may be standard output, too
  tend::nn::write_file(path, value.dump(1) + '\n');
}
