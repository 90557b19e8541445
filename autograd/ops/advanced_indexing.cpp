// Each operation is followed by its in-place form, which touches only the elements that the indices
// name.
#include <tend/autograd/ops/advanced_indexing.h>

#include <tend/autograd/ops/helpers.h>
#include <tend/autograd/ops/parsed_index.h>
#include <tend/core/kernels/indexing/indexing.h>
#include <tend/core/kernels/indexing/masks.h>

namespace tend {

using kernels::IndexArrays;

Tensor index(const Tensor& self, Indices indices) {
  return self[indices];
}

Tensor index_put(const Tensor& self, Indices indices, const Tensor& values, Flag accumulate) {
  Tensor out = clone(self);
  const ParsedIndex found = parse_index("index_put", out, {indices.begin(), indices.size()});
  write_parsed("index_put", found, values, accumulate);
  return out;
}

const Tensor& InPlace::index_put_(Indices indices, const Tensor& values, Flag accumulate) const {
  const ParsedIndex found = parse_index("index_put_", self(), {indices.begin(), indices.size()});
  write_parsed("index_put_", found, values, accumulate);
  return self();
}

const Tensor& InPlace::index_put_(Indices indices, const Scalar& value, Flag accumulate) const {
  return index_put_(indices, number_for("index_put_", self(), value), accumulate);
}

namespace {

// A write of `values` to the elements of `target` that `arrays` name.
struct Put {
  Tensor target;
  IndexArrays arrays;
  Tensor values;
};

// A 0-d tensor counts as 1-d.
Tensor at_least_1d(const Tensor& x) {
  return x.dim() == 0 ? unsqueeze(x, 0) : x;
}

Tensor put(const char* node, const Put& what, const Shape& shape,
           const char* operation = __builtin_FUNCTION()) {
  const Tensor out = put_indexed(node, what.target, what.arrays, what.values, false, operation);
  return shape.empty() ? view(out, shape) : out;
}

// The write of `source` to the slices of self along `dim` that `index` names.
Put put_slices(const char* operation, const Tensor& self, std::int64_t dim, const Tensor& index,
               const Tensor& source) {
  dim = wrap_dim(operation, dim, self.dim());
  Put what{at_least_1d(self), {}, self.dim() <= 1 ? at_least_1d(source) : source};
  what.arrays = arrays_along(operation, what.target, dim, index, false);
  if (what.values.shape() != what.arrays.result_shape(what.target.shape())) {
    fail<ShapeError>(operation, "source ", source.shape(), " and index ", index.shape(),
                     " do not fit ", self.shape(), " in dimension ", dim);
  }
  check_values(operation, what.target, what.arrays, what.values);
  return what;
}

}  // namespace

Tensor index_copy(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source) {
  return put("IndexCopyBackward0", put_slices("index_copy", self, dim, index, source),
             self.shape());
}

const Tensor& InPlace::index_copy_(std::int64_t d, const Tensor& positions,
                                   const Tensor& source) const {
  const Put what = put_slices("index_copy_", self(), d, positions, source);
  write_indexed("index_copy_", "IndexCopyBackward0", what.target, what.arrays, what.values, false);
  return self();
}

const Tensor& InPlace::index_add_(std::int64_t d, const Tensor& positions, const Tensor& source,
                                  const Scalar& alpha) const {
  check_holds("index_add_", source.dtype(), alpha);
  if (alpha.to<double>() != 1) return index_add_(d, positions, source * alpha);
  if (source.dim() != self().dim()) {  // put_slices accepts a 0-d tensor next to a 1-d one
    fail<ShapeError>("index_add_", "source ", source.shape(), " has another rank than ",
                     self().shape());
  }
  const Put what = put_slices("index_add_", self(), d, at_least_1d(positions), source);
  write_indexed("index_add_", "IndexAddBackward0", what.target, what.arrays, what.values, true);
  return self();
}

namespace {

// The write of a number to the slices of self along `dim` that `index` names.
Put fill_slices(const char* operation, const Tensor& self, std::int64_t dim, const Tensor& index,
                const Tensor& value) {
  if (value.dim() != 0)
    fail<ShapeError>(operation, "the value must be a 0-d tensor, not ", value.shape());
  const Tensor number = number_for(operation, self, value);
  dim = wrap_dim(operation, dim, self.dim());
  const Tensor target = at_least_1d(self);
  Put what{target, arrays_along(operation, target, dim, index, true), number};
  if (value.requires_grad()) {  // a slice that is named twice counts once in the value's gradient
    what.arrays.positions[0] = unique(Tensor(what.arrays.positions[0])).values.array();
    what.arrays.shape[0] = what.arrays.positions[0].numel();
  }
  return what;
}

}  // namespace

Tensor index_fill(const Tensor& self, std::int64_t dim, const Tensor& index, const Scalar& value) {
  const Tensor number = number_for("index_fill", self, value);
  return put("IndexFillBackward0", fill_slices("index_fill", self, dim, index, number),
             self.shape());
}

Tensor index_fill(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& value) {
  return put("IndexFillBackward1", fill_slices("index_fill", self, dim, index, value),
             self.shape());
}

const Tensor& InPlace::index_fill_(std::int64_t d, const Tensor& positions,
                                   const Scalar& value) const {
  return index_fill_(d, positions, number_for("index_fill_", self(), value));
}

const Tensor& InPlace::index_fill_(std::int64_t d, const Tensor& positions,
                                   const Tensor& value) const {
  const Put what = fill_slices("index_fill_", self(), d, positions, value);
  write_indexed("index_fill_", "IndexFillBackward1", what.target, what.arrays, what.values, false);
  return self();
}

Tensor take(const Tensor& self, const Tensor& index) {
  if (index.dtype() != int64)
    fail<DTypeError>("take", "the index is ", index.dtype(), ", not int64");
  Array positions = Array::empty(index.shape(), int64);
  if (const auto bad = kernels::wrap_positions(positions, index.array(), self.numel())) {
    fail<IndexError>("take", "index ", *bad, " is out of range for the ", self.numel(),
                     " elements of ", self.shape());
  }
  return take_indexed("TakeBackward0", reshape(self, {self.numel()}),
                      {{0}, {std::move(positions)}, index.shape()});
}

namespace {

// Returns self, broadcast with the mask and at least 1-d, and the index arrays of the mask's true
// elements. Leaves `values` undefined.
Put masked(const char* operation, const Tensor& self, const Tensor& mask) {
  if (mask.dtype() != boolean)
    fail<DTypeError>(operation, "the mask must be bool, not ", mask.dtype());
  const Shape shape = broadcast_shapes(operation, self.shape(), mask.shape());
  const Tensor whole = at_least_1d(self.shape() == shape ? self : expand(self, shape));
  return {whole, arrays_of_mask(mask.array().expand(whole.shape())), {}};
}

Put scatter_masked(const char* operation, const Tensor& self, const Tensor& mask,
                   const Tensor& source) {
  if (source.dtype() != self.dtype()) {
    fail<DTypeError>(operation, "the source must have the tensor's dtype ", self.dtype(),
                     ", but is ", source.dtype());
  }
  Put what = masked(operation, self, mask);
  const std::int64_t count = what.arrays.shape[0];
  if (source.numel() < count) {
    fail<ShapeError>(operation, "the source needs ", count,
                     " elements, one for each true element of the mask, but ", source.shape(),
                     " has ", source.numel());
  }
  what.values = narrow(reshape(source, {source.numel()}), 0, 0, count);
  return what;
}

}  // namespace

Tensor masked_select(const Tensor& self, const Tensor& mask) {
  const Put what = masked("masked_select", self, mask);
  return take_indexed("MaskedSelectBackward0", what.target, what.arrays);
}

Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
  const bool is_number = self.dim() == 0 && mask.dim() == 0;
  const Put what = scatter_masked("masked_scatter", self, mask, source);
  return put("MaskedScatterBackward0", what, is_number ? Shape{} : what.target.shape());
}

const Tensor& InPlace::masked_scatter_(const Tensor& mask, const Tensor& source) const {
  if (!broadcasts_to(mask.shape(), self().shape())) {
    fail<ShapeError>("masked_scatter_", "a mask of shape ", mask.shape(), " does not broadcast to ",
                     self().shape());
  }
  const Put what = scatter_masked("masked_scatter_", self(), mask, source);
  write_indexed("masked_scatter_", "MaskedScatterBackward0", what.target, what.arrays, what.values,
                false);
  return self();
}

Tensor nonzero(const Tensor& self) {
  const Array mask = self.array().to(boolean).contiguous();
  Array out = Array::empty({kernels::count_nonzero(mask), self.dim()}, int64);
  kernels::nonzero(out, mask);
  return constant(std::move(out), {self});
}

std::vector<Tensor> nonzero_numpy(const Tensor& self) {
  return unbind(nonzero(at_least_1d(self.detach())), 1);
}

}  // namespace tend
