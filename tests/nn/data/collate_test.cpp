#include <tend/nn/data/collate.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include <tend/autograd/ops/ops.h>

#include "tests/catch.h"

using namespace tend;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("default_collate makes tensors of numbers and stacks tensors") {
  CHECK(data::default_collate(std::vector<int>{1, 2}).dtype() == int64);
  CHECK(data::default_collate(std::vector<float>{1, 2}).dtype() == float32);
  CHECK(data::default_collate(std::vector<double>{1, 2}).dtype() == float64);
  const Tensor flags = data::default_collate(std::vector<bool>{true, false, true});
  CHECK(flags.dtype() == boolean);
  CHECK(flags.to(int64).to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 0, 1});
  const Tensor rows = data::default_collate(std::vector{arange(2), arange(2) + 5});
  CHECK(rows.shape() == Shape{2, 2});
  CHECK(rows.to_vector<std::int64_t>() == std::vector<std::int64_t>{0, 1, 5, 6});
  CHECK_THROWS_AS(data::default_collate(std::vector{arange(2), arange(3)}), ShapeError);
  CHECK_THROWS_AS(
      data::default_collate(std::vector<std::uint64_t>{std::numeric_limits<std::uint64_t>::max()}),
      IndexError);
}

TEST_CASE("default_collate collates the parts of pairs and containers but not of structs") {
  const auto [x, y] = data::default_collate(std::vector{std::pair(arange(2), 7)});
  CHECK(x.shape() == Shape{1, 2});
  CHECK(y.item<std::int64_t>() == 7);
  const auto tuple = data::default_collate(std::vector{std::tuple(1, 2.5, std::pair(true, 4))});
  CHECK(std::get<1>(tuple).dtype() == float64);
  CHECK(std::get<2>(tuple).second.item<std::int64_t>() == 4);
  const std::array<Tensor, 2> array =
      data::default_collate(std::vector{std::array{arange(2), arange(3)}});
  CHECK(array[1].shape() == Shape{1, 3});

  const std::vector<Tensor> columns =
      data::default_collate(std::vector<std::vector<int>>{{1, 2}, {3, 4}, {5, 6}});
  REQUIRE(columns.size() == 2);
  CHECK(columns[1].to_vector<std::int64_t>() == std::vector<std::int64_t>{2, 4, 6});
  CHECK_THROWS_WITH(data::default_collate(std::vector<std::vector<int>>{{1, 2}, {3}}),
                    ContainsSubstring("must have the same size, got 2 and 1"));

  struct Own {
    std::string text;
  };
  const std::vector<Own> kept = data::default_collate(std::vector{Own{"a"}, Own{"b"}});
  CHECK(kept[1].text == "b");
}

TEST_CASE("pad_sequence pads on either side in either layout and is differentiable") {
  const Tensor a = tensor({1.0, 2.0, 3.0}).requires_grad_(), b = tensor({4.0}).requires_grad_();
  const Tensor padded = data::pad_sequence({a, b}, true, -1);
  CHECK(padded.to_vector<float>() == std::vector<float>{1, 2, 3, 4, -1, -1});
  CHECK(data::pad_sequence({a, b}, true, -1, "left").to_vector<float>() ==
        std::vector<float>{1, 2, 3, -1, -1, 4});
  CHECK(equal(data::pad_sequence({a, b}, true, -1, data::PaddingSide::left),
              data::pad_sequence({a, b}, true, -1, "left")));
  CHECK_THROWS_WITH(
      data::pad_sequence({a, b}, true, -1, "middle"),
      ContainsSubstring("[padding_side] \"middle\" is unknown; the words are right left"));
  CHECK(data::pad_sequence({a, b}).shape() == Shape{3, 2});
  CHECK(data::pad_sequence({zeros({2, 5}), zeros({0, 5})}, true).shape() == Shape{2, 2, 5});
  (padded * tensor({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}})).sum().backward();
  CHECK(a.grad().to_vector<float>() == std::vector<float>{1, 2, 3});
  CHECK(b.grad().to_vector<float>() == std::vector<float>{4});

  CHECK_THROWS_AS(data::pad_sequence({}), ShapeError);
  CHECK_THROWS_AS(data::pad_sequence({tensor(1.0)}), ShapeError);
  CHECK_THROWS_AS(data::pad_sequence({zeros({2, 3}), zeros({2, 4})}), ShapeError);
  CHECK_THROWS_AS(data::pad_sequence({zeros({2, 3}), zeros({2})}), ShapeError);
  CHECK_THROWS_AS(data::pad_sequence({zeros({2}), arange(2)}), DTypeError);
}

TEST_CASE("PadCollate pads sequences and returns their lengths, also in pairs with labels") {
  const data::PadCollate collate{.padding_value = 9}, left{.padding_value = 9, .side = "left"};
  const data::Padded tokens = collate(std::vector<std::vector<int>>{{1}, {2, 3}});
  CHECK(tokens.values.to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 9, 2, 3});
  CHECK(tokens.lengths.to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 2});
  const data::Padded at_left = left(std::vector<std::vector<int>>{{1}, {2, 3}});
  CHECK(at_left.values.to_vector<std::int64_t>() == std::vector<std::int64_t>{9, 1, 2, 3});
  const auto [padded, labels] =
      collate(std::vector{std::pair(arange(1), 4), std::pair(arange(3), 5)});
  CHECK(padded.values.to_vector<std::int64_t>() == std::vector<std::int64_t>{0, 9, 9, 0, 1, 2});
  CHECK(labels.to_vector<std::int64_t>() == std::vector<std::int64_t>{4, 5});
}

TEST_CASE("default_collate preserves tuples and arrays of one element") {
  const std::tuple<std::pair<Tensor, Tensor>> tuple =
      data::default_collate(std::vector<std::tuple<std::pair<int, float>>>{{{1, 2.5f}}});
  CHECK(std::get<0>(tuple).second.dtype() == float32);
  const std::array<std::array<Tensor, 2>, 1> array =
      data::default_collate(std::vector<std::array<std::array<int, 2>, 1>>{{{{1, 2}}}});
  CHECK(array[0][1].item<std::int64_t>() == 2);
}
