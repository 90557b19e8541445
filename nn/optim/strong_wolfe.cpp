#include <tend/nn/optim/strong_wolfe.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

namespace tend::optim::detail {
namespace {

constexpr int kMostPoints = 25;
constexpr double kTolerance = 1e-9;

// The minimum, between `low` and `high`, of the cubic polynomial with the losses and slopes of the
// points `a` and `b`.
double cubic_minimum(const LinePoint& a, const LinePoint& b, double low, double high) {
  const auto& [first, second] = a.t <= b.t ? std::tie(a, b) : std::tie(b, a);
  const double d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t);
  const double square = d1 * d1 - a.slope * b.slope;
  if (!(square >= 0)) return (low + high) / 2;
  const double d2 = std::sqrt(square);
  const double share = (second.slope + d2 - d1) / (second.slope - first.slope + 2 * d2);
  return std::min(std::max(second.t - (second.t - first.t) * share, low), high);
}

class Search {
 public:
  Search(FunctionRef<LinePoint(double)> at, const LinePoint& start) : at_(at), start_(start) {}

  LinePoint run(double t, double direction_size) {
    LinePoint before = start_, now = at_(t);
    for (; tried_ < kMostPoints; ++tried_) {
      if (is_too_high(now) || (tried_ > 1 && now.loss >= before.loss))
        return zoom({before, now}, direction_size);
      if (is_flat(now)) return now;
      if (now.slope >= 0) return zoom({before, now}, direction_size);
      const double next = cubic_minimum(before, now, now.t + 0.01 * (now.t - before.t), now.t * 10);
      before = std::exchange(now, at_(next));
    }
    return start_.loss <= now.loss ? start_ : now;
  }

 private:
  // A point fulfils the two Wolfe conditions if it is not too high, and if it is flat.
  bool is_too_high(const LinePoint& p) const {
    return p.loss > start_.loss + 1e-4 * p.t * start_.slope;
  }
  bool is_flat(const LinePoint& p) const { return std::abs(p.slope) <= -0.9 * start_.slope; }

  // Narrows an interval that contains a point where both conditions are true.
  LinePoint zoom(std::array<LinePoint, 2> ends, double direction_size) {
    const auto lower = [&ends] { return ends[0].loss <= ends[1].loss ? 0U : 1U; };
    std::size_t low = lower();
    for (bool found = false; !found && tried_ < kMostPoints; ++tried_) {
      if (std::abs(ends[1].t - ends[0].t) * direction_size < kTolerance) break;
      const LinePoint now = at_(next_in(ends));
      LinePoint &best = ends[low], &other = ends[1 - low];
      if (is_too_high(now) || now.loss >= best.loss) {
        other = now;
        low = lower();
        continue;
      }
      found = is_flat(now);
      if (!found && now.slope * (other.t - best.t) >= 0) other = best;
      best = now;
    }
    return ends[low];
  }

  // The next point within an interval. If two successive points are near an end of the interval,
  // the second one is moved to a tenth of the interval away from that end. So is a point at an end.
  double next_in(const std::array<LinePoint, 2>& ends) {
    const double left = std::min(ends[0].t, ends[1].t), right = std::max(ends[0].t, ends[1].t);
    const double t = cubic_minimum(ends[0], ends[1], left, right), margin = 0.1 * (right - left);
    const bool is_near = std::min(right - t, t - left) < margin;
    if (!is_near || !(was_near_ || t >= right || t <= left)) {
      was_near_ = is_near;
      return t;
    }
    was_near_ = false;
    return std::abs(t - right) < std::abs(t - left) ? right - margin : left + margin;
  }

  FunctionRef<LinePoint(double)> at_;
  const LinePoint& start_;
  int tried_ = 0;
  bool was_near_ = false;
};

}  // namespace

LinePoint strong_wolfe(FunctionRef<LinePoint(double)> at, const LinePoint& start, double t,
                       double direction_size) {
  return Search(at, start).run(t, direction_size);
}

}  // namespace tend::optim::detail
