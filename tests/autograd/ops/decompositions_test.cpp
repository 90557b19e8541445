// Tests of decompositions and linear equations that do not fit into rows of the operation table.
#include <tend/autograd/ops/ops.h>

#include <limits>

#include "tests/autograd/support.h"
#include "tests/catch.h"

using namespace tend;

TEST_CASE("solve names the first singular matrix of a batch", "[decompositions]") {
  const Tensor A = stack({eye(2), zeros({2, 2}), ones({2, 2})});
  CHECK_THROWS_WITH(linalg::solve(A, ones({3, 2})),
                    "[solve] matrix 1 of the batch is singular: LAPACK's info is 1");
}

TEST_CASE("svd and eigh refuse NaN and infinity but qr and solve propagate them",
          "[decompositions]") {
  const double inf = std::numeric_limits<double>::infinity();
  for (const double bad : {inf, std::numeric_limits<double>::quiet_NaN()}) {
    Tensor A = stack({eye(2), eye(2) + 1});
    A.select(0, 1).fill_(bad);
    CHECK_THROWS_WITH(linalg::svd(A), "[svd] matrix 1 of the batch has a NaN or an infinity");
    CHECK_THROWS_WITH(linalg::eigh(A), "[eigh] matrix 1 of the batch has a NaN or an infinity");
    CHECK(isnan(linalg::qr(A).R).any().item<bool>());
    CHECK(equal(linalg::qr(A).R[0], linalg::qr(eye(2)).R));
    CHECK(isnan(linalg::solve(A, ones({2, 2})))[1].any().item<bool>());
  }
}

TEST_CASE("backward of qr refuses mode r and the complete mode of tall matrices",
          "[decompositions]") {
  const Tensor A = ones({3, 2}).requires_grad_();
  CHECK_THROWS_WITH(linalg::qr(A, "r").R.sum().backward(),
                    "[qr] has no derivative in mode r, which lacks Q");
  CHECK_THROWS_WITH(linalg::qr(A, "complete").Q.sum().backward(),
                    "[qr] has no derivative in mode complete for (3, 2), as there are more rows "
                    "than columns");
}

TEST_CASE("eigh and qr refuse unknown modes", "[decompositions]") {
  CHECK_THROWS_AS(linalg::eigh(eye(2), "X"), Error);
  CHECK_THROWS_AS(linalg::qr(eye(2), "raw"), Error);
}

TEST_CASE("a result that was changed in place cannot be differentiated", "[decompositions]") {
  const Tensor A = (eye(2) + ones({2, 2})).requires_grad_();
  const auto [U, S, Vh] = linalg::svd(A);
  U.detach().mul_(2);
  CHECK_THROWS_AS(S.sum().backward(), AutogradError);
}

TEST_CASE("a matrix has the same decompositions alone and in a batch", "[decompositions]") {
  manual_seed(1);
  const Tensor A = randn({5, 7, 7});  // with an odd size, matrices start at unaligned addresses
  const Tensor B = randn({5, 7, 3});
  for (std::int64_t i = 0; i < 5; ++i) {
    CHECK(equal(linalg::svd(A).U.select(0, i), linalg::svd(A.select(0, i)).U));
    CHECK(equal(linalg::eigh(A).eigenvectors.select(0, i),
                linalg::eigh(A.select(0, i)).eigenvectors));
    CHECK(equal(linalg::qr(A).Q.select(0, i), linalg::qr(A.select(0, i)).Q));
    CHECK(equal(linalg::solve(A, B).select(0, i), linalg::solve(A.select(0, i), B.select(0, i))));
  }
}
