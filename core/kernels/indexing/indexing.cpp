#include <tend/core/kernels/indexing/indexing.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include <tend/core/kernels/elementwise/copy.h>
#include <tend/core/kernels/elementwise/loops.h>

namespace tend::kernels {
namespace {

void check_dtypes(std::string_view operation, const Array& out, const Array& a,
                  const Array& index) {
  if (index.dtype() != int64)
    fail<DTypeError>(operation, "the index is ", index.dtype(), ", not int64");
  if (out.dtype() != a.dtype()) {
    fail<DTypeError>(operation, "the elements are ", a.dtype(), " and ", out.dtype());
  }
}

// The first index outside of [0, size).
std::optional<std::int64_t> find_outside(const Array& index, std::int64_t size) {
  const auto outside = [size](std::int64_t i) {
    return static_cast<std::uint64_t>(i) >= static_cast<std::uint64_t>(size);
  };
  std::atomic<bool> bad = false;
  StridedLoop<1>({&index}).run([&](std::int64_t count, const auto& p, const auto& step) {
    // The sign bit of an index, or of what it leaves of the size: without branches, in vectors.
    const auto last = static_cast<std::uint64_t>(size - 1);
    std::uint64_t signs = 0;
    const auto look_at = [&](const std::byte* at) {
      const auto i = *reinterpret_cast<const std::uint64_t*>(at);
      signs |= i | (last - i);
    };
    if (step[0] == sizeof(std::int64_t)) {
      for (std::int64_t i = 0; i < count; ++i) look_at(p[0] + i * 8);
    } else {
      for (std::int64_t i = 0; i < count; ++i) look_at(p[0] + i * step[0]);
    }
    if (static_cast<std::int64_t>(signs) < 0) bad = true;
  });
  if (!bad) return std::nullopt;
  const Array dense = index.contiguous();
  const auto* first = dense.data<std::int64_t>();
  return *std::find_if(first, first + dense.numel(), outside);
}

// Throws unless all indices lie in [0, shape[dim]).
void check_indices(std::string_view operation, const Array& index, const Shape& shape,
                   std::int64_t dim) {
  if (const auto bad = find_outside(index, shape[dim])) {
    fail<IndexError>(operation, "index ", *bad, " is out of range for dimension ", dim, " of ",
                     shape);
  }
}

// Throws unless `part` has the rank of `whole` and is nowhere larger, `dim` aside (-1: none).
void check_fits(std::string_view operation, const Array& part, const Array& whole,
                std::int64_t dim) {
  bool fits = part.rank() == whole.rank();
  for (std::int64_t d = 0; fits && d < part.rank(); ++d)
    fits = d == dim || part.size(d) <= whole.size(d);
  if (!fits) {
    fail<ShapeError>(operation, "index ", part.shape(), " is larger than ", whole.shape(),
                     " or of another rank");
  }
}

// The stride of `dim` in bytes. 0 if that overflows int64: then the dimension has size 1, so that
// no element is stepped over.
std::int64_t byte_step(const Array& a, std::int64_t dim) {
  std::int64_t step = 0;
  return __builtin_mul_overflow(a.strides()[dim], item_size(a.dtype()), &step) ? 0 : step;
}

// `index` (0-d or 1-d) expanded to `shape`, so that each of its elements names a whole slice along
// `dim`.
Array slice_index(std::string_view operation, const Array& index, Shape shape, std::int64_t dim) {
  if (index.rank() > 1) {
    fail<ShapeError>(operation, "the index has shape ", index.shape(), ", not one dimension");
  }
  Array view = at_least_1d(index);
  shape[dim] = view.size(0);
  for (std::int64_t d = dim + 1; d < shape.rank(); ++d) view = view.unsqueeze(-1);
  return view.expand(shape);
}

// The elements of `a` at position 0 of `dim`, repeated or cut to `shape`. An index along `dim`
// counts from them.
Array origin(const Array& a, const Shape& shape, std::int64_t dim) {
  Shape strides = a.strides();
  strides[dim] = 0;
  return a.as_strided(shape, strides, a.offset());
}

template <class T>
void gather_typed(const Array& out, const Array& a, std::int64_t dim, const Array& index) {
  const Array from = origin(a, out.shape(), dim);
  const std::int64_t stride = byte_step(a, dim);
  StridedLoop<3>({&out, &from, &index})
      .run([stride](std::int64_t count, const auto& p, const auto& step) {
        if (step[2] == 0) {  // the whole run has one index: it copies from one slice
          const auto* source = p[1] + *reinterpret_cast<const std::int64_t*>(p[2]) * stride;
          if (step[0] == sizeof(T) && step[1] == sizeof(T)) {
            std::copy_n(reinterpret_cast<const T*>(source), count, reinterpret_cast<T*>(p[0]));
            return;
          }
        }
        if (step[0] == sizeof(T) && step[2] == sizeof(std::int64_t)) {
          constexpr std::int64_t kItem = sizeof(T);
          auto* to = reinterpret_cast<T*>(p[0]);
          const auto* source = reinterpret_cast<const T*>(p[1]);
          const auto* places = reinterpret_cast<const std::int64_t*>(p[2]);
          const std::int64_t next = step[1] / kItem, place_step = stride / kItem;
          for (std::int64_t i = 0; i < count; ++i)
            to[i] = source[i * next + places[i] * place_step];
          return;
        }
        for (std::int64_t i = 0; i < count; ++i) {
          const auto at = *reinterpret_cast<const std::int64_t*>(p[2] + i * step[2]);
          *reinterpret_cast<T*>(p[0] + i * step[0]) =
              *reinterpret_cast<const T*>(p[1] + i * step[1] + at * stride);
        }
      });
}

void gather_checked(const Array& out, const Array& a, std::int64_t dim, const Array& index) {
  if (out.numel() == 0) return;
  visit_dtype(out.dtype(),
              [&](auto tag) { gather_typed<typename decltype(tag)::type>(out, a, dim, index); });
}

template <Write kWrite, class T>
void write_to(std::byte* to, const std::byte* from) {
  auto& target = *reinterpret_cast<T*>(to);
  const T value = *reinterpret_cast<const T*>(from);
  constexpr bool kAdds = kWrite == Write::add;
  if constexpr (kWrite == Write::replace) {
    target = value;
  } else if constexpr (kWrite == Write::max) {
    if (value > target || value != value) target = value;
  } else if constexpr (kWrite == Write::min) {
    if (value < target || value != value) target = value;
  } else if constexpr (std::is_same_v<T, bool>) {
    target = kAdds ? target || value : target && value;
  } else if constexpr (std::is_integral_v<T>) {  // wraps around, as PyTorch's int64 does
    const auto a = static_cast<std::uint64_t>(target), b = static_cast<std::uint64_t>(value);
    target = static_cast<T>(kAdds ? a + b : a * b);
  } else {
    target = kAdds ? target + value : target * value;
  }
}

// The lines along `dim` are shared among threads, but never a single line: it is written in the
// order of its indices.
template <Write kWrite, class T>
void scatter_typed(const Array& out, std::int64_t dim, const Array& index, const Array& src) {
  const std::int64_t length = index.size(dim);
  Shape lines = index.shape();
  lines[dim] = 1;
  const Array to = origin(out, lines, dim), at = origin(index, lines, dim),
              from = origin(src, lines, dim);
  const std::int64_t to_stride = byte_step(out, dim);
  const std::int64_t at_stride = byte_step(index, dim);
  const std::int64_t from_stride = byte_step(src, dim);
  const auto write_lines = [=](std::int64_t count, const auto& p, const auto& step) {
    constexpr std::int64_t kItem = sizeof(T);
    // Lines that lie side by side and have the same index: go slice by slice.
    if (step[1] == 0 && step[0] == kItem && step[2] == kItem) {
      for (std::int64_t j = 0; j < length; ++j) {
        const auto place = *reinterpret_cast<const std::int64_t*>(p[1] + j * at_stride);
        std::byte* targets = p[0] + place * to_stride;
        const std::byte* sources = p[2] + j * from_stride;
        for (std::int64_t i = 0; i < count; ++i)
          write_to<kWrite, T>(targets + i * kItem, sources + i * kItem);
      }
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      std::byte* const targets = p[0] + i * step[0];
      const std::byte* places = p[1] + i * step[1];
      const std::byte* sources = p[2] + i * step[2];
      for (std::int64_t j = 0; j < length; ++j) {
        const auto place = *reinterpret_cast<const std::int64_t*>(places);
        write_to<kWrite, T>(targets + place * to_stride, sources);
        places += at_stride;
        sources += from_stride;
      }
    }
  };
  constexpr std::int64_t kMinLines = 16;  // a cache line of the output for each thread
  StridedLoop<3>({&to, &at, &from}).run(write_lines, std::max(kMinLines, kElementGrain / length));
}

void scatter_checked(Write how, const Array& out, std::int64_t dim, const Array& index,
                     const Array& src) {
  if (index.numel() == 0) return;
  visit_dtype(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using enum Write;
    constexpr void (*kLoops[])(const Array&, std::int64_t, const Array&, const Array&) = {
        scatter_typed<replace, T>, scatter_typed<add, T>, scatter_typed<multiply, T>,
        scatter_typed<max, T>, scatter_typed<min, T>};
    kLoops[static_cast<std::size_t>(how)](out, dim, index, src);
  });
}

}  // namespace

void scatter_reduce(const char* operation, Write how, const Array& out, std::int64_t dim,
                    const Array& index, const Array& src) {
  check_dtypes(operation, out, src, index);
  const Array to = at_least_1d(out), from = at_least_1d(src), at = at_least_1d(index);
  check_fits(operation, at, from, -1);
  check_fits(operation, at, to, dim);
  check_indices(operation, at, to.shape(), dim);
  scatter_checked(how, to, dim, at, from);
}

void gather(const Array& out, const Array& a, std::int64_t dim, const Array& index) {
  check_dtypes("gather", out, a, index);
  const Array to = at_least_1d(out), from = at_least_1d(a), at = at_least_1d(index);
  check_fits("gather", at, from, dim);
  check_indices("gather", at, from.shape(), dim);
  gather_checked(to, from, dim, at);
}

void scatter_add(const Array& out, std::int64_t dim, const Array& index, const Array& src) {
  scatter_reduce("scatter_add", Write::add, out, dim, index, src);
}

void scatter(const Array& out, std::int64_t dim, const Array& index, const Array& src) {
  scatter_reduce("scatter", Write::replace, out, dim, index, src);
}

void index_select(const Array& out, const Array& a, std::int64_t dim, const Array& index,
                  std::string_view operation) {
  check_dtypes(operation, out, a, index);
  if (a.rank() == 0 && index.numel() != 1) {
    fail<ShapeError>(operation, "a 0-d tensor takes one index, not an index of shape ",
                     index.shape());
  }
  const Array to = at_least_1d(out), from = at_least_1d(a);
  const Array at = slice_index(operation, index, from.shape(), dim);
  check_indices(operation, at_least_1d(index), from.shape(), dim);
  gather_checked(to, from, dim, at);
}

void index_add(const Array& out, std::int64_t dim, const Array& index, const Array& src) {
  check_dtypes("index_add", out, src, index);
  const Array to = at_least_1d(out), from = at_least_1d(src);
  const Array at = slice_index("index_add", index, to.shape(), dim);
  if (src.rank() != out.rank() || from.shape() != at.shape()) {
    fail<ShapeError>("index_add", "source ", src.shape(), " and index ", index.shape(),
                     " do not fit ", out.shape(), " in dimension ", dim);
  }
  check_indices("index_add", at_least_1d(index), to.shape(), dim);
  scatter_checked(Write::add, to, dim, at, from);
}

void one_hot(const Array& out, const Array& index) {
  check_dtypes("one_hot", out, out, index);
  check_indices("one_hot", index, out.shape(), out.rank() - 1);
  fill(out, 0);
  if (out.numel() == 0) return;
  visit_dtype(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const Array first = out.select(-1, 0);
    const std::int64_t stride = out.strides().back() * item_size(out.dtype());
    StridedLoop<2>({&first, &index})
        .run([stride](std::int64_t count, const auto& p, const auto& step) {
          for (std::int64_t i = 0; i < count; ++i) {
            const auto at = *reinterpret_cast<const std::int64_t*>(p[1] + i * step[1]);
            *reinterpret_cast<T*>(p[0] + i * step[0] + at * stride) = T(1);
          }
        });
  });
}

std::int64_t IndexArrays::front() const {
  const bool neighbours = dims.empty() || dims.back() - dims[0] + 1 == dims.rank();
  return neighbours && !dims.empty() ? dims[0] : 0;
}

Shape IndexArrays::result_shape(Shape whole) const {
  const std::int64_t at = front();
  for (std::int64_t k = dims.rank(); k-- > 0;) whole.erase(dims[k]);
  for (std::int64_t k = 0; k < shape.rank(); ++k) whole.insert(at + k, shape[k]);
  return whole;
}

std::optional<std::int64_t> wrap_positions(const Array& out, const Array& index,
                                           std::int64_t size) {
  map<std::int64_t, std::int64_t>(out, index,
                                  [size](std::int64_t i) { return i < 0 ? i + size : i; });
  const auto bad = find_outside(out, size);
  return bad && *bad < 0 ? *bad - size : bad;
}

namespace {

// `a` without the indexed dimensions, and with a dimension of stride 1 in front: an index along
// that is an offset in elements.
Array by_offset(const Array& a, const IndexArrays& arrays) {
  Shape shape = a.shape(), strides = a.strides();
  for (std::int64_t k = arrays.dims.rank(); k-- > 0;) {
    shape.erase(arrays.dims[k]);
    strides.erase(arrays.dims[k]);
  }
  shape.insert(0, 1);
  strides.insert(0, 1);
  return a.as_strided(shape, strides, a.offset());
}

// The offsets of the indexed elements, or slices, of `a` from its first element. They are expanded
// to `like`: the shape of by_offset, but with as many elements in front as there are offsets.
Array offsets(const Array& a, const IndexArrays& arrays, Shape like) {
  if (arrays.dims.rank() == 1 && a.strides()[arrays.dims[0]] == 1) {
    const Array dense = arrays.positions[0].expand(arrays.shape).contiguous();
    return slice_index("index", dense.view({dense.numel()}), std::move(like), 0);
  }
  const Array sum = Array::zeros(arrays.shape, int64);
  for (std::int64_t k = 0; k < arrays.dims.rank(); ++k) {
    const std::int64_t stride = a.strides()[arrays.dims[k]];
    const Array& positions = arrays.positions[static_cast<std::size_t>(k)];
    map<std::int64_t, std::int64_t, std::int64_t>(
        sum, sum, positions,
        [stride](std::int64_t so_far, std::int64_t at) { return so_far + at * stride; });
  }
  return slice_index("index", sum.view({sum.numel()}), std::move(like), 0);
}

// `x`, which has the result's shape, with the dimensions of arrays.shape merged into one in front.
Array positions_first(const Array& x, const IndexArrays& arrays) {
  const std::int64_t front = arrays.front();
  Shape merged = x.shape(), order;
  for (std::int64_t k = 0; k < arrays.shape.rank(); ++k) merged.erase(front);
  merged.insert(front, element_count(arrays.shape));
  for (std::int64_t d = 0; d < merged.rank(); ++d) {
    if (d != front) order.push_back(d);
  }
  order.insert(0, front);
  return x.reshape(merged).permute(order);
}

}  // namespace

void take_indexed(const Array& out, const Array& a, const IndexArrays& arrays) {
  if (out.numel() == 0) return;
  const Array to = positions_first(out, arrays);
  gather_checked(to, by_offset(a, arrays), 0, offsets(a, arrays, to.shape()));
}

void put_indexed(const Array& out, const IndexArrays& arrays, const Array& src, bool accumulate) {
  const Array from = positions_first(src.expand(arrays.result_shape(out.shape())), arrays);
  if (from.numel() == 0) return;
  scatter_checked(accumulate ? Write::add : Write::replace, by_offset(out, arrays), 0,
                  offsets(out, arrays, from.shape()), from);
}

}  // namespace tend::kernels
