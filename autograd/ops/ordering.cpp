#include <tend/autograd/ops/ordering.h>

#include <algorithm>
#include <limits>

#include <tend/autograd/ops/helpers.h>
#include <tend/core/kernels/reduce/sort.h>

namespace tend {

ValuesAndIndices picked(const char* node, const Tensor& self, Array values, Array indices,
                        std::int64_t dim, bool keepdim, const char* operation) {
  const Tensor positions(std::move(indices));
  Tensor result = record(
      node, std::move(values), {self}, {positions},
      [dim, keepdim, shape = self.shape()](Derivative& d) {
        const auto along = [&](const Tensor& x) {
          return keepdim || shape.empty() ? x : unsqueeze(x, dim);
        };
        d.set(0, scatter_to_zeros(shape, dim, along(d.saved(0)), along(d.grad())));
      },
      operation);
  return {std::move(result), positions};
}

ValuesAndIndices sort(const Tensor& self, Integer dim, Flag descending, Flag /*stable*/) {
  dim = wrap_dim("sort", dim, self.dim());
  Array values = Array::empty(self.shape(), self.dtype());
  Array indices = Array::empty(self.shape(), int64);
  kernels::sort(values, indices, self.array(), dim, descending);
  return picked("SortBackward0", self, std::move(values), std::move(indices), dim, true);
}

ValuesAndIndices topk(const Tensor& self, std::int64_t k, Integer dim, Flag largest,
                      Flag /*sorted*/) {
  dim = wrap_dim("topk", dim, self.dim());
  Shape shape = self.shape();
  const std::int64_t length = shape.empty() ? 1 : shape[dim];
  if (k < 0 || k > length) {
    fail<ShapeError>("topk", "k = ", k, ", but dimension ", dim, " of ", shape, " has ", length,
                     " elements");
  }
  if (shape.empty()) {
    k = 1;  // as in PyTorch, a 0-d tensor gives its one element even for k = 0
  } else {
    shape[dim] = k;
  }
  Array values = Array::empty(shape, self.dtype()), indices = Array::empty(shape, int64);
  kernels::topk(values, indices, self.array(), k, dim, largest);
  return picked("TopkBackward0", self, std::move(values), std::move(indices), dim, true);
}

Tensor argsort(const Tensor& self, Integer dim, Flag descending, Flag /*stable*/) {
  return sort(self.detach(), dim, descending).indices;
}

namespace {

// Returns true for the first element of each run of equal neighbours. For a matrix, rows are
// compared instead of elements. If the input is sorted, cumsum(is_first, 0) - 1 numbers the
// distinct values 0, 1, 2 and so on.
Tensor first_of_equals(const Tensor& elements) {
  Tensor is_first = ones({elements.size(0)}, boolean);
  if (elements.size(0) > 1) {
    const Tensor differ = elements[Slice{1, {}}] != elements[Slice{0, -1}];
    is_first[Slice{1, {}}] = elements.dim() == 1 ? differ : any(differ, 1);
  }
  return is_first;
}

// Returns the number of elements from each true element to the next.
Tensor run_lengths(const Tensor& is_first) {
  const Tensor starts = flatten(nonzero(is_first));
  const Tensor end = full({1}, is_first.numel());
  return cat({slice(starts, 0, 1), end}) - starts;
}

// Returns the slices of self along `dim` as the rows of a matrix.
Tensor slices_as_rows(const char* operation, const Tensor& self, std::int64_t dim) {
  const Tensor slices = movedim(self.detach(), dim, 0);
  Shape slice = slices.shape();
  slice.erase(0);
  const std::int64_t width = element_count(slice);
  if (width == 0)
    fail<ShapeError>(operation, "slices of ", self.shape(), " along dimension ", dim,
                     " have no elements");
  return reshape(slices, {slices.size(0), width});
}

// Finds the distinct slices of self along `dim`. If `of_all`, the slices are sorted first, so that
// all slices are compared. Otherwise only neighbours are compared.
UniqueElements unique_slices(const char* operation, const Tensor& self, std::int64_t dim,
                             bool of_all, bool return_inverse, bool return_counts) {
  dim = own_dim(operation, self, dim);
  const Tensor rows = slices_as_rows(operation, self, dim);
  const std::int64_t count = rows.size(0);
  Tensor order = arange(count);
  if (of_all) kernels::sort_rows(order.array(), rows.array());
  const Tensor is_first = first_of_equals(index_select(rows, 0, order));
  UniqueElements found;
  found.values = index_select(self.detach(), dim, masked_select(order, is_first));
  if (return_inverse)
    found.inverse = scatter(zeros({count}, int64), 0, order, cumsum(is_first, 0) - 1);
  if (return_counts) found.counts = run_lengths(is_first);
  return found;
}

}  // namespace

UniqueElements unique(const Tensor& self, Flag /*sorted*/, Flag return_inverse, Flag return_counts,
                      std::optional<Integer> dim) {
  if (dim) return unique_slices("unique", self, *dim, true, return_inverse, return_counts);
  const std::int64_t count = self.numel();
  const auto [sorted, order] = sort(reshape(self.detach(), {count}), 0);
  const Tensor is_first = first_of_equals(sorted);
  UniqueElements found;
  found.values = masked_select(sorted, is_first);
  if (return_inverse) {
    const Tensor number = cumsum(is_first, 0) - 1;
    found.inverse = view(scatter(zeros({count}, int64), 0, order, number), self.shape());
  }
  if (return_counts) found.counts = run_lengths(is_first);
  return found;
}

UniqueElements unique_consecutive(const Tensor& self, Flag return_inverse, Flag return_counts,
                                  std::optional<Integer> dim) {
  if (dim)
    return unique_slices("unique_consecutive", self, *dim, false, return_inverse, return_counts);
  const Tensor elements = reshape(self.detach(), {self.numel()});
  const Tensor is_first = first_of_equals(elements);
  UniqueElements found;
  found.values = masked_select(elements, is_first);
  if (return_inverse) found.inverse = view(cumsum(is_first, 0) - 1, self.shape());
  if (return_counts) found.counts = run_lengths(is_first);
  return found;
}

Tensor isin(const Tensor& elements, const Scalar& test_element, Flag assume_unique, Flag invert) {
  return isin(elements, number_like(elements, test_element), assume_unique, invert);
}
Tensor isin(const Scalar& element, const Tensor& test_elements, Flag assume_unique, Flag invert) {
  return isin(number_like(test_elements, element), test_elements, assume_unique, invert);
}

Tensor isin(const Tensor& elements, const Tensor& test_elements, Flag /*assume_unique*/,
            Flag invert) {
  DType dtype = result_type(elements.array(), test_elements.array());
  if (dtype == boolean) dtype = int64;  // searchsorted compares numbers
  const Tensor tests = test_elements.detach().to(dtype);
  const Tensor numbers = masked_select(tests, logical_not(isnan(tests)));
  const std::int64_t count = numbers.numel();
  Tensor found = zeros(elements.shape(), boolean);
  const Tensor wanted = elements.detach().to(dtype);
  if (count == 1) {
    found = wanted == reshape(numbers, {});
  } else if (count > 1) {
    const Tensor sorted = sort(numbers, 0).values;
    found = take(sorted, clamp_max(searchsorted(sorted, wanted), count - 1)) == wanted;
  }
  return invert ? logical_not(found) : found;
}

namespace {

// Checks the arguments of bincount, and returns the number of counts in its result.
std::int64_t count_bins(const Tensor& self, std::int64_t minlength) {
  if (self.dtype() != int64) fail<DTypeError>("bincount", "needs int64, got ", self.dtype());
  if (self.dim() != 1) fail<ShapeError>("bincount", "needs one dimension, got ", self.shape());
  if (minlength < 0)
    fail<ShapeError>("bincount", "minlength must not be negative, got ", minlength);
  if (self.numel() == 0) return minlength;
  const std::int64_t smallest = min(self).item<std::int64_t>();
  if (smallest < 0) fail<IndexError>("bincount", "the element ", smallest, " is negative");
  const std::int64_t largest = max(self).item<std::int64_t>();
  if (largest == std::numeric_limits<std::int64_t>::max())
    fail<OutOfMemoryError>("bincount", "the element ", largest, " asks for too many counts");
  return std::max(minlength, largest + 1);
}

}  // namespace

Tensor bincount(const Tensor& self, std::int64_t minlength) {
  const Shape bins{count_bins(self, minlength)};
  check_size("bincount", bins, int64);
  Array counts = Array::zeros(bins, int64);
  kernels::bincount(counts, self.array(), {});
  return constant(std::move(counts), {self});
}

Tensor bincount(const Tensor& self, const Tensor& weights, std::int64_t minlength) {
  // As in PyTorch, the counts of an empty tensor are int64 for weights of any dtype.
  if (!weights.defined() || self.numel() == 0) return bincount(self, minlength);
  const Shape bins{count_bins(self, minlength)};
  if (weights.shape() != self.shape()) {
    fail<ShapeError>("bincount", "the weights must have self's shape ", self.shape(), ", but have ",
                     weights.shape());
  }
  const DType dtype = weights.dtype() == float32 ? float32 : float64;
  check_size("bincount", bins, dtype);
  Array counts = Array::zeros(bins, dtype);
  kernels::bincount(counts, self.array(), weights.array().to(dtype));
  return constant(std::move(counts), {self, weights});
}

Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& values, Flag right) {
  const Shape& rows = sorted_sequence.shape();
  bool fits = rows.rank() == 1 || (rows.rank() > 1 && rows.rank() == values.dim());
  for (std::int64_t d = 0; fits && d + 1 < rows.rank(); ++d) fits = rows[d] == values.size(d);
  if (!fits) {
    fail<ShapeError>("searchsorted", "a sequence of shape ", rows,
                     " must be 1-d, or have the shape of the values, ", values.shape(),
                     ", except for the last dimension");
  }
  const DType dtype = promote_types(sorted_sequence.dtype(), values.dtype());
  if (dtype == boolean) fail<DTypeError>("searchsorted", "needs numbers, got bool");
  Array out = Array::empty(values.shape(), int64);
  kernels::searchsorted(out, sorted_sequence.array().to(dtype).contiguous(),
                        values.array().to(dtype).contiguous(), right);
  return constant(std::move(out), {sorted_sequence, values});
}

Tensor searchsorted(const Tensor& sorted_sequence, const Scalar& value, Flag right) {
  return searchsorted(sorted_sequence, number_like(sorted_sequence, value), right);
}

}  // namespace tend
