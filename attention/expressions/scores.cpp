#include <tend/attention/expressions/scores.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include <tend/attention/expressions/trace.h>
#include <tend/autograd/ops/ops.h>
#include <tend/core/kernels/attention/tile_program.h>

// The lambdas below are called once, when a ScoreFunction is made from them, so they may capture by
// reference.
namespace tend::attention::scores {
namespace {

void check_table(const char* name, const Tensor& table, std::int64_t rank, const char* shape) {
  if (table.dim() != rank) {
    fail<ShapeError>(name, "the table must be ", shape, ", got ", table.shape());
  }
  if (!is_floating(table.dtype())) {
    fail<DTypeError>(name, "the table must be floating, got ", table.dtype());
  }
}

/// The bucket of each distance from 0 to max_distance. The first half of `buckets` are for one
/// distance each, the others for logarithmic ranges. The buckets are computed in float32, as in
/// T5's code.
Tensor distance_buckets(std::int64_t buckets, std::int64_t max_distance) {
  const std::int64_t exact = buckets / 2;
  std::vector<std::int64_t> bucket;
  for (std::int64_t distance = 0; distance <= max_distance; ++distance) {
    if (distance < exact) {
      bucket.push_back(distance);
      continue;
    }
    const float share = std::log(static_cast<float>(distance) / static_cast<float>(exact)) /
                        static_cast<float>(std::log(static_cast<double>(max_distance) /
                                                    static_cast<double>(exact)));
    const auto further = static_cast<std::int64_t>(share * static_cast<float>(buckets - exact));
    bucket.push_back(std::min(exact + further, buckets - 1));
  }
  return tensor(bucket);
}

}  // namespace

ScoreFunction alibi(const Tensor& slopes) {
  check_table("alibi", slopes, 1, "(heads)");
  const Lookup slope = lookup(slopes);
  return [&](const Expr& score, const Position& at) {
    Trace::current().need({"alibi", kernels::TileOp::head, slopes, 0});
    return score - slope(at.head) * abs(at.query - at.key);
  };
}

ScoreFunction alibi(std::int64_t heads) {
  return alibi(alibi_slopes(heads));
}

Tensor alibi_slopes(std::int64_t heads) {
  if (heads < 1) fail<ShapeError>("alibi_slopes", "heads must be at least 1, got ", heads);
  const auto power = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  std::vector<float> slopes;
  slopes.reserve(static_cast<std::size_t>(heads));
  const auto slope = [](std::int64_t i, std::int64_t count) {
    return static_cast<float>(
        std::exp2(-8.0 * static_cast<double>(i) / static_cast<double>(count)));
  };
  for (std::int64_t i = 1; i <= power; ++i) slopes.push_back(slope(i, power));
  for (std::int64_t i = 1; std::ssize(slopes) < heads; i += 2) {
    slopes.push_back(slope(i, 2 * power));
  }
  return tensor(slopes);
}

ScoreFunction relative_bias(const Tensor& table) {
  check_table("relative_bias", table, 2, "(heads, 2 length - 1)");
  if (table.size(1) % 2 == 0) {
    fail<ShapeError>("relative_bias", "the table must be (heads, 2 length - 1), got ",
                     table.shape());
  }
  const std::int64_t last = (table.size(1) - 1) / 2;
  const Lookup bias = lookup(table);
  return [&, last](const Expr& score, const Position& at) {
    Trace::current().need({"relative_bias", kernels::TileOp::head, table, 0, table.shape()});
    return score + bias(at.head, at.query - at.key + last);
  };
}

ScoreFunction t5_bias(const Tensor& table, Flag bidirectional, std::int64_t max_distance) {
  check_table("t5_bias", table, 2, "(buckets, heads)");
  const std::int64_t buckets = bidirectional ? table.size(0) / 2 : table.size(0);
  if (buckets < 2) {
    fail<ShapeError>("t5_bias", "each side needs at least two buckets, got a table of shape ",
                     table.shape());
  }
  if (max_distance <= buckets / 2) {
    fail("t5_bias", "max_distance must be more than half the ", buckets, " buckets on a side, got ",
         max_distance);
  }
  constexpr std::int64_t kMostDistance = 1 << 20;
  if (max_distance > kMostDistance) {
    fail("t5_bias", "max_distance may be ", kMostDistance, " at most, got ", max_distance);
  }
  const Lookup bias = lookup(table);
  const Lookup bucket = lookup(distance_buckets(buckets, max_distance));
  return ScoreFunction([&](const Expr& score, const Position& at) {
    Trace::current().need({"t5_bias", kernels::TileOp::head, table, 1, table.shape()});
    const Expr past = at.query - at.key;  // how far the key is before the query
    const Expr distance = bidirectional ? abs(past) : max(past, 0);
    const Expr on_side = bucket(min(distance, max_distance));
    const Expr other_side = bidirectional ? where(past < 0, buckets, 0) : Expr(0);
    return score + bias(on_side + other_side, at.head);
  });
}

ScoreFunction soft_cap(double cap) {
  if (!(cap > 0 && std::isfinite(cap))) {
    fail("soft_cap", "cap must be positive and finite, got ", cap);
  }
  return [cap](const Expr& score, const Position&) { return cap * tanh(score / cap); };
}

}  // namespace tend::attention::scores
