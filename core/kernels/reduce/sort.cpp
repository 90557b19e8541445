#include <tend/core/kernels/reduce/sort.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <limits>
#include <numeric>
#include <utility>

#include <tend/core/kernels/elementwise/loops.h>
#include <tend/core/kernels/indexing/index_arrays.h>
#include <tend/core/memory/scratch.h>
#include <tend/core/threads/parallel.h>

namespace tend::kernels {
namespace {

// Lines are sorted as packed numbers. The upper half is a key, whose order is the order of the
// elements. The lower half is the position, which decides between equal elements.
__extension__ using Wide = unsigned __int128;

template <class T>
using Key = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

// NaN has the largest key. -0 has the key of 0.
template <class T>
Key<T> key_of(T x) {
  constexpr Key<T> kSign = Key<T>(1) << (std::numeric_limits<Key<T>>::digits - 1);
  if constexpr (std::is_same_v<T, bool>) {
    return x;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<Key<T>>(x) ^ kSign;
  } else {
    if (x != x) return std::numeric_limits<Key<T>>::max();
    const auto bits = std::bit_cast<Key<T>>(x + T(0));
    return bits ^ ((bits & kSign) != 0 ? std::numeric_limits<Key<T>>::max() : kSign);
  }
}

template <class Packed>
constexpr int kPlaceBits = sizeof(Packed) * 4;

template <class Packed>
std::int64_t place_of(Packed packed) {
  return static_cast<std::int64_t>(packed & ((Packed(1) << kPlaceBits<Packed>)-1));
}

// Sorts by the keys with a radix sort, which is stable: byte by byte from the lowest. `other` is a
// buffer of the same length.
template <class Packed>
void radix_sort(Scratch<Packed>& line, Scratch<Packed>& other) {
  constexpr std::size_t kDigits = sizeof(Packed) / 2;
  const auto digit = [](Packed packed, std::size_t d) {
    return static_cast<std::uint8_t>(packed >> (kPlaceBits<Packed> + 8 * static_cast<int>(d)));
  };
  std::array<std::array<std::uint32_t, 256>, kDigits> counts{};
  for (const Packed each : line) {
    for (std::size_t d = 0; d < kDigits; ++d) ++counts[d][digit(each, d)];
  }
  for (std::size_t d = 0; d < kDigits; ++d) {
    if (counts[d][digit(line[0], d)] == line.size()) continue;  // all have the same digit
    std::uint32_t before = 0;
    for (std::uint32_t& count : counts[d]) before += std::exchange(count, before);
    for (const Packed each : line) other[counts[d][digit(each, d)]++] = each;
    std::swap(line, other);
  }
}

template <class Packed>
void sort_all(Scratch<Packed>& line, Scratch<Packed>& other) {
  constexpr std::int64_t kShort = 256;  // counting digits of shorter lines costs more than sorting
  const auto length = static_cast<std::int64_t>(line.size());
  if (length < kShort || length > std::numeric_limits<std::uint32_t>::max()) {
    std::sort(line.begin(), line.end());
  } else {
    radix_sort(line, other);
  }
}

// A line to be sorted. An XOR with `flip` reverses the order of keys for a descending sort.
template <class T, class Packed>
struct Line {
  const T* from;
  std::int64_t length;
  Key<T> flip;

  Packed packed(std::int64_t j) const {
    return Packed(key_of(from[j]) ^ flip) << kPlaceBits<Packed> | static_cast<Packed>(j);
  }
  // True if x may come before `last`. It is always true if one of them is NaN.
  bool may_precede(T x, T last) const { return flip != 0 ? !(x <= last) : !(x >= last); }
};

// Finds the first k elements in sorted order. A heap contains the best k so far. Its front is the
// last of these, and each further element is compared with it.
template <class T, class Packed>
void find_first(Scratch<Packed>& found, const Line<T, Packed>& line, std::int64_t k) {
  const auto front = found.begin(), end = front + k;
  for (std::int64_t j = 0; j < k; ++j) found[static_cast<std::size_t>(j)] = line.packed(j);
  std::make_heap(front, end);
  T last = line.from[place_of(*front)];
  const auto look_at = [&](std::int64_t j) {
    if (!line.may_precede(line.from[j], last) || line.packed(j) >= *front) return;
    std::pop_heap(front, end);
    *(end - 1) = line.packed(j);
    std::push_heap(front, end);
    last = line.from[place_of(*front)];
  };
  constexpr std::int64_t kBlock = 16;
  std::int64_t j = k;
  for (; j + kBlock <= line.length; j += kBlock) {
    unsigned hits = 0;  // most blocks have no hits
    for (std::int64_t i = 0; i < kBlock; ++i) hits |= line.may_precede(line.from[j + i], last);
    for (std::int64_t i = 0; hits != 0 && i < kBlock; ++i) look_at(j + i);
  }
  for (; j < line.length; ++j) look_at(j);
  std::sort_heap(front, end);
}

// The elements that are wanted of each line, in sorted order: the first `count`, or the middle one.
struct Wanted {
  std::int64_t count;
  bool descending;
  bool middle = false;
};

// The rank of the middle element, or of the first NaN if there is one.
template <class T>
std::int64_t middle_rank(const T* line, std::int64_t length) {
  std::int64_t numbers = 0;
  for (std::int64_t j = 0; j < length; ++j) numbers += line[j] == line[j];
  return numbers == length ? (length - 1) / 2 : numbers;
}

// Writes the wanted elements of each line along the last dimension, and their positions.
template <class T, class Packed>
void rank_lines(std::string_view operation, const Array& values, const Array& indices,
                const Array& a, Wanted wanted) {
  const std::int64_t length = a.shape().back(), lines = a.numel() / length, k = wanted.count;
  const T* const from = a.data<T>();
  T* const value = values.data<T>();
  auto* const index = indices.data<std::int64_t>();
  const Key<T> flip = wanted.descending ? std::numeric_limits<Key<T>>::max() : 0;
  const bool few = !wanted.middle && k * 16 < length;
  const auto rank = [=](std::int64_t begin, std::int64_t end) {
    Scratch<Packed> sorted = scratch<Packed>(operation, few ? k : length);
    Scratch<Packed> other = scratch<Packed>(operation, few || wanted.middle ? 0 : length);
    for (std::int64_t i = begin; i < end; ++i) {
      const Line<T, Packed> line{from + i * length, length, flip};
      auto first = sorted.begin();  // the first wanted element
      if (few) {
        find_first(sorted, line, k);
      } else {
        for (std::int64_t j = 0; j < length; ++j)
          sorted[static_cast<std::size_t>(j)] = line.packed(j);
        if (wanted.middle) {
          first += middle_rank(line.from, length);
          std::nth_element(sorted.begin(), first, sorted.end());
        } else {
          sort_all(sorted, other);
          first = sorted.begin();
        }
      }
      for (std::int64_t j = 0; j < k; ++j) {
        const std::int64_t place = place_of(*(first + j));
        value[i * k + j] = line.from[place];
        index[i * k + j] = place;
      }
    }
  };
  parallel_for(0, lines, std::max<std::int64_t>(1, kElementGrain / length / 8), rank);
}

template <class T>
void rank_dense(std::string_view operation, const Array& values, const Array& indices,
                const Array& a, Wanted wanted) {
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  const bool is_narrow = sizeof(T) <= 4 && a.shape().back() <= kMost;
  (is_narrow ? rank_lines<T, std::uint64_t> : rank_lines<T, Wide>)(operation, values, indices, a,
                                                                   wanted);
}

// `x` if it is row-major, otherwise an uninitialised array of its shape.
Array dense_like(const Array& x) {
  return x.is_contiguous() ? x : Array::empty(x.shape(), x.dtype());
}

// Finds the wanted elements of lines along `dim`. Lines that are not contiguous are copied to
// contiguous memory first. Outputs that are not contiguous are written at the end.
void rank_all(std::string_view operation, const Array& values, const Array& indices, const Array& a,
              std::int64_t dim, Wanted wanted) {
  assert(values.dtype() == a.dtype() && indices.dtype() == int64);
  if (values.numel() == 0) return;
  const auto line_last = [dim](const Array& x) { return at_least_1d(x).transpose(dim, -1); };
  const Array to = line_last(values), places = line_last(indices);
  const Array dense_to = dense_like(to), dense_places = dense_like(places);
  const Array from = line_last(a).contiguous();
  visit_dtype(a.dtype(), [&](auto tag) {
    rank_dense<typename decltype(tag)::type>(operation, dense_to, dense_places, from, wanted);
  });
  if (!to.is_contiguous()) to.copy_from(dense_to);
  if (!places.is_contiguous()) places.copy_from(dense_places);
}

}  // namespace

void sort(const Array& values, const Array& indices, const Array& a, std::int64_t dim,
          bool descending) {
  rank_all("sort", values, indices, a, dim, {a.rank() == 0 ? 1 : a.size(dim), descending});
}

void sort_rows(const Array& indices, const Array& rows) {
  const std::int64_t count = rows.size(0), width = rows.size(1);
  const Array elements = rows.contiguous();
  auto* const index = indices.data<std::int64_t>();
  std::iota(index, index + count, std::int64_t{0});
  visit_dtype(rows.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* const from = elements.data<T>();
    std::stable_sort(index, index + count, [=](std::int64_t a, std::int64_t b) {
      const T *const x = from + a * width, *const y = from + b * width;
      return std::lexicographical_compare(
          x, x + width, y, y + width, [](T left, T right) { return key_of(left) < key_of(right); });
    });
  });
}

void topk(const Array& values, const Array& indices, const Array& a, std::int64_t k,
          std::int64_t dim, bool largest) {
  const std::int64_t length = a.rank() == 0 ? 1 : a.size(dim);
  if (k < 0 || k > length) {
    fail<ShapeError>("topk", "k = ", k, ", but dimension ", dim, " of ", a.shape(), " has ", length,
                     " elements");
  }
  rank_all("topk", values, indices, a, dim, {k, largest});
}

void median(const Array& values, const Array& indices, const Array& a, std::int64_t dim) {
  rank_all("median", values, indices, a, dim, {1, false, true});
}

void bincount(const Array& counts, const Array& elements, const Array& weights) {
  const Array dense_elements = elements.contiguous();
  const auto* bin = dense_elements.data<std::int64_t>();
  visit_number("bincount", counts.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* count = counts.data<T>();
    const Array dense_weights = weights.defined() ? weights.contiguous() : Array();
    const T* weight = weights.defined() ? dense_weights.data<T>() : nullptr;
    for (std::int64_t i = 0; i < elements.numel(); ++i)
      count[bin[i]] += weight == nullptr ? T(1) : weight[i];
  });
}

namespace {

// The element with the given rank in ascending order, or NaN if any element is NaN. It sorts only
// the elements whose keys begin with the same bits as the result's key.
template <class T>
T select_rank(const T* from, std::int64_t count, std::int64_t rank) {
  constexpr int kBits = std::min(std::numeric_limits<Key<T>>::digits, 11);
  constexpr int kShift = std::numeric_limits<Key<T>>::digits - kBits;
  Scratch<std::int64_t> counts = scratch<std::int64_t>("median", 1 << kBits);
  const auto digit_of = [](T x) { return static_cast<std::size_t>(key_of(x) >> kShift); };
  bool has_nan = false;
  for (std::int64_t i = 0; i < count; ++i) {
    has_nan |= from[i] != from[i];
    ++counts[digit_of(from[i])];
  }
  if (has_nan) return std::numeric_limits<T>::quiet_NaN();
  std::size_t digit = 0;
  for (; rank >= counts[digit]; ++digit) rank -= counts[digit];
  using Element = std::conditional_t<std::is_same_v<T, bool>, char, T>;
  Scratch<Element> alike = scratch<Element>("median", counts[digit]);
  auto next = alike.begin();
  for (std::int64_t i = 0; i < count; ++i) {
    if (digit_of(from[i]) == digit) *next++ = from[i];
  }
  std::nth_element(alike.begin(), alike.begin() + rank, alike.end());
  return static_cast<T>(alike[static_cast<std::size_t>(rank)]);
}

}  // namespace

void median(const Array& out, const Array& a) {
  assert(out.dtype() == a.dtype() && out.numel() == 1 && a.numel() > 0);
  const Array elements = a.contiguous();
  visit_dtype(a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    *out.data<T>() = select_rank(elements.data<T>(), a.numel(), (a.numel() - 1) / 2);
  });
}

void searchsorted(const Array& out, const Array& rows, const Array& values, bool right) {
  if (out.numel() == 0) return;
  const std::int64_t length = rows.shape().back();
  const std::int64_t values_per_row = rows.rank() == 1 ? values.numel() : values.shape().back();
  visit_number("searchsorted", values.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *row = rows.data<T>(), *value = values.data<T>();
    auto* to = out.data<std::int64_t>();
    // The comparisons are negated, because NaN comes after every number.
    const auto before = [right](T x, T wanted) { return right ? !(x > wanted) : !(x >= wanted); };
    parallel_for(0, out.numel(), kElementGrain / 16, [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const T* first = row + i / values_per_row * length;
        // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): `value` has out's elements
        to[i] = std::lower_bound(first, first + length, value[i], before) - first;
      }
    });
  });
}

}  // namespace tend::kernels
