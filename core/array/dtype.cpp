#include <tend/core/array/dtype.h>

#include <ostream>

namespace tend {

std::string_view dtype_name(DType dtype) noexcept {
  switch (dtype) {
    case DType::boolean: return "bool";
    case DType::int64: return "int64";
    case DType::float32: return "float32";
    case DType::float64: return "float64";
  }
  return "unknown";
}

std::ostream& operator<<(std::ostream& out, DType dtype) {
  return out << dtype_name(dtype);
}

}  // namespace tend
