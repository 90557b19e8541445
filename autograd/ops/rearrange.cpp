#include <tend/autograd/ops/rearrange.h>

#include <algorithm>
#include <limits>

#include <tend/autograd/ops/helpers.h>
#include <tend/core/kernels/elementwise/arithmetic.h>
#include <tend/core/kernels/indexing/shape_ops.h>
#include <tend/core/kernels/reduce/reduce.h>

namespace tend {

namespace {

// Allocates an array like `x`, whose dimensions have the same order in memory.
Array empty_in_order(const Array& x) {
  if (x.is_contiguous()) return Array::empty(x.shape(), x.dtype());
  Shape order, shape;
  for (std::int64_t d = 0; d < x.rank(); ++d) {
    std::int64_t at = d;
    while (at > 0 && x.strides()[order[at - 1]] < x.strides()[d]) --at;
    order.insert(at, d);
  }
  for (const std::int64_t d : order) shape.push_back(x.size(d));
  return Array::empty(shape, x.dtype()).permute(inverse_permutation(order));
}

}  // namespace

Tensor flip(const Tensor& self, const Shape& dims) {
  const Shape flipped = dims.empty() ? Shape{} : wrap_dims("flip", dims, self.dim());
  Array out = empty_in_order(self.array());  // as in PyTorch
  kernels::flip(out, self.array(), flipped);
  return record("FlipBackward0", std::move(out), {self}, {},
                [flipped](Derivative& d) { d.set(0, flip(d.grad(), flipped)); });
}

namespace {

// Returns the equivalent shift in [0, size).
std::int64_t shift_within(std::int64_t shift, std::int64_t size) {
  if (size == 0) return 0;
  const std::int64_t rest = shift % size;
  return rest < 0 ? rest + size : rest;
}

// Rolls x along the dimensions from `dim` on, and writes the result to `out`. Each shift is less
// than the size of its dimension, and not negative.
void roll_into(const Array& out, const Array& x, const Shape& shifts, std::int64_t dim = 0) {
  while (dim < shifts.rank() && shifts[dim] == 0) ++dim;
  if (dim == shifts.rank()) return out.copy_from(x);
  const std::int64_t shift = shifts[dim], rest = x.size(dim) - shift;
  roll_into(out.narrow(dim, shift, rest), x.narrow(dim, 0, rest), shifts, dim + 1);
  roll_into(out.narrow(dim, 0, shift), x.narrow(dim, rest, shift), shifts, dim + 1);
}

Array rolled(const Array& x, const Shape& shifts) {
  Array out = Array::empty(x.shape(), x.dtype());
  roll_into(out, x, shifts);
  return out;
}

}  // namespace

Tensor roll(const Tensor& self, std::int64_t shift, std::optional<Integer> dim) {
  if (dim) return roll(self, Shape{shift}, Shape{*dim});
  shift = shift_within(shift, self.numel());
  Array out = rolled(self.array().reshape({self.numel()}), {shift});
  out = out.view(self.shape());
  return record("RollBackward0", std::move(out), {self}, {},
                [shift](Derivative& d) { d.set(0, roll(d.grad(), -shift)); });
}

Tensor roll(const Tensor& self, const Shape& shifts, const Shape& dims) {
  if (shifts.empty() || shifts.size() != dims.size()) {
    fail<ShapeError>("roll", "shifts ", shifts, " and dimensions ", dims,
                     " must have the same length, at least 1");
  }
  Shape back = shifts;
  Shape in_all = Shape::filled(self.shape().size(), 0);  // per dimension, the sum of its shifts
  for (std::int64_t i = 0; i < dims.rank(); ++i) {
    const std::int64_t dim = own_dim("roll", self, dims[i]);
    const std::int64_t size = self.size(dim), shift = shift_within(shifts[i], size);
    back[i] = -shift;
    in_all[dim] = shift_within(in_all[dim] - size + shift, size);
  }
  return record("RollBackward0", rolled(self.array(), in_all), {self}, {},
                [back, dims](Derivative& d) { d.set(0, roll(d.grad(), back, dims)); });
}

Tensor repeat(const Tensor& self, const Shape& repeats) {
  const std::int64_t fresh = repeats.rank() - self.dim();
  if (fresh < 0) {
    fail<ShapeError>("repeat", "repeats ", repeats, " must have a number for each dimension of ",
                     self.shape());
  }
  // Every dimension is split into two: the copies, and the elements of one copy.
  Shape whole, apart, once, copies;
  for (std::int64_t d = 0; d < repeats.rank(); ++d) {
    const std::int64_t size = d < fresh ? 1 : self.shape()[d - fresh];
    std::int64_t total = 0;
    if (repeats[d] < 0 || __builtin_mul_overflow(repeats[d], size, &total)) {
      fail<ShapeError>("repeat", "dimension ", d, " cannot be repeated ", repeats[d], " times");
    }
    whole.push_back(total);
    copies.push_back(apart.rank());
    for (const std::int64_t n : {repeats[d], size}) apart.push_back(n);
    for (const std::int64_t n : {std::int64_t{1}, size}) once.push_back(n);
  }
  Array out = Array::empty(whole, self.dtype());
  out.view(apart).copy_from(self.array().view(once));
  return record("RepeatBackward0", std::move(out), {self}, {},
                [apart, copies, from = self.shape()](Derivative& d) {
                  if (copies.empty()) return d.set(0, d.grad());
                  d.set(0, reshape(sum(reshape(d.grad(), apart), copies), from));
                });
}

Tensor tile(const Tensor& self, const Shape& repeats) {
  Shape all = repeats;
  while (all.rank() < self.dim()) all.insert(0, 1);
  return repeat(self, all);
}

namespace {

// Returns the dimension along which elements are repeated: `dim`, or 0.
std::int64_t interleaved_dim(const Tensor& x, std::optional<Integer> dim) {
  return own_dim("repeat_interleave", x, dim.value_or(0));
}

}  // namespace

Tensor repeat_interleave(const Tensor& self, std::int64_t repeats, std::optional<Integer> dim) {
  if (repeats < 0)
    fail<ShapeError>("repeat_interleave", "repeats must not be negative, got ", repeats);
  const Tensor x = dim ? self : flatten(self);
  const std::int64_t along = interleaved_dim(x, dim);
  if (repeats == 1) return clone(x);
  Shape shape = x.shape();
  shape.insert(along + 1, repeats);
  std::int64_t count = 0;
  if (__builtin_mul_overflow(x.numel(), repeats, &count)) {
    fail<ShapeError>("repeat_interleave", shape, " has more elements than an int64 can count");
  }
  return flatten(contiguous(expand(unsqueeze(x, along + 1), shape)), along, along + 1);
}

Tensor repeat_interleave(const Tensor& self, const Tensor& repeats, std::optional<Integer> dim) {
  const Tensor x = dim ? self : flatten(self);
  const std::int64_t along = interleaved_dim(x, dim);
  const std::int64_t size = x.size(along);
  if (repeats.dim() > 1 || (repeats.numel() != 1 && repeats.numel() != size)) {
    fail<ShapeError>("repeat_interleave", "repeats must be one number, or ", size,
                     " for the size of dimension ", along, " of ", x.shape(), ", but has shape ",
                     repeats.shape());
  }
  const Tensor each = repeats.numel() == 1 ? expand(reshape(repeats, {1}), {size}) : repeats;
  return index_select(x, along, repeat_interleave(each));
}

Tensor repeat_interleave(const Tensor& repeats) {
  if (repeats.dtype() != int64) {
    fail<DTypeError>("repeat_interleave", "repeats must be int64, but is ", repeats.dtype());
  }
  if (repeats.dim() != 1) {
    fail<ShapeError>("repeat_interleave", "repeats must be 1-d, but has shape ", repeats.shape());
  }
  const std::vector<std::int64_t> counts = repeats.to_vector<std::int64_t>();
  std::int64_t total = 0;
  for (const std::int64_t count : counts) {
    if (count < 0 || __builtin_add_overflow(total, count, &total)) {
      fail<ShapeError>("repeat_interleave", "an element cannot be repeated ", count, " times");
    }
  }
  Array out = Array::empty({total}, int64);
  std::int64_t* to = out.data<std::int64_t>();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    to = std::fill_n(to, counts[i], static_cast<std::int64_t>(i));
  }
  return constant(std::move(out), {repeats});
}

namespace {

// The padding of one dimension. `total` is the size with the padding.
struct Padding {
  std::int64_t dim, size, before, after, total;
};

Padding padding_of(const Tensor& self, const Shape& padding, std::int64_t pair) {
  const std::int64_t dim = self.dim() - 1 - pair;
  Padding p{dim, self.shape()[dim], padding[2 * pair], padding[2 * pair + 1], 0};
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max() / 2;
  if (std::min(p.before, p.after) < -kMax || std::max(p.before, p.after) > kMax ||
      __builtin_add_overflow(p.size, p.before, &p.total) ||
      __builtin_add_overflow(p.total, p.after, &p.total) || p.total < 0) {
    fail<ShapeError>("pad", "padding by ", p.before, " before and ", p.after,
                     " after does not fit dimension ", dim, " of ", self.shape());
  }
  return p;
}

Tensor constant_pad(const Tensor& self, const Shape& padding, const Scalar& value) {
  Shape shape = self.shape();
  Shape back = padding;
  Array kept = self.array();
  for (std::int64_t pair = 0; pair < padding.rank() / 2; ++pair) {
    const Padding p = padding_of(self, padding, pair);
    const std::int64_t skipped = std::max<std::int64_t>(-p.before, 0);
    const std::int64_t length = p.size - skipped + std::min<std::int64_t>(p.after, 0);
    if (length < 0) {
      fail<ShapeError>("pad", "dimension ", p.dim, " of ", self.shape(),
                       " is too small to cut off ", skipped, " before and ", -p.after, " after");
    }
    shape[p.dim] = p.total;
    back[2 * pair] = -p.before;
    back[2 * pair + 1] = -p.after;
    kept = kept.narrow(p.dim, skipped, length);
  }
  check_holds("pad", self.dtype(), value);
  Array out = Array::empty(shape, self.dtype());
  Array middle = out;
  for (std::int64_t pair = padding.rank() / 2; pair-- > 0;) {
    const std::int64_t dim = self.dim() - 1 - pair, size = kept.size(dim);
    const std::int64_t start = std::max<std::int64_t>(padding[2 * pair], 0);
    middle.narrow(dim, 0, start).fill(value);
    middle.narrow(dim, start + size, shape[dim] - start - size).fill(value);
    middle = middle.narrow(dim, start, size);
  }
  middle.copy_from(kept);
  middle = {};
  return record(
      "ConstantPadNdBackward0", std::move(out), {self}, {},
      [back](Derivative& d) { d.set(0, pad(d.grad(), back)); }, "pad");
}

// Refuses empty dimensions. Exceptions are circular padding, and an empty batch: the first of two
// dimensions before the padded ones.
void check_not_empty(const Tensor& self, PadMode mode, std::int64_t others) {
  if (mode == PadMode::circular) return;
  for (std::int64_t d = others - 1; d < self.dim(); ++d) {
    if (self.size(d) == 0)
      fail<ShapeError>("pad", "dimension ", d, " of ", self.shape(),
                       " must not be empty in this mode");
  }
}

void check_enough_places(const Padding& p, PadMode mode, const Shape& shape) {
  const std::int64_t left = p.size + std::min<std::int64_t>(p.before, 0) +
                            std::min<std::int64_t>(p.after, 0);  // not cut off
  const std::int64_t more = std::max(p.before, p.after);
  const bool fits = mode == PadMode::reflect    ? more < p.size
                    : mode == PadMode::circular ? left >= 0 && more <= left
                                                : true;
  if (!fits) {
    fail<ShapeError>("pad", "dimension ", p.dim, " of ", shape, " is too small to be padded by ",
                     p.before, " and ", p.after, " of its elements");
  }
}

// The new elements at one end of a dimension (copies), and the old elements that they repeat
// (originals). Reflection reverses the originals; replication uses a single one for all copies.
struct PaddedEdge {
  Array copies, originals;
  std::int64_t dim;
  PadMode mode;
};

// Calls f for the edges of `out`, whose padding is not negative. An edge may copy elements that an
// earlier edge added, so corners belong to the dimension that is padded later.
template <class F>
void for_edges(const Array& out, const Shape& padding, PadMode mode, bool backwards, F f) {
  const std::int64_t pairs = padding.rank() / 2;
  for (std::int64_t i = 0; i < pairs; ++i) {
    const std::int64_t pair = backwards ? pairs - 1 - i : i;
    Array part = out;
    const auto size = [&](std::int64_t each) {  // without the padding
      return out.size(-1 - each) - padding[2 * each] - padding[2 * each + 1];
    };
    for (std::int64_t later = pair + 1; later < pairs; ++later)
      part = part.narrow(-1 - later, padding[2 * later], size(later));
    const std::int64_t dim = out.rank() - 1 - pair, n = size(pair);
    const std::int64_t before = padding[2 * pair], after = padding[2 * pair + 1];
    const auto give = [&](std::int64_t to, std::int64_t count, std::int64_t from) {
      const std::int64_t shown = mode == PadMode::replicate ? 1 : count;
      if (count > 0)
        f(PaddedEdge{part.narrow(dim, to, count), part.narrow(dim, from, shown), dim, mode});
    };
    const bool reflects = mode == PadMode::reflect, wraps = mode == PadMode::circular;
    give(0, before, wraps ? n : reflects ? before + 1 : before);
    give(before + n, after, wraps ? before : before + n - 1 - (reflects ? after : 0));
  }
}

// Returns `out` without its padding.
Array inner_part(Array out, const Shape& padding) {
  for (std::int64_t pair = 0; pair < padding.rank() / 2; ++pair) {
    const std::int64_t before = padding[2 * pair], dim = -1 - pair;
    out = out.narrow(dim, before, out.size(dim) - before - padding[2 * pair + 1]);
  }
  return out;
}

Tensor extend(const Tensor& self, const Shape& padding, PadMode mode);

// Adds the gradient of every padded element to its original, and returns the gradient of self.
Tensor fold_edges(const Tensor& grad, const Shape& padding, PadMode mode) {
  const Array whole = grad.array().clone();
  for_edges(whole, padding, mode, true, [](const PaddedEdge& edge) {
    Array sum = edge.copies;
    if (edge.mode == PadMode::reflect) {
      sum = Array::empty(edge.copies.shape(), sum.dtype());
      kernels::flip(sum, edge.copies, {edge.dim});
    } else if (edge.mode == PadMode::replicate) {
      sum = Array::empty(edge.originals.shape(), sum.dtype());
      kernels::sum(sum, edge.copies, {edge.dim});
    }
    kernels::add(edge.originals, edge.originals, sum);
  });
  return record(
      "PadBackwardBackward", inner_part(whole, padding).clone(), {grad}, {},
      [=](Derivative& d) { d.set(0, extend(d.grad(), padding, mode)); }, "pad");
}

// Pads self. The padding is not negative.
Tensor extend(const Tensor& self, const Shape& padding, PadMode mode) {
  Shape shape = self.shape();
  for (std::int64_t i = 0; i < padding.rank(); ++i) shape[self.dim() - 1 - i / 2] += padding[i];
  Array out = Array::empty(shape, self.dtype());
  inner_part(out, padding).copy_from(self.array());
  for_edges(out, padding, mode, false, [](const PaddedEdge& edge) {
    if (edge.mode == PadMode::reflect)
      return kernels::flip(edge.copies, edge.originals, {edge.dim});
    edge.copies.copy_from(edge.originals.expand(edge.copies.shape()));
  });
  static constexpr const char* kNames[][3] = {
      {"ReflectionPad1DBackward0", "ReflectionPad2DBackward0", "ReflectionPad3DBackward0"},
      {"ReplicationPad1DBackward0", "ReplicationPad2DBackward0", "ReplicationPad3DBackward0"}};
  const auto pairs = static_cast<std::size_t>(padding.rank() / 2);
  const char* name = mode == PadMode::circular  ? "CopySlices"
                     : mode == PadMode::reflect ? kNames[0][pairs - 1]
                                                : kNames[1][pairs - 1];
  return record(
      name, std::move(out), {self}, {},
      [=](Derivative& d) { d.set(0, fold_edges(d.grad(), padding, mode)); }, "pad");
}

// Negative padding at one end may cut off all elements, while padding at the other end adds some.
// At least one element must stay to be replicated. The rest of the cut is subtracted from the
// padding at the other end instead. The result is the same because all new elements are equal.
void fit_replicated(const Padding& p, std::int64_t& before, std::int64_t& after) {
  before = std::max(before, 1 - p.size);
  after = std::max(p.total - p.size - before, 1 - p.size);
  before = p.total - p.size - after;
}

// Returns x without the elements that negative padding cuts off.
Tensor cut_off(Tensor x, const Shape& padding) {
  for (std::int64_t i = 0; i < padding.rank(); i += 2) {
    const std::int64_t dim = x.dim() - 1 - i / 2, start = std::max<std::int64_t>(-padding[i], 0);
    x = narrow(x, dim, start, x.size(dim) - start + std::min<std::int64_t>(padding[i + 1], 0));
  }
  return x;
}

}  // namespace

Tensor pad(const Tensor& self, const Shape& padding, OrWord<PadMode> mode,
           const std::optional<Scalar>& value) {
  const Scalar filler = value.value_or(0);
  const std::int64_t pairs = padding.rank() / 2;
  if (padding.rank() % 2 != 0 || pairs > self.dim()) {
    fail<ShapeError>("pad", "padding must have two numbers for each of at most ", self.dim(),
                     " dimensions, got ", padding);
  }
  if (mode == PadMode::constant) return constant_pad(self, padding, filler);
  if (filler.to<double>() != 0) fail<Error>("pad", "only constant padding accepts a value");
  const std::int64_t others = self.dim() - pairs;
  if (pairs < 1 || pairs > 3 || others < 1 || others > 2) {
    fail<ShapeError>("pad", "padding ", padding, " of ", self.shape(),
                     ": a mode other than constant pads the last 1, 2 or 3 dimensions of a tensor "
                     "that has 1 or 2 dimensions more");
  }
  check_not_empty(self, mode, others);
  Shape fitted = padding;
  bool nothing_left = mode != PadMode::circular;
  for (std::int64_t pair = 0; pair < pairs; ++pair) {
    const Padding p = padding_of(self, padding, pair);
    check_enough_places(p, mode, self.shape());
    nothing_left = nothing_left && p.total == 0;
    if (mode == PadMode::replicate) fit_replicated(p, fitted[2 * pair], fitted[2 * pair + 1]);
  }
  if (nothing_left)
    fail<ShapeError>("pad", "padding ", padding, " of ", self.shape(), " leaves no elements");
  Shape extra = fitted;
  for (std::int64_t& each : extra) each = std::max<std::int64_t>(each, 0);
  if (extra == fitted) return extend(self, extra, mode);
  // Circular padding cuts off elements first, and then repeats the rest. The other modes pad first.
  if (mode == PadMode::circular) return extend(cut_off(self, fitted), extra, mode);
  return clone(cut_off(extend(self, extra, mode), fitted));
}

}  // namespace tend
