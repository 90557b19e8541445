#include <tend/autograd/ops/rearrange.h>

#include <algorithm>
#include <limits>

#include <tend/autograd/ops/helpers.h>
#include <tend/core/kernels/indexing/shape_ops.h>

namespace tend {

Tensor flip(const Tensor& self, const Dims& dims) {
  const Shape flipped = dims.empty() ? Shape{} : wrap_dims("flip", dims, self.dim());
  Array out = Array::empty(self.shape(), self.dtype());
  kernels::flip(out, self.array(), flipped);
  return record("FlipBackward0", std::move(out), {self}, {},
                [flipped](Derivative& d) { d.set(0, flip(d.grad(), flipped)); });
}

namespace {

// The equivalent shift in [0, size).
std::int64_t shift_within(std::int64_t shift, std::int64_t size) {
  if (size == 0) return 0;
  const std::int64_t rest = shift % size;
  return rest < 0 ? rest + size : rest;
}

Array rolled(const Array& x, std::int64_t shift, std::int64_t dim) {
  Array out = Array::empty(x.shape(), x.dtype());
  const std::int64_t rest = x.size(dim) - shift;
  out.narrow(dim, shift, rest).copy_from(x.narrow(dim, 0, rest));
  out.narrow(dim, 0, shift).copy_from(x.narrow(dim, rest, shift));
  return out;
}

}  // namespace

Tensor roll(const Tensor& self, std::int64_t shift, std::optional<Integer> dim) {
  if (dim) return roll(self, Shape{shift}, Shape{*dim});
  shift = shift_within(shift, self.numel());
  const Array flat = rolled(self.array().reshape({self.numel()}), shift, 0);
  return record("RollBackward0", flat.view(self.shape()), {self}, {},
                [shift](Derivative& d) { d.set(0, roll(d.grad(), -shift)); });
}

Tensor roll(const Tensor& self, const Shape& shifts, const Shape& dims) {
  if (shifts.empty() || shifts.size() != dims.size()) {
    fail<ShapeError>("roll", "shifts ", shifts, " and dimensions ", dims,
                     " must be one or more, and as many of both");
  }
  if (self.dim() == 0) fail<IndexError>("roll", "a 0-d tensor has no dimension ", dims[0]);
  Shape back = shifts;
  Array out = self.array();
  for (std::int64_t i = 0; i < dims.rank(); ++i) {
    const std::int64_t dim = wrap_dim("roll", dims[i], self.dim());
    const std::int64_t shift = shift_within(shifts[i], self.size(dim));
    back[i] = -shift;
    out = rolled(out, shift, dim);
  }
  return record("RollBackward0", std::move(out), {self}, {},
                [back, dims](Derivative& d) { d.set(0, roll(d.grad(), back, dims)); });
}

Tensor repeat(const Tensor& self, const Shape& repeats) {
  const std::int64_t fresh = repeats.rank() - self.dim();
  if (fresh < 0) {
    fail<ShapeError>("repeat", repeats, " names fewer dimensions than ", self.shape(), " has");
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

Tensor tile(const Tensor& self, const Shape& repeats) try {
  Shape all = repeats;
  while (all.rank() < self.dim()) all.insert(0, 1);
  return repeat(self, all);
} catch (const Error&) {
  rename_error("tile");
}

namespace {

// The dimension along which elements are repeated.
std::int64_t interleaved_dim(const Tensor& x, std::optional<Integer> dim) {
  if (x.dim() == 0) fail<IndexError>("repeat_interleave", "a 0-d tensor has no dimension ", *dim);
  return wrap_dim("repeat_interleave", dim.value_or(0), x.dim());
}

}  // namespace

Tensor repeat_interleave(const Tensor& self, std::int64_t repeats, std::optional<Integer> dim) {
  if (repeats < 0) fail<ShapeError>("repeat_interleave", "repeats is ", repeats);
  const Tensor x = dim ? self : flatten(self);
  const std::int64_t along = interleaved_dim(x, dim);
  Shape shape = x.shape();
  shape.insert(along + 1, repeats);
  return flatten(clone(expand(unsqueeze(x, along + 1), shape)), along, along + 1);
}

Tensor repeat_interleave(const Tensor& self, const Tensor& repeats, std::optional<Integer> dim) {
  const Tensor x = dim ? self : flatten(self);
  const std::int64_t along = interleaved_dim(x, dim);
  const std::int64_t size = x.size(along);
  if (repeats.dim() > 1 || (repeats.numel() != 1 && repeats.numel() != size)) {
    fail<ShapeError>("repeat_interleave", "repeats ", repeats.shape(), " are neither one nor ",
                     size, ", the size of dimension ", along, " of ", x.shape());
  }
  const Tensor each = repeats.numel() == 1 ? expand(reshape(repeats, {1}), {size}) : repeats;
  return index_select(x, along, repeat_interleave(each));
}

Tensor repeat_interleave(const Tensor& repeats) {
  if (repeats.dtype() != int64) {
    fail<DTypeError>("repeat_interleave", "repeats are ", repeats.dtype(), ", not int64");
  }
  if (repeats.dim() != 1) {
    fail<ShapeError>("repeat_interleave", "repeats ", repeats.shape(), " are not one dimension");
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
  return Tensor(std::move(out));
}

namespace {

// How one dimension is padded.
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
    fail<ShapeError>("pad", p.before, " before and ", p.after, " after do not fit dimension ", dim,
                     " of ", self.shape());
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
      fail<ShapeError>("pad", "dimension ", p.dim, " of ", self.shape(), " has no ", skipped,
                       " and ", -p.after, " places to cut off");
    }
    shape[p.dim] = p.total;
    back[2 * pair] = -p.before;
    back[2 * pair + 1] = -p.after;
    kept = kept.narrow(p.dim, skipped, length);
  }
  check_holds("pad", self.dtype(), value);
  Array out = Array::full(shape, value, self.dtype());
  Array middle = out;
  for (std::int64_t pair = 0; pair < padding.rank() / 2; ++pair) {
    const std::int64_t dim = self.dim() - 1 - pair;
    middle = middle.narrow(dim, std::max<std::int64_t>(padding[2 * pair], 0), kept.size(dim));
  }
  middle.copy_from(kept);
  return record(
      "ConstantPadNdBackward0", std::move(out), {self}, {},
      [back](Derivative& d) { d.set(0, pad(d.grad(), back)); }, "pad");
}

// Refuses empty dimensions, except in circular padding, and except for the batch, the first of two
// dimensions in front of the padded ones.
void check_not_empty(const Tensor& self, PadMode mode, std::int64_t others) {
  if (mode == PadMode::circular) return;
  for (std::int64_t d = others - 1; d < self.dim(); ++d) {
    if (self.size(d) == 0)
      fail<ShapeError>("pad", "dimension ", d, " of ", self.shape(), " is empty");
  }
}

void check_enough_places(const Padding& p, PadMode mode, const Shape& shape) {
  const std::int64_t left = p.size + std::min<std::int64_t>(p.before, 0) +
                            std::min<std::int64_t>(p.after, 0);  // of negative padding
  const std::int64_t more = std::max(p.before, p.after);
  const bool fits = mode == PadMode::reflect    ? more < p.size
                    : mode == PadMode::circular ? left >= 0 && more <= left
                                                : true;
  if (!fits) {
    fail<ShapeError>("pad", "dimension ", p.dim, " of ", shape, " has too few places to be padded ",
                     "by ", p.before, " and ", p.after, " of them");
  }
}

// One dimension padded by pieces of the tensor itself. Place i of the result is place i - before of
// `x`: the first `count_before` of those lie before it, the last `count_after` behind it.
Tensor pad_dimension(const Tensor& x, const Padding& p, PadMode mode) {
  const std::int64_t count_before = std::clamp<std::int64_t>(p.before, 0, p.total);
  const std::int64_t count_after = std::clamp<std::int64_t>(p.after, 0, p.total);
  const std::int64_t count = p.total - count_before - count_after;
  const auto piece = [&](std::int64_t start, std::int64_t length) {
    return narrow(x, p.dim, start, length);
  };
  const auto repeated = [&](std::int64_t place, std::int64_t length) {
    Shape shape = x.shape();
    shape[p.dim] = length;
    return expand(piece(place, 1), shape);
  };
  std::vector<Tensor> pieces;
  if (count_before > 0) {
    pieces.push_back(
        mode == PadMode::replicate ? repeated(0, count_before)
        : mode == PadMode::circular
            ? piece(p.size + std::min<std::int64_t>(p.after, 0) - p.before, count_before)
            : flip(piece(p.before - count_before + 1, count_before), {p.dim}));
  }
  if (count > 0) pieces.push_back(piece(count_before - p.before, count));
  if (count_after > 0) {
    const std::int64_t first = p.size + p.after - count_after;  // its place, behind the end
    pieces.push_back(mode == PadMode::replicate ? repeated(p.size - 1, count_after)
                     : mode == PadMode::circular
                         ? piece(std::max<std::int64_t>(-p.before, 0), count_after)
                         : flip(piece(2 * p.size - 1 - first - count_after, count_after), {p.dim}));
  }
  if (pieces.empty()) pieces.push_back(piece(0, 0));
  return cat(pieces, p.dim);
}

}  // namespace

Tensor pad(const Tensor& self, const Shape& padding, PadMode mode, const Scalar& value) try {
  const std::int64_t pairs = padding.rank() / 2;
  if (padding.rank() % 2 != 0 || pairs > self.dim()) {
    fail<ShapeError>("pad", "padding ", padding, " is not two numbers for each of at most ",
                     self.dim(), " dimensions");
  }
  if (mode == PadMode::constant) return constant_pad(self, padding, value);
  if (value.to<double>() != 0) fail<Error>("pad", "only constant padding takes a value");
  const std::int64_t others = self.dim() - pairs;
  if (pairs < 1 || pairs > 3 || others < 1 || others > 2) {
    fail<ShapeError>("pad", "padding ", padding, " of ", self.shape(),
                     ": only a constant pads other than the last 1, 2 or 3 of a tensor that has 1 "
                     "or 2 dimensions more");
  }
  check_not_empty(self, mode, others);
  Tensor out = self;
  for (std::int64_t pair = 0; pair < pairs; ++pair) {
    const Padding p = padding_of(self, padding, pair);
    check_enough_places(p, mode, self.shape());
    out = pad_dimension(out, p, mode);
  }
  return out;
} catch (const Error&) {
  rename_error("pad");
} catch (const std::bad_alloc&) {
  fail_memory();
}

}  // namespace tend
