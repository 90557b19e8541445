#include "tests/hostile/arguments.h"
#include "tests/numbers.h"

#include <cmath>
#include <limits>
#include <locale>
#include <sstream>

namespace tend::test {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr DType kDTypes[] = {boolean, int64, float32, float64};
constexpr std::int64_t kHugeSizes[] = {std::int64_t{1} << 31, (std::int64_t{1} << 32) + 1,
                                       std::int64_t{1} << 40, std::int64_t{1} << 62, kMax};
constexpr std::int64_t kIntegers[] = {kMin,
                                      kMin + 1,
                                      -(std::int64_t{1} << 40),
                                      -(std::int64_t{1} << 31) - 1,
                                      -100,
                                      -65,
                                      64,
                                      1000,
                                      std::int64_t{1} << 31,
                                      std::int64_t{1} << 32,
                                      std::int64_t{1} << 40,
                                      std::int64_t{1} << 61,
                                      std::int64_t{1} << 62,
                                      kMax - 1,
                                      kMax};
constexpr double kReals[] = {kNaN,   kInf, -kInf, 0.0,    -0.0,   1.0,       2.0,
                             -1.0,   0.5,  -0.5,  1e308,  -1e308, 1e39,      1e-8,
                             5e-324, 1e19, -1e19, 0x1p63, 3.5,    1.0 + 1e-7};

// More elements than even a legal call walks through in a moment.
constexpr std::int64_t kLarge = 1 << 21;

Shape shape_of(Draws& draws) {
  const Shape shapes[] = {{2, 3}, {3}, {4, 3},    {2, 3, 2}, {3, 3},
                          {1},    {},  {2, 1, 3}, {0, 3},    {2, 4, 3, 2}};
  return draws.of(shapes);
}

// One of the tensor's dimensions repeated `size` times without memory; a 0-d tensor gets one.
Tensor repeated(const Tensor& x, std::int64_t d, std::int64_t size) {
  if (x.dim() == 0) return x.expand({size});
  Shape shape = x.shape();
  if (shape[d] == 0) return x;
  shape[d] = size;
  return x.narrow(d, 0, 1).expand(shape);
}

std::int64_t count_of(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    if (size == 0) return 0;
    if (__builtin_mul_overflow(count, size, &count)) return -1;
  }
  return count;
}

}  // namespace

std::string describe(const Tensor& x) {
  if (!x.defined()) return "undefined";
  std::ostringstream text;
  text << x.dtype() << ' ' << x.shape();
  if (!x.is_contiguous()) text << " strides " << x.strides();
  if (x.array().offset() != 0) text << " offset " << x.array().offset();
  if (x.is_inference()) text << " of inference mode";
  if (x.requires_grad()) {
    text << (x.is_leaf() ? " that requires grad" : as_text(" by ", x.grad_fn()));
  }
  if (x.numel() > 0 && x.numel() <= 6) {
    const Array values = x.array().to(float64).contiguous();
    text << " [";
    for (std::int64_t i = 0; i < values.numel(); ++i)
      text << (i > 0 ? " " : "") << values.data<double>()[i];
    text << ']';
  }
  return text.str();
}

Arguments::Arguments(std::uint64_t seed, std::int64_t index)
    : index_(index),
      draws_(seed, index),
      shape_(shape_of(draws_)),
      dtype_(draws_.chance(0.6) ? float32 : draws_.of(kDTypes)),
      generator_(seed) {
  text_.imbue(std::locale::classic());
  text_.precision(17);
}

Tensor Arguments::keep(const Tensor& tensor) {
  tensors_.push_back(tensor);
  if (tensor.defined()) large_ |= tensor.numel() >= kLarge;
  for (std::size_t i = 0; i + 1 < tensors_.size(); ++i) {
    if (tensor.defined() && tensors_[i].impl() == tensor.impl()) {
      say(as_text("tensor ", i));
      return tensor;
    }
  }
  say(describe(tensor));
  return tensor;
}

Array Arguments::small_array(const Shape& shape, DType dtype) {
  const bool wild = draws_.chance(0.15);
  std::vector<double> values;
  const std::int64_t count = element_count(shape);
  for (std::int64_t i = 0; i < count; ++i) {
    if (dtype == boolean) {
      values.push_back(draws_.chance(0.5) ? 1 : 0);
    } else if (wild && draws_.chance(0.5)) {
      values.push_back(dtype == int64 ? static_cast<double>(draws_.of(kIntegers))
                                      : draws_.of(kReals));
    } else {
      values.push_back(dtype == int64 ? static_cast<double>(draws_.between(0, 2))
                                      : draws_.uniform() * 4 - 2);
    }
  }
  return Array::from<double>(values, shape).to(dtype);
}

Tensor Arguments::tensor(const Tensor& usual) {
  Tensor made;
  try {
    made = hostile(usual);
  } catch (const Error&) {  // the sizes cannot be had
    made = usual;
  }
  return keep(made);
}

Tensor Arguments::tensor() {
  Shape shape = shape_;
  if (draws_.chance(0.25)) shape = shape_of(draws_);
  const DType dtype = draws_.chance(0.75) ? dtype_ : draws_.of(kDTypes);
  Tensor usual(small_array(shape, dtype));
  if (is_floating(dtype) && draws_.chance(0.4)) usual.requires_grad_();
  return draws_.chance(0.55) ? keep(usual) : tensor(usual);
}

std::vector<Tensor> Arguments::tensors(std::int64_t most) {
  std::vector<Tensor> list;
  const std::int64_t count = draws_.between(0, most);
  for (std::int64_t i = 0; i < count; ++i) list.push_back(tensor());
  say(as_text("(a list of the last ", count, ")"));
  return list;
}

Tensor Arguments::hostile(const Tensor& usual) {
  const Tensor x = usual.detach();
  const bool grad = usual.requires_grad();
  const auto again = [&](Tensor made) {
    return grad && is_floating(made.dtype()) ? made.requires_grad_() : made;
  };
  const std::int64_t d = x.dim() > 0 ? draws_.between(0, x.dim() - 1) : 0;
  switch (draws_.between(0, 23)) {
    case 0: return {};
    case 1: return again(Tensor(small_array({}, x.dtype())));
    case 2: {  // empty, maybe with sizes that would be too many
      Shape shape = x.shape();
      if (shape.empty()) shape = {1};
      const std::int64_t last = shape.rank() - 1;
      shape[draws_.between(0, last)] = draws_.of(kHugeSizes);
      if (draws_.chance(0.5)) shape = x.dim() > 0 ? x.shape() : Shape{3};
      shape[draws_.between(0, last)] = 0;
      return again(Tensor(Array::empty(shape, x.dtype())));
    }
    case 3: return again(Tensor(small_array({1}, x.dtype())));
    case 4:
    case 5:  // so many elements that no memory holds them
      return repeated(x.numel() > 0 ? again(x) : again(Tensor(small_array({1}, x.dtype()))), d,
                      draws_.of(kHugeSizes));
    case 6: {  // in two dimensions, or whatever the sizes are
      const Tensor one = again(Tensor(small_array({}, x.dtype())));
      const std::int64_t size = draws_.of(kHugeSizes);
      return draws_.chance(0.5) ? one.expand({size, 3})
                                : one.expand({std::int64_t{1} << 31, 1 << 30});
    }
    case 7:
      return again(x.dim() < 2 ? x.unsqueeze(0) : x.transpose(0, -1).clone().transpose(0, -1));
    case 8: {  // gaps, and an offset
      if (x.dim() == 0) return again(stack({x, x, x}).select(0, 1));
      const Tensor wide = stack({x, x}, -1).flatten(-2);
      return again(Tensor(wide.array().slice(-1, 1, std::nullopt, 2)));
    }
    case 9:  // elements that overlap
      return again(repeated(x, d, x.dim() > 0 ? x.size(d) : 3).detach());
    case 10:  // windows that overlap
      if (x.dim() == 0 || x.size(d) < 2) return usual.unsqueeze(0);
      return again(x.unfold(d, 2, 1).detach());
    case 11:
    case 12: return Tensor(small_array(x.shape(), draws_.of(kDTypes)));
    case 13: {  // elements at the ends of what the dtype holds
      Array wild = small_array(x.shape(), x.dtype());
      if (wild.numel() > 0 && is_floating(x.dtype()))
        wild.view({-1}).select(0, draws_.between(0, wild.numel() - 1)).fill(draws_.of(kReals));
      if (wild.numel() > 0 && x.dtype() == int64)
        wild.view({-1}).select(0, draws_.between(0, wild.numel() - 1)).fill(draws_.of(kIntegers));
      return again(Tensor(wild));
    }
    case 14: {  // indices just out of range, and negative ones
      Array places = x.array().to(int64).clone();
      if (places.numel() > 0)
        places.view({-1})
            .select(0, draws_.between(0, places.numel() - 1))
            .fill(draws_.between(-5, 5));
      return Tensor(places);
    }
    case 15:  // an argument from before
    case 16:
      if (tensors_.empty()) return usual;
      return draws_.of(tensors_);
    case 17: {  // a view of one
      if (tensors_.empty()) return usual;
      Tensor before = draws_.of(tensors_);
      if (!before.defined()) return before;
      if (before.dim() == 0) return before.view({1});
      return draws_.chance(0.5) ? before.flip({0}) : before.narrow(0, 0, before.size(0) / 2 + 1);
    }
    case 18: return is_floating(x.dtype()) ? x.clone().requires_grad_() : usual;
    case 19: {  // with history, and maybe a view
      if (!is_floating(x.dtype())) return usual;
      const Tensor made = x.clone().requires_grad_() * 1.5;
      return draws_.chance(0.5) ? made : made.unsqueeze(0)[0];
    }
    case 20: {
      const InferenceModeGuard guard;
      return x.clone();
    }
    case 21: {  // more dimensions
      Shape shape = Shape::filled(static_cast<std::size_t>(draws_.chance(0.5) ? 7 : 65), 1);
      for (const std::int64_t size : x.shape()) shape.push_back(size);
      return again(x.reshape(shape));
    }
    case 22: {  // another size
      if (x.dim() == 0) return again(Tensor(small_array({2}, x.dtype())));
      Shape shape = x.shape();
      shape[d] += draws_.between(-1, 2);
      return again(Tensor(small_array(shape, x.dtype())));
    }
    default: {  // with a gradient already
      if (!is_floating(x.dtype())) return usual;
      Tensor leaf = x.clone().requires_grad_();
      leaf.set_grad(ones_like(leaf));
      return leaf;
    }
  }
}

std::int64_t Arguments::integer() {
  const std::int64_t value = draws_.chance(0.75) ? draws_.between(-3, 4) : draws_.of(kIntegers);
  say(value);
  return value;
}

double Arguments::real() {
  const double value = draws_.chance(0.3) ? draws_.uniform() : draws_.of(kReals);
  say(value);
  return value;
}

bool Arguments::flag() {
  const bool value = draws_.chance(0.5);
  say(value ? "true" : "false");
  return value;
}

Scalar Arguments::scalar() {
  switch (draws_.between(0, 3)) {
    case 0: return flag();
    case 1: return integer();
    default: return real();
  }
}

DType Arguments::dtype() {
  const DType value = draws_.of(kDTypes);
  say(value);
  return value;
}

Shape Arguments::sizes() {
  Shape sizes = draws_.chance(0.7) ? shape_ : shape_of(draws_);
  const auto any = [&] { return draws_.between(0, sizes.rank() - 1); };
  switch (draws_.between(0, 9)) {
    case 0:
      if (!sizes.empty()) sizes[any()] = -1;
      break;
    case 1:
      if (!sizes.empty()) sizes[any()] = draws_.of(kIntegers);
      break;
    case 2:
      if (!sizes.empty()) sizes[any()] = draws_.of(kHugeSizes);
      if (draws_.chance(0.5)) sizes.push_back(0);
      break;
    case 3: sizes.push_back(draws_.of(kIntegers)); break;
    case 4: sizes.insert(0, draws_.between(-2, 3)); break;
    case 5:
      if (!sizes.empty()) sizes.erase(any());
      break;
    case 6: {
      const std::int64_t count = count_of(sizes);
      sizes = Shape{count};
      break;
    }
    case 7:
      if (draws_.chance(0.3)) sizes = Shape::filled(65, 1);
      break;
    default: break;
  }
  say(sizes);
  return sizes;
}

Shape Arguments::dims() {
  Shape dims;
  const std::int64_t count = draws_.between(0, 3);
  for (std::int64_t i = 0; i < count; ++i) {
    dims.push_back(draws_.chance(0.85) ? draws_.between(-3, 3) : draws_.of(kIntegers));
  }
  if (draws_.chance(0.02)) dims = Shape::filled(70, 0);
  say(dims);
  return dims;
}

Index Arguments::place() {
  switch (draws_.between(0, 6)) {
    case 0: return integer();
    case 1: {
      Slice slice;
      if (flag()) slice.start = integer();
      if (flag()) slice.stop = integer();
      slice.step = integer();
      return slice;
    }
    case 2: say("newaxis"); return newaxis;
    case 3: say("ellipsis"); return ellipsis;
    case 4: return flag();
    default: {
      const Tensor usual(small_array({3}, int64));
      const Tensor named = draws_.chance(0.5) ? tensor() : tensor(usual);
      return named.defined() ? named : usual;  // an undefined one is refused by Index itself
    }
  }
}

Generator& Arguments::generator() {
  const bool own = draws_.chance(0.5);
  say(own ? "a generator" : "the default generator");
  return own ? generator_ : default_generator();
}

}  // namespace tend::test
