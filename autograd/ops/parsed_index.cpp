#include <tend/autograd/ops/parsed_index.h>

#include <tend/autograd/graph/inplace.h>
#include <tend/autograd/graph/node.h>
#include <tend/autograd/ops/helpers.h>
#include <tend/core/kernels/indexing/indexing.h>
#include <tend/core/kernels/indexing/masks.h>

namespace tend {

using kernels::IndexArrays;

namespace {

// Returns the number of dimensions that an index uses; 0 for an ellipsis.
std::int64_t count_taken(const Index& index) {
  switch (index.kind()) {
    case Index::Kind::integer:
    case Index::Kind::range: return 1;
    case Index::Kind::tensor: return index.array().dtype() == boolean ? index.array().rank() : 1;
    case Index::Kind::new_axis:
    case Index::Kind::rest: break;
  }
  return 0;
}

// Returns the number of dimensions left for an ellipsis. Throws an IndexError if there are too many
// indices, or two ellipses.
std::int64_t count_left(const char* operation, const Tensor& self, std::span<const Index> indices) {
  std::int64_t taken = 0, ellipses = 0;
  for (const Index& each : indices) {
    taken += count_taken(each);
    ellipses += each.kind() == Index::Kind::rest;
  }
  if (ellipses > 1) fail<IndexError>(operation, "the indices must have at most one ellipsis");
  if (taken > self.dim()) {
    fail<IndexError>(operation, "too many indices: ", taken, " for a tensor of ", self.dim(),
                     " dimensions, shape ", self.shape());
  }
  return self.dim() - taken;
}

// Applies the indices from left to right.
class Selector {
 public:
  Selector(const char* operation, const Tensor& self) : operation_(operation), self_(self) {
    parsed_.view = self;
  }

  void pick(std::int64_t position) {
    const std::int64_t size = self_.size(source_);
    if (position < -size || position >= size) fail_position(position);
    parsed_.view = select(parsed_.view, dim_, position);
    ++source_;
  }
  void range(const Slice& s) {
    if (s.start || s.stop || s.step != 1)
      parsed_.view = slice(parsed_.view, dim_, s.start, s.stop, s.step);
    skip(1);
  }
  void new_axis() { parsed_.view = unsqueeze(parsed_.view, dim_++); }
  void skip(std::int64_t dims) {
    dim_ += dims;
    source_ += dims;
  }
  void tensor(const Array& index) {
    if (index.dtype() == boolean) return mask(index);
    if (index.dtype() != int64) {
      fail<DTypeError>(operation_, "index ", number_, " is a tensor of ", index.dtype(),
                       ", not int64 or bool");
    }
    if (index.rank() == 0) return pick(index.item<std::int64_t>());
    Array positions = Array::empty(index.shape(), int64);
    if (const auto bad = kernels::wrap_positions(positions, index, self_.size(source_)))
      fail_position(*bad);
    add(std::move(positions));
    ++source_;
  }
  void next() { ++number_; }

  ParsedIndex take() {
    // As in PyTorch, x[...] is a new view even if it has all elements.
    if (parsed_.is_view() && parsed_.view.impl() == self_.impl())
      parsed_.view = view(self_, self_.shape());
    return std::move(parsed_);
  }

 private:
  [[noreturn]] void fail_position(std::int64_t position) const {
    fail<IndexError>(operation_, "index ", number_, ": position ", position,
                     " is out of range for dimension ", source_, " of ", self_.shape());
  }

  void mask(const Array& mask) {
    if (mask.rank() == 0) {
      new_axis();
      --dim_;
      return add(Array::zeros({mask.item<bool>() ? 1 : 0}, int64));
    }
    for (std::int64_t d = 0; d < mask.rank(); ++d) {
      if (mask.shape()[d] == self_.shape()[source_ + d]) continue;
      fail<IndexError>(operation_, "index ", number_, ": a mask of shape ", mask.shape(),
                       " does not fit ", self_.shape(), " in dimension ", source_ + d);
    }
    for (Array& positions : kernels::positions_of(mask.contiguous()).positions)
      add(std::move(positions));
    source_ += mask.rank();
  }

  // Indexes the next dimension of the view by these positions.
  void add(Array positions) {
    IndexArrays& arrays = parsed_.arrays;
    arrays.shape = broadcast_shapes(operation_, arrays.shape, positions.shape());
    arrays.dims.push_back(dim_++);
    arrays.positions.push_back(std::move(positions));
  }

  const char* operation_;
  const Tensor& self_;
  ParsedIndex parsed_;
  std::int64_t number_ = 0;  // the number of the current index
  std::int64_t dim_ = 0;     // the next dimension of the view
  std::int64_t source_ = 0;  // the next dimension of self
};

// True if the only index is a mask of self's shape. Such a mask is not converted to positions.
bool is_mask_of(const Tensor& self, std::span<const Index> indices) {
  return indices.size() == 1 && indices[0].kind() == Index::Kind::tensor && self.dim() > 0 &&
         indices[0].array().dtype() == boolean && indices[0].array().shape() == self.shape();
}

bool is_by_mask(std::span<const Index> indices) {
  int tensors = 0, masks = 0;
  for (const Index& each : indices) {
    if (each.kind() != Index::Kind::tensor) continue;
    const bool is_mask = each.array().dtype() == boolean;
    if (!is_mask && each.array().rank() == 0) continue;  // counts as an integer
    ++tensors;
    masks += is_mask;
  }
  return tensors == 1 && masks == 1;
}

}  // namespace

ParsedIndex parse_index(const char* operation, const Tensor& self, std::span<const Index> indices) {
  if (is_mask_of(self, indices)) return {self, arrays_of_mask(indices[0].array()), true};
  const std::int64_t left = count_left(operation, self, indices);
  Selector selector(operation, self);
  for (const Index& each : indices) {
    switch (each.kind()) {
      case Index::Kind::integer: selector.pick(each.position()); break;
      case Index::Kind::range: selector.range(each.slice()); break;
      case Index::Kind::new_axis: selector.new_axis(); break;
      case Index::Kind::rest: selector.skip(left); break;
      case Index::Kind::tensor: selector.tensor(each.array()); break;
    }
    selector.next();
  }
  ParsedIndex found = selector.take();
  found.is_by_mask = is_by_mask(indices);
  return found;
}

IndexArrays arrays_along(const char* operation, const Tensor& self, std::int64_t dim,
                         const Tensor& index, bool from_end) {
  if (index.dtype() != int64)
    fail<DTypeError>(operation, "the index is ", index.dtype(), ", not int64");
  if (index.dim() > 1) {
    fail<ShapeError>(operation, "the index has shape ", index.shape(), ", not one dimension");
  }
  Array positions = Array::empty({index.numel()}, int64);
  auto bad = kernels::wrap_positions(positions, index.array(), self.size(dim));
  if (!bad && !from_end && index.numel() > 0) {
    const std::int64_t smallest = min(index).item<std::int64_t>();
    if (smallest < 0) bad = smallest;
  }
  if (bad) {
    fail<IndexError>(operation, "index ", *bad, " is out of range for dimension ", dim, " of ",
                     self.shape());
  }
  return {{dim}, {std::move(positions)}, {index.numel()}};
}

IndexArrays arrays_of_mask(const Array& mask) {
  // A copy, because the mask may change before the derivative needs it.
  IndexArrays arrays{{}, {}, {}, mask.clone()};
  arrays.shape.push_back(kernels::count_nonzero(arrays.mask));
  for (std::int64_t d = 0; d < mask.rank(); ++d) arrays.dims.push_back(d);
  return arrays;
}

void check_values(const char* operation, const Tensor& self, const IndexArrays& arrays,
                  const Tensor& values) {
  if (values.dtype() != self.dtype()) {
    fail<DTypeError>(operation, "the values must have the tensor's dtype ", self.dtype(),
                     ", but are ", values.dtype());
  }
  const Shape shape = arrays.result_shape(self.shape());
  if (!broadcasts_to(values.shape(), shape)) {
    fail<ShapeError>(operation, "values of shape ", values.shape(),
                     " do not broadcast to the indexed positions, ", shape);
  }
}

namespace {

// Records `result`: a copy of self with `values` written to it. An empty `self` means zeros.
Tensor record_put(const char* operation, const char* node, Array result, TensorRef self,
                  const IndexArrays& arrays, const Tensor& values, bool accumulate) {
  return record(
      node, std::move(result), {self, values}, {},
      [arrays, accumulate](Derivative& d) {
        if (d.needs(0)) {
          const Tensor zero = zeros({}, d.grad().dtype());
          d.set(0, accumulate ? d.grad()
                              : put_indexed("IndexPutBackward0", d.grad(), arrays, zero, false,
                                            "index_put"));
        }
        if (d.needs(1)) d.set(1, take_indexed("IndexBackward0", d.grad(), arrays, "index"));
      },
      operation);
}

}  // namespace

Tensor take_indexed(const char* node, const Tensor& self, const IndexArrays& arrays,
                    const char* operation) {
  Array out = Array::empty(arrays.result_shape(self.shape()), self.dtype());
  kernels::take_indexed(out, self.array(), arrays);
  return record(
      node, std::move(out), {self}, {},
      [arrays, shape = self.shape()](Derivative& d) {
        const Array whole = Array::zeros(shape, d.grad().dtype());
        kernels::put_indexed(whole, arrays, d.grad().array(), true);
        d.set(0, record_put("index_put", "IndexPutBackward0", whole, {}, arrays, d.grad(), true));
      },
      operation);
}

Tensor put_indexed(const char* node, const Tensor& self, const IndexArrays& arrays,
                   const Tensor& values, bool accumulate, const char* operation) {
  Array out = self.array().clone();
  kernels::put_indexed(out, arrays, values.array(), accumulate);
  return record_put(operation, node, std::move(out), self, arrays, values, accumulate);
}

void write_indexed(const char* operation, const char* node, const Tensor& self,
                   const IndexArrays& arrays, const Tensor& values, bool accumulate) {
  check_writable(operation, self);
  check_values(operation, self, arrays, values);
  const Array& array = self.array();
  const bool aliased = values.array().may_overlap(array);
  const Array source = aliased ? values.array().clone() : values.array();
  const Tensor result = record_put(operation, node, array, self, arrays, values, accumulate);
  PendingWrite pending(operation, self, result);
  kernels::put_indexed(array, arrays, source, accumulate);
  pending.commit();
}

void write_parsed(const char* operation, const ParsedIndex& found, const Tensor& values,
                  bool accumulate) {
  const bool is_filled = found.is_by_mask && !accumulate && values.numel() == 1;
  const Tensor fitting = is_filled ? number_for(operation, found.view, values) : values;
  write_indexed(operation, "IndexPutBackward0", found.view, found.arrays, fitting, accumulate);
}

Tensor number_for(const char* operation, const Tensor& self, const Scalar& number) {
  check_holds(operation, self.dtype(), number);
  return Tensor(Array::scalar(number, self.dtype()));
}
Tensor number_for(const char* operation, const Tensor& self, const Tensor& number) {
  if (is_floating(number.dtype())) check_holds(operation, self.dtype(), number.item());
  return to(number, self.dtype());
}

Tensor without_leading_ones(Tensor value, std::int64_t rank) {
  while (value.dim() > rank && value.size(0) == 1) value = select(value, 0, 0);
  return value;
}

}  // namespace tend
