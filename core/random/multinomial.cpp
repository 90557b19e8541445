#include <tend/core/random/multinomial.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <tend/core/memory/scratch.h>
#include <tend/core/random/distributions.h>

namespace tend::kernels {
namespace {

// The weights and the array for the chosen categories, both row-major.
struct Rows {
  Array weights;   // (rows, categories)
  bool by_column;  // the user's array has the weights column by column in memory
  Array chosen;    // (rows, samples)
  std::int64_t rows() const { return weights.shape()[0]; }
  std::int64_t categories() const { return weights.shape()[1]; }
  std::int64_t samples() const { return chosen.shape()[1]; }
};

Rows rows_of(const Array& probabilities, const Array& chosen) {
  if (probabilities.rank() == 1) {
    return {probabilities.contiguous().unsqueeze(0), false, chosen.unsqueeze(0)};
  }
  const Shape& strides = probabilities.strides();
  return {probabilities.contiguous(), strides[0] != 0 && strides[0] < strides[1], chosen};
}

void check(const Array& out, const Array& probabilities, bool replacement) {
  const auto refuse = [&](const auto&... reason) {
    fail<ShapeError>("multinomial", "probabilities ", probabilities.shape(), ", output ",
                     out.shape(), ": ", reason...);
  };
  if (out.dtype() != int64)
    fail<DTypeError>("multinomial", "the output is ", out.dtype(), ", not int64");
  if (probabilities.rank() < 1 || probabilities.rank() > 2) {
    refuse("the probabilities must have shape (n,) or (m, n)");
  }
  if (out.rank() != probabilities.rank()) refuse("the numbers of dimensions differ");
  if (out.rank() == 2 && out.shape()[0] != probabilities.shape()[0]) {
    refuse("the first dimensions differ");
  }
  const std::int64_t categories = probabilities.shape().back();
  if (out.shape().back() < 1) refuse("needs at least one sample");
  if (categories > std::int64_t{1} << 24) refuse("there are more than 2^24 categories");
  if (!replacement && out.shape().back() > categories) {
    refuse("more samples than categories, without replacement");
  }
  if (out.may_self_overlap()) refuse("two indices of the output refer to the same element");
}

template <class T>
void check_weights(const Rows& r, bool replacement) {
  const std::int64_t wanted = replacement ? 1 : r.samples();
  const T* weights = r.weights.data<T>();
  for (std::int64_t row = 0; row < r.rows(); ++row, weights += r.categories()) {
    const T* end = weights + r.categories();
    const auto valid = [](T w) { return w >= T(0) && std::isfinite(w); };
    const T* bad = std::find_if_not(weights, end, valid);
    if (bad != end) {
      fail("multinomial", "the probability of category ", bad - weights, " in row ", row, " is ",
           *bad, ", not a finite number >= 0");
    }
    const auto positive = std::count_if(weights, end, [](T w) { return w > T(0); });
    if (positive < wanted) {
      fail("multinomial", "row ", row, " needs ", wanted, " probabilities over 0, but has ",
           positive);
    }
  }
}

// Divides each weight by an exponential random number. The largest quotients win (Efraimidis and
// Spirakis 2006).
template <class T>
void draw_without_replacement(const Rows& r, Generator& generator) {
  // The order of the random numbers is the order of the weights in the memory of the user's array.
  const std::int64_t row_step = r.by_column ? 1 : r.categories();
  const std::int64_t column_step = r.by_column ? r.rows() : 1;
  Scratch<T> quotient = scratch<T>("multinomial", r.weights.numel());
  Scratch<std::int64_t> order = scratch<std::int64_t>("multinomial", r.categories());
  for (T& q : quotient) q = static_cast<T>(-std::log1p(-generator.uniform()));

  const T* weights = r.weights.data<T>();
  std::int64_t* out = r.chosen.data<std::int64_t>();
  for (std::int64_t row = 0; row < r.rows(); ++row) {
    T* q = quotient.data() + row * row_step;
    for (std::int64_t c = 0; c < r.categories(); ++c) {
      const T weight = weights[row * r.categories() + c];
      q[c * column_step] = weight == T(0) ? T(0) : weight / std::abs(q[c * column_step]);
    }
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::partial_sort(order.begin(), order.begin() + r.samples(), order.end(),
                      [&](std::int64_t a, std::int64_t b) {
                        const T qa = q[a * column_step];
                        const T qb = q[b * column_step];
                        return qa > qb || (qa == qb && a < b);
                      });
    out = std::copy_n(order.begin(), r.samples(), out);
  }
}

// Inverts the cumulative distribution at one uniform random number for each sample.
template <class T>
void draw_with_replacement(const Rows& r, Generator& generator) {
  const T* weights = r.weights.data<T>();
  std::int64_t* out = r.chosen.data<std::int64_t>();
  Scratch<T> below = scratch<T>("multinomial", r.categories());
  for (std::int64_t row = 0; row < r.rows(); ++row, weights += r.categories()) {
    std::partial_sum(weights, weights + r.categories(), below.begin());
    const T total = below.back();
    for (T& b : below) b /= total;
    below.back() = T(1);
    for (std::int64_t s = 0; s < r.samples(); ++s) {
      const double u = generator.uniform();
      const auto at = std::lower_bound(below.begin(), below.end(), u,
                                       [](T b, double x) { return static_cast<double>(b) < x; });
      *out++ = at - below.begin();
    }
  }
}

}  // namespace

void multinomial(const Array& out, const Array& probabilities, bool replacement,
                 Generator& generator) {
  visit_floating("multinomial", probabilities.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    check(out, probabilities, replacement);
    if (out.numel() == 0) return;
    const Array target = out.is_contiguous() ? out : Array::empty(out.shape(), int64);
    const Rows rows = rows_of(probabilities, target);
    check_weights<T>(rows, replacement);
    const GeneratorLock lock(generator);
    // A single sample uses the same algorithm with and without replacement, as in PyTorch.
    const bool inverse = replacement && rows.samples() > 1;
    (inverse ? draw_with_replacement<T> : draw_without_replacement<T>)(rows, generator);
    if (!out.is_contiguous()) out.copy_from(target);
  });
}

}  // namespace tend::kernels
