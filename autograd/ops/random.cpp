#include <tend/autograd/ops/random.h>

#include <tend/autograd/ops/elementwise.h>
#include <tend/core/random/distributions.h>
#include <tend/core/random/multinomial.h>

namespace tend {
namespace {

// Creates a floating tensor and calls draw(array) to fill it with random numbers.
template <class Draw>
Tensor drawn(const char* operation, const Shape& shape, DType dtype, Draw draw) {
  check_size(operation, shape, dtype);
  if (!is_floating(dtype)) fail<DTypeError>(operation, "needs float32 or float64, got ", dtype);
  Array out = Array::empty(shape, dtype);
  draw(out);
  return constant(std::move(out), {}, operation);
}

}  // namespace

Tensor rand(const Shape& shape, Exactly<DType> dtype, Generator& generator) {
  return drawn("rand", shape, dtype,
               [&](const Array& out) { kernels::uniform(out, 0, 1, generator); });
}

Tensor randn(const Shape& shape, Exactly<DType> dtype, Generator& generator) {
  return drawn("randn", shape, dtype,
               [&](const Array& out) { kernels::normal(out, 0, 1, generator); });
}

Tensor rand(const Shape& shape, const TensorOptions& options, Generator& generator) {
  return make_with("rand", options, float32,
                   [&](DType dtype) { return rand(shape, dtype, generator); });
}
Tensor randn(const Shape& shape, const TensorOptions& options, Generator& generator) {
  return make_with("randn", options, float32,
                   [&](DType dtype) { return randn(shape, dtype, generator); });
}
Tensor rand(const Shape& shape, Generator& generator) {
  return rand(shape, float32, generator);
}
Tensor randn(const Shape& shape, Generator& generator) {
  return randn(shape, float32, generator);
}

Tensor normal(double mean, double std, const Shape& shape, Exactly<DType> dtype,
              Generator& generator) {
  return drawn("normal", shape, dtype,
               [&](const Array& out) { kernels::normal(out, mean, std, generator); });
}
Tensor normal(double mean, double std, const Shape& shape, const TensorOptions& options,
              Generator& generator) {
  return make_with("normal", options, float32,
                   [&](DType dtype) { return normal(mean, std, shape, dtype, generator); });
}
Tensor normal(double mean, double std, const Shape& shape, Generator& generator) {
  return normal(mean, std, shape, float32, generator);
}

namespace {

void check_deviations(const Tensor& std) {
  if (std.numel() == 0) return;
  const double smallest = min(std.detach()).item();
  if (!(smallest >= 0)) fail("normal", "a standard deviation is ", smallest, ", not >= 0");
}

// Computes random numbers from N(0, 1) times std plus mean, rounding in PyTorch's order. The mean
// is a number or a tensor.
template <class Mean>
Array normal_around(const Mean& mean, const Tensor& std, const Shape& shape, DType dtype,
                    Generator& generator) {
  const NoGradGuard no_graph;
  return normal(0, 1, shape, dtype, generator).mul_(std).add_(mean).array();
}

}  // namespace

Tensor normal(const Tensor& mean, double std, Generator& generator) {
  const auto draw = [&] {
    const NoGradGuard no_graph;
    return normal(0, std, mean.shape(), mean.dtype(), generator).add_(mean).array();
  };
  return record("NormalBackward1", draw(), {mean}, {}, zero_gradient);
}
Tensor normal(double mean, const Tensor& std, Generator& generator) {
  check_deviations(std);
  return record("NormalBackward2", normal_around(mean, std, std.shape(), std.dtype(), generator),
                {std}, {}, zero_gradient);
}
Tensor normal(const Tensor& mean, const Tensor& std, Generator& generator) {
  check_deviations(std);
  const Shape shape = broadcast_shapes("normal", mean.shape(), std.shape());
  return record("NormalBackward3", normal_around(mean, std, shape, mean.dtype(), generator),
                {mean, std}, {}, zero_gradient);
}

Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, Exactly<DType> dtype,
               Generator& generator) {
  check_size("randint", shape, dtype);
  Array out = Array::empty(shape, dtype);
  kernels::randint(out, low, high, generator);
  return constant(std::move(out), {});
}

Tensor randint(std::int64_t high, const Shape& shape, Exactly<DType> dtype, Generator& generator) {
  return randint(0, high, shape, dtype, generator);
}
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape,
               const TensorOptions& options, Generator& generator) {
  return make_with("randint", options, int64,
                   [&](DType dtype) { return randint(low, high, shape, dtype, generator); });
}
Tensor randint(std::int64_t high, const Shape& shape, const TensorOptions& options,
               Generator& generator) {
  return randint(0, high, shape, options, generator);
}
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, Generator& generator) {
  return randint(low, high, shape, int64, generator);
}
Tensor randint(std::int64_t high, const Shape& shape, Generator& generator) {
  return randint(0, high, shape, int64, generator);
}

Tensor randperm(std::int64_t n, Generator& generator) {
  if (n < 0) fail<ShapeError>("randperm", "needs 0 elements or more, got ", n);
  check_size("randperm", {n}, int64);
  Array out = Array::empty({n}, int64);
  kernels::randperm(out, generator);
  return constant(std::move(out), {});
}

Tensor bernoulli(const Tensor& probabilities, Generator& generator) {
  Array out = Array::empty(probabilities.shape(), probabilities.dtype());
  kernels::bernoulli(out, probabilities.array(), generator);
  return record("BernoulliBackward0", std::move(out), {probabilities}, {}, zero_gradient);
}

Tensor bernoulli(const Tensor& like, double p, Generator& generator) {
  Array out = Array::empty(like.shape(), like.dtype());
  kernels::bernoulli(out, p, generator);
  return constant(std::move(out), {});
}

Tensor multinomial(const Tensor& weights, std::int64_t samples, Flag replacement,
                   Generator& generator) {
  Shape shape = weights.shape();
  if (shape.empty()) fail<ShapeError>("multinomial", "a 0-d tensor has no weights to choose by");
  shape[shape.rank() - 1] = samples;
  check_size("multinomial", shape, int64);
  Array out = Array::empty(shape, int64);
  kernels::multinomial(out, weights.array(), replacement, generator);
  return constant(std::move(out), {weights});
}

namespace {

// Fills self directly, because the random numbers follow the order of its memory. The old elements
// do not matter, so their gradient is zero.
template <class Draw>
const Tensor& draw_in_place(const char* operation, const char* node, const Tensor& self, Draw draw,
                            const Tensor& of = {}) {
  return in_place_form(operation, self, [&](const Form&) {
    // int64 and bool tensors have no history.
    const Tensor& source = is_floating(self.dtype()) ? of : self;
    const Tensor result = record(node, self.array(), {self, source}, {}, zero_gradient, operation);
    PendingWrite pending(operation, self, result);
    draw(self.array());
    pending.commit();
  });
}

}  // namespace

const Tensor& InPlace::uniform_(double low, double high, Generator& generator) const {
  return draw_in_place("uniform_", "UniformBackward0", self(),
                       [&](const Array& out) { kernels::uniform(out, low, high, generator); });
}

const Tensor& InPlace::normal_(double mean, double std, Generator& generator) const {
  return draw_in_place("normal_", "NormalBackward0", self(),
                       [&](const Array& out) { kernels::normal(out, mean, std, generator); });
}

const Tensor& InPlace::bernoulli_(double p, Generator& generator) const {
  return draw_in_place("bernoulli_", "BernoulliBackward2", self(),
                       [&](const Array& out) { kernels::bernoulli(out, p, generator); });
}

const Tensor& InPlace::bernoulli_(const Tensor& p, Generator& generator) const {
  return draw_in_place(
      "bernoulli_", "BernoulliBackward1", self(),
      [&](const Array& out) { kernels::bernoulli(out, p.array(), generator); }, p);
}

const Tensor& InPlace::exponential_(double lambda, Generator& generator) const {
  return draw_in_place("exponential_", "ExponentialBackward0", self(),
                       [&](const Array& out) { kernels::exponential(out, lambda, generator); });
}

Tensor rand_like(const Tensor& like, std::optional<DType> dtype, Generator& generator) {
  Array out = Array::empty_like(like.shape(), dtype.value_or(like.dtype()), {&like.array()});
  kernels::uniform(out, 0, 1, generator);
  return constant(std::move(out), {});
}
Tensor randn_like(const Tensor& like, std::optional<DType> dtype, Generator& generator) {
  Array out = Array::empty_like(like.shape(), dtype.value_or(like.dtype()), {&like.array()});
  kernels::normal(out, 0, 1, generator);
  return constant(std::move(out), {});
}
Tensor rand_like(const Tensor& like, const TensorOptions& options, Generator& generator) {
  return make_with("rand_like", options, like.dtype(),
                   [&](DType dtype) { return rand_like(like, dtype, generator); });
}
Tensor randn_like(const Tensor& like, const TensorOptions& options, Generator& generator) {
  return make_with("randn_like", options, like.dtype(),
                   [&](DType dtype) { return randn_like(like, dtype, generator); });
}

}  // namespace tend
