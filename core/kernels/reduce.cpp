#include <tend/core/kernels/reduce.h>

#include <cmath>
#include <limits>

#include <tend/core/kernels/loops.h>

namespace tend::kernels {
namespace {

template <class T>
bool is_nan(T x) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(x);
  return false;
}

// f(out element, its elements as a vector)
template <class T, class Out, class F>
void reduce_naive(const Array& out, const Array& a, const Shape& dims, F f) {
  Array view = out;
  if (out.rank() != a.rank()) {
    for (const std::int64_t d : dims) view = view.unsqueeze(d);
  }
  Shape order;
  std::int64_t count = 1;
  for (std::int64_t d = 0; d < a.rank(); ++d) {
    if (std::find(dims.begin(), dims.end(), d) == dims.end()) order.push_back(d);
  }
  for (const std::int64_t d : dims) {
    order.push_back(d);
    count *= a.size(d);
  }
  const Array dense = a.permute(order).contiguous();
  const T* from = dense.data<T>();
  const Array to = Array::empty(view.shape(), view.dtype());
  for (std::int64_t i = 0; i < to.numel(); ++i) {
    const T* first = from + i * count;
    to.data<Out>()[i] = f(std::vector<T>(first, first + count));
  }
  view.copy_from(to);
}

template <bool kLargest>
void extreme(std::string_view name, const Array& out, const Array& a, const Shape& dims) {
  std::int64_t count = 1;
  for (const std::int64_t d : dims) count *= a.size(d);
  if (count == 0 && out.numel() > 0)
    fail<ShapeError>(name, "no elements to choose from in ", a.shape());
  visit_dtype(a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    reduce_naive<T, T>(out, a, dims, [](const std::vector<T>& v) {
      T best = v[0];
      for (const T x : v) {
        if (is_nan(x) || (kLargest ? x > best : x < best)) best = x;
        if (is_nan(best)) break;
      }
      return best;
    });
  });
}

template <bool kLargest>
void extreme_index(std::string_view name, const Array& out, const Array& a, std::int64_t dim) {
  if (a.rank() > 0 && a.size(dim) == 0)
    fail<ShapeError>(name, "dimension ", dim, " of ", a.shape(), " is empty");
  visit_dtype(a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const Shape dims = a.rank() == 0 ? Shape{} : Shape{dim};
    reduce_naive<T, std::int64_t>(out, a, dims, [](const std::vector<T>& v) {
      std::size_t best = 0;
      for (std::size_t i = 0; i < v.size() && !is_nan(v[best]); ++i) {
        if (is_nan(v[i]) || (kLargest ? v[i] > v[best] : v[i] < v[best])) best = i;
      }
      return static_cast<std::int64_t>(best);
    });
  });
}

}  // namespace

void sum(const Array& out, const Array& a, const Shape& dims) {
  const Array from = a.to(sum_dtype(a.dtype()));
  visit_dtype(from.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, bool>) {
      reduce_naive<T, T>(out, from, dims, [](const std::vector<T>& v) {
        if (v.size() < 16) {
          T s = 0;
          for (const T x : v) s += x;
          return s;
        }
        std::conditional_t<std::is_same_v<T, float>, double, T> s = 0;
        for (const T x : v) s += x;
        return static_cast<T>(s);
      });
    }
  });
}

void mean(const Array& out, const Array& a, const Shape& dims) {
  visit_floating("mean", a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    reduce_naive<T, T>(out, a, dims, [](const std::vector<T>& v) {
      double s = 0;
      for (const T x : v) s += x;
      return static_cast<T>(s / static_cast<double>(v.size()));
    });
  });
}

void prod(const Array& out, const Array& a, const Shape& dims) {
  const Array from = a.to(sum_dtype(a.dtype()));
  visit_dtype(from.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, bool>) {
      reduce_naive<T, T>(out, from, dims, [](const std::vector<T>& v) {
        T s = 1;
        for (const T x : v) s *= x;
        return s;
      });
    }
  });
}

void var(const Array& out, const Array& a, const Shape& dims, double correction) {
  visit_floating("var", a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    reduce_naive<T, T>(out, a, dims, [correction](const std::vector<T>& v) {
      double s = 0, squares = 0;
      for (const T x : v) s += x;
      const double n = static_cast<double>(v.size());
      for (const T x : v) squares += (x - s / n) * (x - s / n);
      return static_cast<T>(squares / std::max(0.0, n - correction));
    });
  });
}

void amax(const Array& out, const Array& a, const Shape& dims) {
  extreme<true>("amax", out, a, dims);
}
void amin(const Array& out, const Array& a, const Shape& dims) {
  extreme<false>("amin", out, a, dims);
}

void any(const Array& out, const Array& a, const Shape& dims) {
  reduce_naive<bool, bool>(out, a.to(boolean), dims, [](const std::vector<bool>& v) {
    return std::find(v.begin(), v.end(), true) != v.end();
  });
}
void all(const Array& out, const Array& a, const Shape& dims) {
  reduce_naive<bool, bool>(out, a.to(boolean), dims, [](const std::vector<bool>& v) {
    return std::find(v.begin(), v.end(), false) == v.end();
  });
}

void max(const Array& values, const Array& indices, const Array& a, std::int64_t dim) {
  extreme_index<true>("max", indices, a, dim);
  extreme<true>("max", values, a, a.rank() == 0 ? Shape{} : Shape{dim});
}
void min(const Array& values, const Array& indices, const Array& a, std::int64_t dim) {
  extreme_index<false>("min", indices, a, dim);
  extreme<false>("min", values, a, a.rank() == 0 ? Shape{} : Shape{dim});
}

void argmax(const Array& out, const Array& a, std::optional<std::int64_t> dim) {
  extreme_index<true>("argmax", out, dim ? a : a.reshape({-1}), dim.value_or(0));
}
void argmin(const Array& out, const Array& a, std::optional<std::int64_t> dim) {
  extreme_index<false>("argmin", out, dim ? a : a.reshape({-1}), dim.value_or(0));
}

}  // namespace tend::kernels
