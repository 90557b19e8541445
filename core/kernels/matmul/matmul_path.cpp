#include <tend/core/kernels/matmul/matmul_path.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <utility>

#include <tend/core/base/thread_number.h>
#include <tend/core/threads/inherited.h>

namespace tend {
namespace {

// In the order of the values.
constexpr std::array<std::string_view, 3> kNames = {"automatic", "blas", "tiles"};

// As Inherited::matmul_path, where 0 means that TEND_MATMUL has not been read. Threads that read it
// at the same time find the same.
constinit std::atomic<std::uint8_t> of_process = 0;

std::uint8_t number_of(MatmulPath path) noexcept {
  return static_cast<std::uint8_t>(static_cast<std::uint8_t>(path) + 1);
}

std::uint8_t read_variable() noexcept {
  const char* text = std::getenv("TEND_MATMUL");
  MatmulPath path = MatmulPath::automatic;
  for (const MatmulPath each : {MatmulPath::blas, MatmulPath::tiles}) {
    if (text != nullptr && text == matmul_path_name(each)) path = each;
  }
  return number_of(path);
}

}  // namespace

std::string_view matmul_path_name(MatmulPath path) noexcept {
  return kNames[static_cast<std::size_t>(path)];
}

MatmulPath matmul_path() noexcept {
  std::uint8_t number = detail::inherited.matmul_path;
  if (number == 0) number = of_process.load(std::memory_order_relaxed);
  if (number == 0) {
    number = read_variable();
    of_process.store(number, std::memory_order_relaxed);
  }
  return static_cast<MatmulPath>(number - 1);
}

MatmulPathGuard::MatmulPathGuard(MatmulPath path) noexcept
    : before_(std::exchange(detail::inherited.matmul_path, number_of(path))),
      thread_(thread_number()) {}

MatmulPathGuard::~MatmulPathGuard() {
  if (thread_ == thread_number()) detail::inherited.matmul_path = before_;
}

}  // namespace tend
