// The rows in Eigen, which is compiled for this machine, as Eigen's users do. Only Eigen's matrix
// products use several threads.

#include <memory>
#include <string>

#include <Eigen/Core>

#include "../inputs.h"
#include "../worker.h"

namespace compare {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Matrix random_matrix(std::uint64_t seed, std::int64_t rows, std::int64_t columns) {
  const std::vector<float> values = random_values(seed, rows * columns);
  return Eigen::Map<const Matrix>(values.data(), rows, columns);
}

std::span<const float> elements(const Matrix& x) {
  return {x.data(), static_cast<std::size_t>(x.size())};
}

struct Product {
  bool ta, tb;
  Matrix a, b, c;

  void run() {
    if (ta && tb) {
      c.noalias() = a.transpose() * b.transpose();
    } else if (ta) {
      c.noalias() = a.transpose() * b;
    } else if (tb) {
      c.noalias() = a * b.transpose();
    } else {
      c.noalias() = a * b;
    }
  }
  std::span<const float> output() const { return elements(c); }
};

Task gemm(const Work& w, std::uint64_t seed) {
  const bool ta = w[0] != 0, tb = w[1] != 0;
  const std::int64_t m = w[2], n = w[3], k = w[4];
  const auto product = std::make_shared<Product>(
      Product{ta, tb, ta ? random_matrix(seed, k, m) : random_matrix(seed, m, k),
              tb ? random_matrix(seed + 1, n, k) : random_matrix(seed + 1, k, n), Matrix(m, n)});
  return make_task(product);
}

/// A Task that calls f(result, x, y) on random matrices. The result is rows x columns.
template <class F>
Task on_matrix(const Work& w, std::uint64_t seed, std::int64_t rows, std::int64_t columns, F f) {
  struct Call {
    Matrix x, y, out;
    F f;

    void run() { f(out, x, y); }
    std::span<const float> output() const { return elements(out); }
  };
  return make_task(
      std::make_shared<Call>(Call{random_matrix(seed, w[0], w[1]),
                                  random_matrix(seed + 1, w[0], w[1]), Matrix(rows, columns), f}));
}

Task prepare(const Work& w, const Setup& setup) {
  const std::uint64_t seed = setup.seed;
  if (w.operation == "gemm") return gemm(w, seed);
  const auto same = [&](auto f) { return on_matrix(w, seed, w[0], w[1], f); };
  using M = const Matrix&;
  if (w.operation == "exp") return same([](Matrix& out, M x, M) { out.array() = x.array().exp(); });
  if (w.operation == "add") return same([](Matrix& out, M x, M y) { out.noalias() = x + y; });
  if (w.operation == "copy") return same([](Matrix& out, M x, M) { out = x; });
  if (w.operation == "transpose") {
    return on_matrix(w, seed, w[1], w[0],
                     [](Matrix& out, M x, M) { out.noalias() = x.transpose(); });
  }
  if (w.operation == "sum") {
    return on_matrix(w, seed, w[0], 1,
                     [](Matrix& out, M x, M) { out.noalias() = x.rowwise().sum(); });
  }
  return {};
}

std::string about(const Setup&) {
  return "Eigen " + std::to_string(EIGEN_WORLD_VERSION) + "." +
         std::to_string(EIGEN_MAJOR_VERSION) + "." + std::to_string(EIGEN_MINOR_VERSION) +
         ", compiled for " + Eigen::SimdInstructionSetsInUse() + ", " +
         std::to_string(Eigen::nbThreads()) + " threads";
}

}  // namespace
}  // namespace compare

int main(int argc, char** argv) {
  return compare::serve(argc, argv, {compare::about, compare::prepare});
}
