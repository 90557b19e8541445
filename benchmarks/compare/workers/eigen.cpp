// Products in Eigen, compiled for this machine, as its users do.

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
};

Task gemm(const Work& w, std::uint64_t seed) {
  const bool ta = w[0] != 0, tb = w[1] != 0;
  const std::int64_t m = w[2], n = w[3], k = w[4];
  const auto product = std::make_shared<Product>(
      Product{ta, tb, ta ? random_matrix(seed, k, m) : random_matrix(seed, m, k),
              tb ? random_matrix(seed + 1, n, k) : random_matrix(seed + 1, k, n), Matrix(m, n)});
  return make_task([product] { product->run(); },
                   [product](Result& result) {
                     product->run();
                     result.add({product->c.data(), static_cast<std::size_t>(product->c.size())});
                   });
}

}  // namespace
}  // namespace compare

int main(int argc, char** argv) {
  using namespace compare;
  return serve(argc, argv, [](const Setup& setup) {
    Library library;
    library.about = [] {
      return "Eigen " + std::to_string(EIGEN_WORLD_VERSION) + "." +
             std::to_string(EIGEN_MAJOR_VERSION) + "." + std::to_string(EIGEN_MINOR_VERSION) +
             ", compiled for " + Eigen::SimdInstructionSetsInUse() + ", " +
             std::to_string(Eigen::nbThreads()) + " threads";
    };
    library.prepare = [seed = setup.seed](const Work& w) {
      return w.operation == "gemm" ? gemm(w, seed) : Task{};
    };
    return library;
  });
}
