#include <tend/core/kernels/reduce/sort.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <limits>
#include <utility>

#include <tend/core/kernels/elementwise/loops.h>
#include <tend/core/kernels/indexing/index_arrays.h>
#include <tend/core/memory/scratch.h>
#include <tend/core/threads/parallel.h>

namespace tend::kernels {
namespace {

// A line's elements are sorted as packed numbers: a key above, whose order is that of the elements,
// and the place below, which decides among equal ones.
__extension__ using Wide = unsigned __int128;

template <class T>
using Key = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

// All NaN have the largest key, and -0 that of 0.
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

// Sorts by the keys, byte by byte from the lowest: a radix sort, which is stable. `other` is as
// long.
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

// Puts the first k in their order to the front.
template <class Packed>
void sort_first(Scratch<Packed>& line, Scratch<Packed>& other, std::int64_t k) {
  constexpr std::int64_t kShort = 256;  // below it counting the digits takes longer than sorting
  const auto length = static_cast<std::int64_t>(line.size());
  if (k * 16 < length) {
    std::partial_sort(line.begin(), line.begin() + k, line.end());
  } else if (length < kShort || length > std::numeric_limits<std::uint32_t>::max()) {
    std::sort(line.begin(), line.end());
  } else {
    radix_sort(line, other);
  }
}

// Writes the first `k` of each line along the last dimension, in their sorted order.
template <class T, class Packed>
void rank_lines(std::string_view operation, const Array& values, const Array& indices,
                const Array& a, std::int64_t k, bool descending) {
  const std::int64_t length = a.shape().back(), lines = a.numel() / length;
  const T* const from = a.data<T>();
  T* const value = values.data<T>();
  auto* const index = indices.data<std::int64_t>();
  const Key<T> flip = descending ? std::numeric_limits<Key<T>>::max() : 0;
  const auto rank = [=](std::int64_t begin, std::int64_t end) {
    Scratch<Packed> line = scratch<Packed>(operation, length);
    Scratch<Packed> other = scratch<Packed>(operation, length);
    for (std::int64_t i = begin; i < end; ++i) {
      const T* source = from + i * length;
      for (std::int64_t j = 0; j < length; ++j) {
        line[static_cast<std::size_t>(j)] =
            Packed(key_of(source[j]) ^ flip) << kPlaceBits<Packed> | static_cast<Packed>(j);
      }
      sort_first(line, other, k);
      for (std::int64_t j = 0; j < k; ++j) {
        const std::int64_t place = place_of(line[static_cast<std::size_t>(j)]);
        value[i * k + j] = source[place];
        index[i * k + j] = place;
      }
    }
  };
  parallel_for(0, lines, std::max<std::int64_t>(1, kElementGrain / length / 8), rank);
}

template <class T>
void rank_dense(std::string_view operation, const Array& values, const Array& indices,
                const Array& a, std::int64_t k, bool descending) {
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  const bool is_narrow = sizeof(T) <= 4 && a.shape().back() <= kMost;
  (is_narrow ? rank_lines<T, std::uint64_t> : rank_lines<T, Wide>)(operation, values, indices, a, k,
                                                                   descending);
}

// `x` in row-major memory; OutOfMemoryError naming `operation`.
Array dense(std::string_view operation, const Array& x, bool copies) {
  if (x.is_contiguous()) return x;
  try {
    return copies ? x.contiguous() : Array::empty(x.shape(), x.dtype());
  } catch (const OutOfMemoryError&) {
    fail<OutOfMemoryError>(operation, "no room for ", x.numel(), " elements");
  }
}

// Lines are sorted where their elements are neighbours; others are copied there and back.
void rank_all(std::string_view operation, const Array& values, const Array& indices, const Array& a,
              std::int64_t k, std::int64_t dim, bool descending) {
  assert(values.dtype() == a.dtype() && indices.dtype() == int64);
  if (values.numel() == 0) return;
  const auto line_last = [dim](const Array& x) { return at_least_1d(x).transpose(dim, -1); };
  const Array to = line_last(values), places = line_last(indices);
  const Array dense_to = dense(operation, to, false),
              dense_places = dense(operation, places, false);
  const Array from = dense(operation, line_last(a), true);
  visit_dtype(a.dtype(), [&](auto tag) {
    rank_dense<typename decltype(tag)::type>(operation, dense_to, dense_places, from, k,
                                             descending);
  });
  if (!to.is_contiguous()) to.copy_from(dense_to);
  if (!places.is_contiguous()) places.copy_from(dense_places);
}

}  // namespace

void sort(const Array& values, const Array& indices, const Array& a, std::int64_t dim,
          bool descending) {
  rank_all("sort", values, indices, a, a.rank() == 0 ? 1 : a.size(dim), dim, descending);
}

void topk(const Array& values, const Array& indices, const Array& a, std::int64_t k,
          std::int64_t dim, bool largest) {
  const std::int64_t length = a.rank() == 0 ? 1 : a.size(dim);
  if (k < 0 || k > length) {
    fail<ShapeError>("topk", "k = ", k, ", but dimension ", dim, " of ", a.shape(), " has ", length,
                     " elements");
  }
  rank_all("topk", values, indices, a, k, dim, largest);
}

void searchsorted(const Array& out, const Array& rows, const Array& values, bool right) {
  if (out.numel() == 0) return;
  const std::int64_t length = rows.shape().back();
  const std::int64_t values_per_row = rows.rank() == 1 ? values.numel() : values.shape().back();
  visit_number("searchsorted", values.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *row = rows.data<T>(), *value = values.data<T>();
    auto* to = out.data<std::int64_t>();
    // Not <: NaN comes after every number.
    const auto before = [right](T x, T wanted) { return right ? !(x > wanted) : !(x >= wanted); };
    parallel_for(0, out.numel(), kElementGrain / 16, [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const T* first = row + i / values_per_row * length;
        to[i] = std::lower_bound(first, first + length, value[i], before) - first;
      }
    });
  });
}

}  // namespace tend::kernels
