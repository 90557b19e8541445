#include <limits>

#include <tend/core/array/array.h>
#include <tend/core/array/shape.h>

#include "tests/catch.h"

using namespace tend;

namespace {

// The shape (0, 1, 2, ...) of `rank` dimensions.
Shape counted(std::int64_t rank) {
  Shape shape;
  for (std::int64_t d = 0; d < rank; ++d) shape.push_back(d);
  return shape;
}

}  // namespace

TEST_CASE("shapes of any rank can be copied and moved and changed") {
  for (std::int64_t rank = 0; rank <= 10; ++rank) {
    const Shape shape = counted(rank);
    REQUIRE(shape.rank() == rank);
    Shape copy = shape;
    CHECK(copy == shape);
    Shape moved = std::move(copy);
    CHECK(moved == shape);
    for (std::int64_t other = 0; other <= 10; ++other) {
      Shape assigned = counted(other);
      assigned = shape;
      CHECK(assigned == shape);
      assigned = counted(other);
      CHECK(assigned == counted(other));
      CHECK((assigned == shape) == (other == rank));
    }
    for (std::int64_t at = 0; at <= rank; ++at) {
      Shape longer = shape;
      longer.insert(at, -7);
      CHECK(longer.rank() == rank + 1);
      CHECK(longer[at] == -7);
      Shape again = longer;
      again.erase(at);
      CHECK(again == shape);
      CHECK(Shape(again) == shape);
    }
  }
}

TEST_CASE("element_count counts elements or reports an error") {
  const std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  CHECK(element_count({}) == 1);
  CHECK(element_count({2, 3, 4}) == 24);
  CHECK(element_count({largest, 1}) == largest);
  CHECK(element_count({largest, largest, 0}) == 0);
  CHECK(element_count({0, largest, largest}) == 0);
  CHECK_THROWS_WITH(element_count({2, -1}), "[shape] negative size in (2, -1)");
  CHECK_THROWS_WITH(element_count({0, -1}), "[shape] negative size in (0, -1)");
  CHECK_THROWS_WITH(element_count({largest, 2}),
                    Catch::Matchers::ContainsSubstring("more elements than an int64 can count"));
}

TEST_CASE("is_contiguous is right for every kind of view") {
  const Array x = Array::zeros({2, 3, 4}, float32);
  CHECK(x.is_contiguous());
  CHECK(x.select(0, 1).is_contiguous());
  CHECK_FALSE(x.select(2, 1).is_contiguous());
  CHECK(x.slice(0, 1, 2).is_contiguous());
  CHECK_FALSE(x.slice(1, 0, 2).is_contiguous());
  CHECK_FALSE(x.slice(2, 0, 4, 2).is_contiguous());
  CHECK_FALSE(x.transpose(0, 1).is_contiguous());
  CHECK(x.transpose(0, 1).transpose(0, 1).is_contiguous());
  CHECK_FALSE(x.permute({2, 0, 1}).is_contiguous());
  CHECK(x.permute({0, 1, 2}).is_contiguous());
  CHECK_FALSE(x.unsqueeze(0).expand({5, 2, 3, 4}).is_contiguous());
  CHECK(x.unsqueeze(1).is_contiguous());
  CHECK(x.view({6, 4}).is_contiguous());
  CHECK(x.narrow(1, 0, 0).is_contiguous());
  CHECK(x.as_strided({2, 2}, {2, 1}, 0).is_contiguous());
  CHECK_FALSE(x.as_strided({2, 2}, {1, 2}, 0).is_contiguous());
  CHECK_FALSE(x.select(0, 0).diagonal().is_contiguous());
}

TEST_CASE("empty_like has the order of dimensions of its inputs and no gaps") {
  const Array rows = Array::empty({4, 3}, float32);
  const Array columns = Array::empty({3, 4}, float32).transpose(0, 1);
  const Array gaps = Array::empty({3, 8}, float32).slice(1, 0, 8, 2).transpose(0, 1);
  const auto like = [](const Shape& shape, std::initializer_list<const Array*> inputs) {
    const Array out = Array::empty_like(shape, int64, inputs);
    CHECK(out.shape() == shape);
    CHECK(out.dtype() == int64);
    CHECK(out.is_dense());
    CHECK(out.is_contiguous() == (out.strides() == contiguous_strides(shape)));
    return out.strides();
  };
  CHECK(like({4, 3}, {&columns}) == Shape{1, 4});
  CHECK(like({4, 3}, {&gaps}) == Shape{1, 4});
  CHECK(like({4, 3}, {&rows, &columns}) == Shape{3, 1});
  CHECK(like({4, 3}, {&columns, &rows}) == Shape{1, 4});
  CHECK(like({2, 4, 3}, {&columns}) == Shape{12, 1, 4});
  CHECK(like({4, 3}, {}) == Shape{3, 1});
  const Array empty = Array::empty({0, 4}, float32).transpose(0, 1);
  CHECK(like({4, 0}, {&empty}) == contiguous_strides({4, 0}));
}

TEST_CASE("dense arrays have no gaps or overlaps and has_layout_of ignores dimensions of size 1") {
  const Array columns = Array::empty({3, 4}, float32).transpose(0, 1);
  CHECK(columns.is_dense());
  CHECK(columns.unsqueeze(1).is_dense());
  CHECK_FALSE(Array::empty({3, 8}, float32).slice(1, 0, 8, 2).is_dense());
  CHECK_FALSE(Array::empty({3, 1}, float32).expand({3, 4}).is_dense());
  CHECK(Array::empty({3, 0}, float32).is_dense());
  CHECK(columns.has_layout_of(Array::empty_like(columns)));
  CHECK_FALSE(columns.has_layout_of(columns.contiguous()));
  CHECK(columns.unsqueeze(0).has_layout_of(Array::empty({3, 1, 4}, float32).permute({1, 2, 0})));
}
