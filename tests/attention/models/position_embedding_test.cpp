#include <cmath>

#include "tests/catch.h"

#include <tend/tend.h>

using namespace tend;
using namespace tend::attention;

TEST_CASE("sinusoidal positions are sines and cosines of decreasing frequencies") {
  const Tensor found =
      sinusoidal_positions(tensor(std::vector<std::int64_t>{0, 3, 1000}), 5, float64);
  REQUIRE(found.shape() == Shape{3, 5});
  for (const std::int64_t row : {0, 1, 2}) {
    const double position = std::vector<double>{0, 3, 1000}[static_cast<std::size_t>(row)];
    for (std::int64_t i = 0; i < 5; ++i) {
      const double angle = position / std::pow(10000.0, static_cast<double>(i / 2 * 2) / 5.0);
      const double wanted = i % 2 == 0 ? std::sin(angle) : std::cos(angle);
      // Libraries round sin and cos differently, and rounding changes an angle of 1,000 by 1e-13.
      CHECK(std::abs(found[{row, i}].item() - wanted) < 1e-12);
    }
  }
  CHECK(sinusoidal_positions(zeros({2, 3}, int64), 4).dtype() == float32);
  CHECK_THROWS_AS(sinusoidal_positions(zeros({2}, int64), 0), ShapeError);
  CHECK_THROWS_AS(sinusoidal_positions(zeros({2}, boolean), 4), DTypeError);
  CHECK_THROWS_AS(sinusoidal_positions(zeros({2}, int64), 4, int64), DTypeError);
}

TEST_CASE("learned and sinusoidal positions are looked up and other kinds have no vectors") {
  manual_seed(1);
  const PositionEmbedding learned(PositionKind::learned, 6, 4);
  manual_seed(1);
  CHECK(equal(nn::Embedding(6, 4).weight.detach(), learned.weight.detach()));
  const PositionEmbedding fixed(PositionKind::sinusoidal, 6, 4);
  CHECK(fixed.parameters().empty());
  const Tensor places = tensor({{1, 2}, {5, 0}});
  for (const PositionEmbedding* each : {&learned, &fixed}) {
    const Tensor all = each->range(0, 6);
    CHECK(equal((*each)(places)[{0, 1}], all[2]));
    CHECK(equal((*each)(places)[{1, 0}], all[5]));
    CHECK(equal(each->range(2, 3), all.narrow(0, 2, 3)));
    CHECK_THROWS_AS((*each)(tensor({6})), IndexError);
    CHECK_THROWS_AS((*each)(tensor({-1})), IndexError);
    CHECK_THROWS_AS(each->range(-2, 2), IndexError);
  }
  const PositionEmbedding none(PositionKind::rotary, 6, 4);
  CHECK(none.parameters().empty());
  CHECK_FALSE(none.is_added());
  CHECK_THROWS_WITH(none(places), "[PositionEmbedding] there are no vectors of kind rotary");
  CHECK_THROWS_WITH(PositionEmbedding(PositionKind::alibi, 6, 4)(places),
                    "[PositionEmbedding] there are no vectors of kind alibi");
  CHECK_THROWS_WITH(PositionEmbedding(PositionKind::none, 6, 4)(places),
                    "[PositionEmbedding] there are no vectors of kind none");
  CHECK(fixed.extra_repr() == "sinusoidal, 6, 4");
  CHECK_THROWS_AS(PositionEmbedding(PositionKind::none, -1, 4), ShapeError);
  CHECK_THROWS_AS(PositionEmbedding(PositionKind::none, 6, -1), ShapeError);
}

TEST_CASE("positions that are not integers are refused") {
  for (const PositionKind kind : {PositionKind::learned, PositionKind::sinusoidal}) {
    const PositionEmbedding positions(kind, 8, 4);
    CHECK_THROWS_AS(positions(tensor({-0.5f})), DTypeError);
    CHECK_THROWS_AS(positions(tensor({7.9f})), DTypeError);
  }
}
