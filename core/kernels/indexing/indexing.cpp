#include <tend/core/kernels/indexing/indexing.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include <tend/core/kernels/elementwise/copy.h>
#include <tend/core/kernels/elementwise/loops.h>
#include <tend/core/kernels/elementwise/masking.h>
#include <tend/core/kernels/indexing/bounds.h>
#include <tend/core/kernels/indexing/masks.h>

namespace tend::kernels {
namespace {

void check_dtypes(std::string_view operation, const Array& out, const Array& a,
                  const Array& index) {
  if (index.dtype() != int64)
    fail<DTypeError>(operation, "the index is ", index.dtype(), ", not int64");
  if (out.dtype() != a.dtype()) {
    fail<DTypeError>(operation, "the elements must have one dtype, but are ", a.dtype(), " and ",
                     out.dtype());
  }
}

// Returns the first index outside of [0, size), if there is one.
std::optional<std::int64_t> find_outside(const Array& index, std::int64_t size) {
  const auto outside = [size](std::int64_t i) { return i < 0 || i >= size; };
  std::atomic<bool> bad = false;
  StridedLoop<1>({&index}).run([&](std::int64_t count, const auto& p, const auto& step) {
    if (step[0] == sizeof(std::int64_t)) {
      if (!all_inside(reinterpret_cast<const std::int64_t*>(p[0]), count, size)) bad = true;
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      if (outside(*reinterpret_cast<const std::int64_t*>(p[0] + i * step[0]))) bad = true;
    }
  });
  if (!bad) return std::nullopt;
  const Array dense = index.contiguous();
  const auto* first = dense.data<std::int64_t>();
  return *std::find_if(first, first + dense.numel(), outside);
}

// Throws unless all indices are in [0, shape[dim]).
void check_indices(std::string_view operation, const Array& index, const Shape& shape,
                   std::int64_t dim) {
  if (const auto bad = find_outside(index, shape[dim])) {
    fail<IndexError>(operation, "index ", *bad, " is out of range for dimension ", dim, " of ",
                     shape);
  }
}

// Throws unless `part` has the rank of `whole` and is not larger in any dimension. The size in
// dimension `dim` is not checked; -1 checks all sizes.
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

// Expands `index` (0-d or 1-d) to `shape`, so that each of its elements names a whole slice along
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

}  // namespace

void scatter_reduce(const char* operation, Write how, const Array& out, std::int64_t dim,
                    const Array& index, const Array& src) {
  check_dtypes(operation, out, src, index);
  const Array to = at_least_1d(out), from = at_least_1d(src), at = at_least_1d(index);
  if (index.numel() == 0) return;
  check_fits(operation, at, from, -1);
  check_fits(operation, at, to, dim);
  if (to.size(dim) == 0) check_indices(operation, at, to.shape(), dim);  // throws
  if (!scatter_lines(how, to, dim, at, from, to.size(dim), to.size(dim)))
    check_indices(operation, at, to.shape(), dim);
}

void gather(const Array& out, const Array& a, std::int64_t dim, const Array& index) {
  check_dtypes("gather", out, a, index);
  const Array to = at_least_1d(out), from = at_least_1d(a), at = at_least_1d(index);
  if (index.numel() == 0) return;
  check_fits("gather", at, from, dim);
  if (from.size(dim) == 0) check_indices("gather", at, from.shape(), dim);  // throws
  if (!gather_lines(to, from, dim, at, from.size(dim)))
    check_indices("gather", at, from.shape(), dim);
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
    fail<ShapeError>(operation, "a 0-d tensor accepts one index, not an index of shape ",
                     index.shape());
  }
  const Array to = at_least_1d(out), from = at_least_1d(a);
  const Array at = slice_index(operation, index, from.shape(), dim);
  check_indices(operation, at_least_1d(index), from.shape(), dim);
  if (at.numel() > 0) gather_lines(to, from, dim, at, kChecked);
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
  if (at.numel() > 0) scatter_lines(Write::add, to, dim, at, from, kChecked, to.size(dim));
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
  std::atomic<bool> good = true;
  StridedLoop<2>({&out, &index})
      .run_elements([&](std::int64_t count, const auto& p, const auto& step) {
        auto* to = reinterpret_cast<std::int64_t*>(p[0]);
        const auto* from = reinterpret_cast<const std::int64_t*>(p[1]);
        if (step[0] == sizeof(*to) && step[1] == sizeof(*from)) {
          if (!wrap_inside(to, from, count, size)) good = false;
          return;
        }
        for (std::int64_t i = 0; i < count; ++i) {
          if (!wrap_inside(to + i * step[0] / 8, from + i * step[1] / 8, 1, size)) good = false;
        }
      });
  if (good) return std::nullopt;
  const auto bad = find_outside(out, size);
  return bad && *bad < 0 ? *bad - size : bad;
}

namespace {

// A view of `a` without the indexed dimensions, with a new first dimension of stride 1. An index in
// the new dimension is an offset in elements.
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

// The offsets of the indexed elements, or slices, from the first element of `a`. They are expanded
// to `like`: the shape of by_offset's result, with the number of offsets as the first size.
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

// Merges the dimensions of `x` that come from arrays.shape into one, and moves this dimension to
// the front. `x` has the shape that arrays.result_shape returned.
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
  if (arrays.mask.defined()) return take_masked(out, a, arrays.mask);
  const Array to = positions_first(out, arrays);
  gather_lines(to, by_offset(a, arrays), 0, offsets(a, arrays, to.shape()), kChecked);
}

void put_indexed(const Array& out, const IndexArrays& arrays, const Array& src, bool accumulate) {
  if (arrays.mask.defined()) {
    if (src.numel() == 1 && !accumulate && arrays.mask.shape() == out.shape())
      return where(out, arrays.mask, src.view({}), out);
    if (!out.is_contiguous()) return put_indexed(out, positions_of(arrays.mask), src, accumulate);
    const Array values = src.numel() == 1 ? src : src.expand(arrays.shape).contiguous();
    return put_masked(out, arrays.mask, values, accumulate);
  }
  const Array from = positions_first(src.expand(arrays.result_shape(out.shape())), arrays);
  if (from.numel() == 0) return;
  std::int64_t reach = 1;
  for (const std::int64_t d : arrays.dims) reach += (out.size(d) - 1) * out.strides()[d];
  scatter_lines(accumulate ? Write::add : Write::replace, by_offset(out, arrays), 0,
                offsets(out, arrays, from.shape()), from, kChecked, reach);
}

}  // namespace tend::kernels
