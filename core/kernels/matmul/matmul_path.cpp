#include <tend/core/kernels/matmul/matmul_path.h>

#include <array>
#include <cstdlib>
#include <utility>

#include <tend/core/threads/inherited.h>

namespace tend {
namespace {

// In the order of the enumerators.
constexpr std::array<std::string_view, 3> kNames = {"automatic", "blas", "tiles"};

// The number for Inherited::matmul_path, where 0 means that no guard is set.
std::uint8_t number_of(MatmulPath path) {
  return static_cast<std::uint8_t>(static_cast<std::uint8_t>(path) + 1);
}

MatmulPath read_variable() {
  const char* text = std::getenv("TEND_MATMUL");
  for (const MatmulPath each : {MatmulPath::blas, MatmulPath::tiles}) {
    if (text != nullptr && text == matmul_path_name(each)) return each;
  }
  return MatmulPath::automatic;
}

}  // namespace

std::string_view matmul_path_name(MatmulPath path) noexcept {
  return kNames[static_cast<std::size_t>(path)];
}

MatmulPath matmul_path() noexcept {
  static const MatmulPath of_process = read_variable();
  const std::uint8_t number = detail::inherited.matmul_path;
  return number == 0 ? of_process : static_cast<MatmulPath>(number - 1);
}

MatmulPathGuard::MatmulPathGuard(MatmulPath path) noexcept
    : before_(std::exchange(detail::inherited.matmul_path, number_of(path))) {}

MatmulPathGuard::~MatmulPathGuard() {
  detail::inherited.matmul_path = before_;
}

}  // namespace tend
