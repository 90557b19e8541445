#include <tend/autograd/ops/indexing.h>

#include <limits>

#include <tend/autograd/ops/helpers.h>
#include <tend/autograd/ops/parsed_index.h>
#include <tend/core/kernels/elementwise/compare.h>
#include <tend/core/kernels/indexing/indexing.h>

namespace tend {

namespace {

// The part of `source` that an index of shape `shape` reads. It begins at position 0 in each
// dimension. A 0-d tensor counts as 1-d. An empty index reads nothing, also from a source of
// another rank.
Tensor corner(Tensor source, const Shape& shape) {
  if (element_count(shape) == 0)
    return reshape(narrow(reshape(source, {source.numel()}), 0, 0, 0), shape);
  if (source.dim() == 0 && shape.rank() == 1) source = unsqueeze(source, 0);
  if (source.dim() == 1 && shape.empty()) return select(source, 0, 0);
  for (std::int64_t d = 0; d < shape.rank(); ++d) {
    if (shape[d] < source.size(d)) source = narrow(source, d, 0, shape[d]);
  }
  return source;
}

// Applies scatter_add of `source` to `out`, a copy of `self`. If there is no self, `out` is zeros.
Tensor scatter_into(Array out, TensorRef self, std::int64_t dim, const Tensor& index,
                    const Tensor& source) {
  kernels::scatter_add(out, dim, index.array(), source.array());
  return record(
      "ScatterAddBackward0", std::move(out), {self, corner(source, index.shape())}, {index},
      [dim](Derivative& d) {
        if (d.needs(0)) d.set(0, d.grad());
        if (d.needs(1)) d.set(1, gather(d.grad(), dim, d.saved(0)));
      },
      "scatter_add");
}

}  // namespace

Tensor gather(const Tensor& self, std::int64_t dim, const Tensor& index) {
  dim = wrap_dim("gather", dim, self.dim());
  Array out = Array::empty(index.shape(), self.dtype());
  kernels::gather(out, self.array(), dim, index.array());
  return record("GatherBackward0", std::move(out), {self}, {index},
                [dim, shape = self.shape()](Derivative& d) {
                  d.set(0, scatter_to_zeros(shape, dim, d.saved(0), d.grad()));
                });
}

Tensor scatter_to_zeros(const Shape& shape, std::int64_t dim, const Tensor& index,
                        const Tensor& source) {
  dim = wrap_dim("scatter_add", dim, shape.rank());
  return scatter_into(Array::zeros(shape, source.dtype()), {}, dim, index, source);
}

Tensor scatter_add(const Tensor& self, std::int64_t dim, const Tensor& index,
                   const Tensor& source) {
  dim = wrap_dim("scatter_add", dim, self.dim());
  return scatter_into(self.array().clone(), self, dim, index, source);
}
const Tensor& InPlace::scatter_add_(std::int64_t d, const Tensor& positions,
                                    const Tensor& source) const {
  return update("scatter_add_", self(), tend::scatter_add, d, positions, source);
}

Tensor scatter(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source) {
  dim = wrap_dim("scatter", dim, self.dim());
  Array out = self.array().clone();
  kernels::scatter(out, dim, index.array(), source.array());
  return record("ScatterBackward0", std::move(out), {self, corner(source, index.shape())}, {index},
                [dim](Derivative& d) {
                  if (d.needs(0)) d.set(0, scatter(d.grad(), dim, d.saved(0), 0));
                  if (d.needs(1)) d.set(1, gather(d.grad(), dim, d.saved(0)));
                });
}

Tensor scatter(const Tensor& self, std::int64_t dim, const Tensor& index, const Scalar& value) {
  dim = wrap_dim("scatter", dim, self.dim());
  Array out = self.array().clone();
  const Tensor number = number_for("scatter", self, value);
  kernels::scatter(out, dim, index.array(), number.array().expand(index.shape()));
  return record("ScatterBackward1", std::move(out), {self}, {index},
                [dim](Derivative& d) { d.set(0, scatter(d.grad(), dim, d.saved(0), 0)); });
}
const Tensor& InPlace::scatter_(std::int64_t d, const Tensor& positions,
                                const Tensor& source) const {
  return update("scatter_", self(), tend::scatter, d, positions, source);
}
const Tensor& InPlace::scatter_(std::int64_t d, const Tensor& positions,
                                const Scalar& value) const {
  return update("scatter_", self(), tend::scatter, d, positions, value);
}

namespace {

// The arguments of scatter_reduce that are not tensors.
struct Scattering {
  std::int64_t dim;
  ScatterReduction reduce;
  bool include_self;

  bool adds() const { return reduce == ScatterReduction::sum || averages(); }
  bool averages() const { return reduce == ScatterReduction::mean; }
  bool multiplies() const { return reduce == ScatterReduction::prod; }

  // Combines source with `out`, a copy of self.
  void write(const Array& out, const Array& index, const Array& source) const {
    using kernels::Write;
    // Self's elements are replaced by a number that changes no result: 0 for sum and mean, 1 for
    // prod. For amax and amin it is any of the terms, since a term may count twice there.
    if (!include_self) {
      const Array none = Array::scalar(multiplies() ? 1 : 0, out.dtype()).expand(index.shape());
      kernels::scatter_reduce("scatter_reduce", Write::replace, out, dim, index,
                              adds() || multiplies() ? none : source);
    }
    const Write extreme = reduce == ScatterReduction::amax ? Write::max : Write::min;
    const Write how = adds() ? Write::add : multiplies() ? Write::multiply : extreme;
    kernels::scatter_reduce("scatter_reduce", how, out, dim, index, source);
  }
  // x, with zeros at the positions where self is not a term.
  Tensor own(const Tensor& x, const Tensor& index) const {
    return include_self ? x : scatter(x, dim, index, 0);
  }
  // x divided by the number of terms.
  Tensor averaged(const Tensor& x, const Tensor& index) const {
    const Tensor one = ones(index.shape(), x.dtype());
    const Tensor count = scatter_add(own(ones_like(x), index), dim, index, one);
    if (is_floating(x.dtype())) return x / clamp_min(count, 1);
    return floor_divide(x, clamp_min(count, 1));
  }
};

// The gradient of a term has the product of the other terms as a factor. This product is the result
// divided by the term. For a term that is zero, the product is computed with 1 in its place.
void differentiate_product(Derivative& d, const Scattering& how, const Tensor& index,
                           const Tensor& self, const Tensor& source, const Tensor& result) {
  const auto product = [&](const Tensor& a, const Tensor& b) {
    return scatter_reduce(a, how.dim, index, b, ScatterReduction::prod, how.include_self);
  };
  if (d.needs(0)) {
    const Tensor factor = masked_fill(self, self == 0, 1);
    d.set(0, how.own(d.grad() * product(factor, source) / factor, index));
  }
  if (!d.needs(1)) return;
  const auto at = [&](const Tensor& x) { return gather(x, how.dim, index); };
  const Tensor is_zero = source == 0, none = zeros_like(self);
  const Tensor zeros_there = at(scatter_add(none, how.dim, index, to(is_zero, source.dtype())));
  const Tensor only_zero = is_zero & (zeros_there == 1);
  const Tensor others = product(self, masked_fill(source, only_zero, 1));
  Tensor gradient = where(only_zero, at(d.grad() * others),
                          at(d.grad() * result) / masked_fill(source, is_zero, 1));
  if (grad_enabled() && any(zeros_there > 1).item<bool>()) {
    gradient = record("Error", gradient.array(), {gradient}, {}, [](Derivative&) {
      fail<AutogradError>("scatter_reduce", "no second derivative of a product in which several ",
                          "zeros of the source go to one position");
    });
  }
  d.set(1, gradient);
}

void differentiate_extreme(Derivative& d, const Scattering& how, const Tensor& index,
                           const Tensor& self, const Tensor& source, const Tensor& result) {
  const auto at = [&](const Tensor& x) { return gather(x, how.dim, index); };
  const Tensor own_wins = how.own(to(self == result, self.dtype()), index);
  const Tensor wins = to(source == at(result), self.dtype());
  const Tensor share = d.grad() / scatter_add(own_wins, how.dim, index, wins);
  if (d.needs(0)) d.set(0, how.own(own_wins * share, index));
  if (d.needs(1)) d.set(1, wins * at(share));
}

}  // namespace

Tensor scatter_reduce(const Tensor& self, std::int64_t dim, const Tensor& index,
                      const Tensor& source, OrWord<ScatterReduction> reduce, Flag include_self) {
  const Scattering how{wrap_dim("scatter_reduce", dim, self.dim()), reduce, include_self};
  if (how.averages() && self.dtype() == boolean)
    fail<DTypeError>("scatter_reduce", "bool has no mean");
  Array out = self.array().clone();
  how.write(out, index.array(), source.array());
  if (how.averages()) out = how.averaged(Tensor(out), index).array();
  const Tensor terms = corner(source, index.shape());
  const bool uses_values = !how.adds();
  return record("ScatterReduceBackward0", std::move(out), {self, terms},
                {index, save_if(uses_values, self), save_if(uses_values, terms),
                 uses_values ? kOutput : TensorRef()},
                [how](Derivative& d) {
                  const Tensor at = d.saved(0);
                  if (!how.adds()) {
                    const auto f = how.multiplies() ? differentiate_product : differentiate_extreme;
                    return f(d, how, at, d.saved(1), d.saved(2), d.saved(3));
                  }
                  const Tensor share = how.averages() ? how.averaged(d.grad(), at) : d.grad();
                  if (d.needs(0)) d.set(0, how.own(share, at));
                  if (d.needs(1)) d.set(1, gather(share, how.dim, at));
                });
}
const Tensor& InPlace::scatter_reduce_(std::int64_t d, const Tensor& positions,
                                       const Tensor& source, OrWord<ScatterReduction> reduce,
                                       Flag include_self) const {
  return update("scatter_reduce_", self(), tend::scatter_reduce, d, positions, source, reduce,
                include_self);
}

Tensor take_along_dim(const Tensor& self, const Tensor& index, std::optional<Integer> dim) {
  if (!dim) {
    return gather(reshape(self, {self.numel()}), 0, reshape(index, {index.numel()}));
  }
  dim = wrap_dim("take_along_dim", *dim, self.dim());
  if (self.dim() != index.dim()) {
    fail<ShapeError>("take_along_dim", "an index of shape ", index.shape(),
                     " has another rank than ", self.shape());
  }
  if (self.dim() == 0) return gather(self, 0, index);
  // The sizes along `dim` do not broadcast.
  Shape from = self.shape(), at = index.shape();
  from[*dim] = at[*dim] = 1;
  from = at = broadcast_shapes("take_along_dim", from, at);
  from[*dim] = self.size(*dim);
  at[*dim] = index.size(*dim);
  return gather(expand(self, from), *dim, expand(index, at));
}

namespace {

// Applies index_add of `source` to `out`, a copy of `self`. If there is no self, `out` is zeros.
Tensor add_slices(Array out, TensorRef self, std::int64_t dim, const Tensor& index,
                  const Tensor& source) {
  kernels::index_add(out, dim, index.array(), source.array());
  return record(
      "IndexAddBackward0", std::move(out), {self, source}, {index},
      [dim, shape = source.shape()](Derivative& d) {
        if (d.needs(0)) d.set(0, d.grad());
        if (d.needs(1)) d.set(1, view(index_select(d.grad(), dim, d.saved(0)), shape));
      },
      "index_add");
}

}  // namespace

Tensor index_select(const Tensor& self, std::int64_t dim, const Tensor& index) {
  dim = wrap_dim("index_select", dim, self.dim());
  Shape shape = self.shape();
  if (!shape.empty()) shape[dim] = index.numel();
  Array out = Array::empty(shape, self.dtype());
  kernels::index_select(out, self.array(), dim, index.array());
  return record(
      "IndexSelectBackward0", std::move(out), {self}, {index},
      [dim, from = self.shape()](Derivative& d) {
        d.set(0, add_slices(Array::zeros(from, d.grad().dtype()), {}, dim, d.saved(0), d.grad()));
      });
}

Tensor index_add(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source,
                 const Scalar& alpha) {
  check_holds("index_add", source.dtype(), alpha);
  if (alpha.to<double>() != 1) return index_add(self, dim, index, source * alpha);
  dim = wrap_dim("index_add", dim, self.dim());
  return add_slices(self.array().clone(), self, dim, index, source);
}

namespace {

std::int64_t wrap_padding(std::int64_t padding_idx, const Shape& weight) {
  if (padding_idx < -weight[0] || padding_idx >= weight[0]) {
    fail<IndexError>("embedding", "padding_idx ", padding_idx,
                     " is out of range for dimension 0 of ", weight);
  }
  return padding_idx < 0 ? padding_idx + weight[0] : padding_idx;
}

// True where `indices` name the padding row. The result has one more dimension, of size 1, which
// broadcasts to the elements of a row.
Tensor is_padding(const Tensor& indices, std::int64_t padding_idx) {
  const Array found = Array::empty(indices.shape(), boolean);
  kernels::eq(found, indices.array(), Array::scalar(padding_idx, int64));
  return Tensor(found.unsqueeze(-1));
}

}  // namespace

Tensor embedding(const Tensor& input, const Tensor& weight, std::optional<Integer> padding_idx) {
  if (is_floating(input.dtype()) && weight.dtype() == int64)
    return embedding(weight, input, padding_idx);
  if (weight.dim() != 2) {
    fail<ShapeError>("embedding", "the weight has shape ", weight.shape(),
                     ", not (num_embeddings, embedding_dim)");
  }
  if (padding_idx) padding_idx = wrap_padding(*padding_idx, weight.shape());
  const Array flat = input.array().reshape({input.numel()});
  Array rows = Array::empty({input.numel(), weight.size(1)}, weight.dtype());
  kernels::index_select(rows, weight.array(), 0, flat, "embedding");
  Shape shape = input.shape();
  shape.push_back(weight.size(1));
  rows = rows.view(shape);
  return record(
      "EmbeddingBackward0", std::move(rows), {weight}, {input},
      [padding_idx, from = weight.shape()](Derivative& d) {
        const Tensor at = d.saved(0);
        Tensor grad = d.grad();
        if (padding_idx) grad = masked_fill(grad, is_padding(at, *padding_idx), 0);
        d.set(0, add_slices(Array::zeros(from, grad.dtype()), {}, 0, reshape(at, {at.numel()}),
                            reshape(grad, {at.numel(), from[1]})));
      });
}

Tensor one_hot(const Tensor& indices, std::int64_t num_classes) {
  if (num_classes == -1) {
    if (indices.numel() == 0) {
      fail<ShapeError>("one_hot", "num_classes must be given for indices without elements, shape ",
                       indices.shape());
    }
    if (indices.dtype() != int64)
      fail<DTypeError>("one_hot", "the index is ", indices.dtype(), ", not int64");
    const auto largest = std::max<std::int64_t>(0, max(indices).item<std::int64_t>());
    num_classes = largest < std::numeric_limits<std::int64_t>::max() ? largest + 1 : largest;
  }
  if (num_classes < 0)
    fail<ShapeError>("one_hot", "num_classes must be at least -1, but is ", num_classes);
  Shape shape = indices.shape();
  shape.push_back(num_classes);
  check_size("one_hot", shape, int64);
  Array out = Array::empty(shape, int64);
  kernels::one_hot(out, indices.array());
  return constant(std::move(out), {indices});
}

namespace {

// Copies source into `part`, which is a view of a copy of self.
void replace_part(const char* operation, const Tensor& part, const Tensor& source) {
  if (part.shape() != source.shape())
    fail<ShapeError>(operation, "the source must have shape ", part.shape(), ", but has ",
                     source.shape());
  part.copy_(source);
}

}  // namespace

Tensor slice_scatter(const Tensor& self, const Tensor& source, std::int64_t dim,
                     std::optional<Integer> start, std::optional<Integer> stop, std::int64_t step) {
  Tensor out = self.clone();
  replace_part("slice_scatter", slice(out, dim, start, stop, step), source);
  return out;
}

Tensor select_scatter(const Tensor& self, const Tensor& source, std::int64_t dim,
                      std::int64_t index) {
  Tensor out = self.clone();
  replace_part("select_scatter", select(out, dim, index), source);
  return out;
}

}  // namespace tend
