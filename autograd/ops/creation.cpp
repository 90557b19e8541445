#include <tend/autograd/ops/creation.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include <tend/autograd/ops/helpers.h>
#include <tend/core/kernels/indexing/shape_ops.h>

namespace tend {

NestedNumbers::NestedNumbers(std::initializer_list<NestedNumbers> rows) : shape_{rows.size()} {
  if (rows.size() == 0) return;
  dtype_ = boolean;
  for (const NestedNumbers& row : rows) add(row);
}

void NestedNumbers::add(const NestedNumbers& row) {
  if (rows_++ == 0) {
    for (const std::int64_t size : row.shape_) shape_.push_back(size);
  } else if (!std::equal(row.shape_.begin(), row.shape_.end(), shape_.begin() + 1, shape_.end())) {
    Shape first = shape_;
    first.erase(0);
    fail<ShapeError>("tensor", "all rows must have the same shape, got ", first, " and ",
                     row.shape_);
  }
  dtype_ = promote_types(dtype_, row.dtype_);
  values_.insert(values_.end(), row.values_.begin(), row.values_.end());
}

Tensor tensor(const NestedNumbers& numbers) {
  return tensor(numbers, numbers.dtype());
}
Tensor tensor(const NestedNumbers& numbers, const TensorOptions& options) {
  return make_with("tensor", options, numbers.dtype(),
                   [&](DType dtype) { return tensor(numbers, dtype); });
}

Tensor tensor(const NestedNumbers& numbers, Exactly<DType> dtype) {
  for (const Scalar& value : numbers.values()) check_integer("tensor", dtype, value);
  Array out = Array::empty(numbers.shape(), dtype);
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* to = out.data<T>();
    for (const Scalar& value : numbers.values()) *to++ = value.to<T>();
  });
  return constant(std::move(out), {});
}

namespace {

template <class Number>
Tensor tensor_from(std::span<const Number> values, const Shape& shape, DType dtype) {
  check_size("tensor", shape, dtype);
  if (element_count(shape) != static_cast<std::int64_t>(values.size()))
    fail<ShapeError>("tensor", values.size(), " numbers do not fill the shape ", shape);
  for (const Number value : values) check_holds("tensor", dtype, value);
  Array out = Array::empty(shape, dtype);
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::transform(values.begin(), values.end(), out.data<T>(), convert<T, Number>);
  });
  return constant(std::move(out), {}, "tensor");
}

}  // namespace

Tensor detail::tensor_of(std::span<const std::int64_t> values, const Shape& shape, DType usual,
                         const TensorOptions& options) {
  return make_with("tensor", options, usual,
                   [&](DType dtype) { return tensor_from(values, shape, dtype); });
}
Tensor detail::tensor_of(std::span<const double> values, const Shape& shape, DType usual,
                         const TensorOptions& options) {
  return make_with("tensor", options, usual,
                   [&](DType dtype) { return tensor_from(values, shape, dtype); });
}

Tensor empty(const Shape& shape, Exactly<DType> dtype) {
  check_size("empty", shape, dtype);
  if (dtype == boolean) return zeros(shape, dtype);
  return Tensor(Array::empty(shape, dtype));
}
Tensor empty(const Shape& shape, const TensorOptions& options) {
  return make_with("empty", options, float32, [&](DType dtype) { return empty(shape, dtype); });
}

namespace {

Tensor filled(const char* operation, const Shape& shape, const Scalar& value, DType dtype) {
  check_holds(operation, dtype, value);
  check_size(operation, shape, dtype);
  return constant(Array::full(shape, value, dtype), {}, operation);
}

}  // namespace

Tensor full(const Shape& shape, const Scalar& value, std::optional<DType> dtype) {
  return filled("full", shape, value, dtype.value_or(own_dtype(value)));
}
Tensor full(const Shape& shape, const Scalar& value, const TensorOptions& options) {
  return make_with("full", options, own_dtype(value),
                   [&](DType dtype) { return full(shape, value, dtype); });
}
Tensor zeros(const Shape& shape, Exactly<DType> dtype) {
  return filled("zeros", shape, 0, dtype);
}
Tensor zeros(const Shape& shape, const TensorOptions& options) {
  return make_with("zeros", options, float32, [&](DType dtype) { return zeros(shape, dtype); });
}
Tensor ones(const Shape& shape, Exactly<DType> dtype) {
  return filled("ones", shape, 1, dtype);
}
Tensor ones(const Shape& shape, const TensorOptions& options) {
  return make_with("ones", options, float32, [&](DType dtype) { return ones(shape, dtype); });
}

namespace {

Tensor filled_like(const char* operation, const Tensor& like, const Scalar& value,
                   std::optional<DType> dtype) {
  const DType wanted = dtype.value_or(like.dtype());
  check_holds(operation, wanted, value);
  check_size(operation, like.shape(), wanted);
  Array out = Array::empty_like(like.shape(), wanted, {&like.array()});
  out.fill(value);
  return constant(std::move(out), {}, operation);
}

}  // namespace

Tensor full_like(const Tensor& like, const Scalar& value, std::optional<DType> dtype) {
  return filled_like("full_like", like, value, dtype);
}
Tensor zeros_like(const Tensor& like, std::optional<DType> dtype) {
  return filled_like("zeros_like", like, 0, dtype);
}
Tensor ones_like(const Tensor& like, std::optional<DType> dtype) {
  return filled_like("ones_like", like, 1, dtype);
}

Tensor empty_like(const Tensor& like, std::optional<DType> dtype) {
  const DType wanted = dtype.value_or(like.dtype());
  check_size("empty_like", like.shape(), wanted);
  if (wanted == boolean) return zeros_like(like, wanted);
  return Tensor(Array::empty_like(like.shape(), wanted, {&like.array()}));
}

Tensor full_like(const Tensor& like, const Scalar& value, const TensorOptions& options) {
  return make_with("full_like", options, like.dtype(),
                   [&](DType dtype) { return full_like(like, value, dtype); });
}
Tensor zeros_like(const Tensor& like, const TensorOptions& options) {
  return make_with("zeros_like", options, like.dtype(),
                   [&](DType dtype) { return zeros_like(like, dtype); });
}
Tensor ones_like(const Tensor& like, const TensorOptions& options) {
  return make_with("ones_like", options, like.dtype(),
                   [&](DType dtype) { return ones_like(like, dtype); });
}
Tensor empty_like(const Tensor& like, const TensorOptions& options) {
  return make_with("empty_like", options, like.dtype(),
                   [&](DType dtype) { return empty_like(like, dtype); });
}

namespace {

[[noreturn]] void fail_range(double start, double end, double step) {
  fail("arange", "cannot count from ", start, " to ", end, " in steps of ", step);
}

// The number of elements of start, start + step and so on up to `end`, which is excluded.
std::int64_t count_steps(std::int64_t start, std::int64_t end, std::int64_t step) {
  if (step == 0 || (step > 0 ? end < start : end > start)) {
    fail_range(static_cast<double>(start), static_cast<double>(end), static_cast<double>(step));
  }
  if (start == end) return 0;
  // The distance may not fit in int64.
  const auto from = static_cast<std::uint64_t>(start), to = static_cast<std::uint64_t>(end),
             pace = static_cast<std::uint64_t>(step);
  const std::uint64_t steps = step > 0 ? (to - from - 1) / pace : (from - to - 1) / (0 - pace);
  if (!std::in_range<std::int64_t>(steps + 1)) {
    fail_range(static_cast<double>(start), static_cast<double>(end), static_cast<double>(step));
  }
  return static_cast<std::int64_t>(steps + 1);
}

std::int64_t count_steps(double start, double end, double step) {
  const double steps = std::ceil((end - start) / step);
  // Also false for NaN. The quotient may round to zero, so its sign does not show the direction.
  const bool leads = std::isfinite(start) && std::isfinite(end) &&
                     ((step > 0 && end >= start) || (step < 0 && end <= start)) && steps >= 0;
  if (!leads || steps >= 0x1p63) fail_range(start, end, step);
  return static_cast<std::int64_t>(steps);
}

DType arange_dtype(const Scalar& start, const Scalar& end, const Scalar& step) {
  DType dtype = int64;
  for (const Scalar& number : {start, end, step}) dtype = promote_types(dtype, own_dtype(number));
  return dtype;
}

}  // namespace

Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step,
              std::optional<DType> dtype) {
  const DType out_dtype = dtype.value_or(arange_dtype(start, end, step));
  for (const Scalar& number : {start, end, step}) check_integer("arange", out_dtype, number);
  const std::int64_t count =
      out_dtype == int64
          ? count_steps(start.to<std::int64_t>(), end.to<std::int64_t>(), step.to<std::int64_t>())
          : count_steps(start.to<double>(), end.to<double>(), step.to<double>());
  check_size("arange", {count}, out_dtype);
  Array out = Array::empty({count}, out_dtype);
  kernels::arange(out, start, step);
  return constant(std::move(out), {});
}

Tensor arange(const Scalar& end, std::optional<DType> dtype) {
  return arange(0, end, 1, dtype);
}
Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step,
              const TensorOptions& options) {
  return make_with("arange", options, arange_dtype(start, end, step),
                   [&](DType dtype) { return arange(start, end, step, dtype); });
}
Tensor arange(const Scalar& start, const Scalar& end, Exactly<DType> dtype) {
  return arange(start, end, 1, dtype);
}
Tensor arange(const Scalar& start, const Scalar& end, const TensorOptions& options) {
  return arange(start, end, 1, options);
}
Tensor arange(const Scalar& end, const TensorOptions& options) {
  return arange(0, end, 1, options);
}

Tensor linspace(const Scalar& start, const Scalar& end, std::int64_t steps, Exactly<DType> dtype) {
  if (steps < 0) fail<ShapeError>("linspace", "needs 0 steps or more, got ", steps);
  check_size("linspace", {steps}, dtype);
  for (const Scalar& bound : {start, end}) check_holds("linspace", dtype, bound);
  Array out = Array::empty({steps}, dtype);
  kernels::linspace(out, start, end);
  return constant(std::move(out), {});
}
Tensor linspace(const Scalar& start, const Scalar& end, std::int64_t steps,
                const TensorOptions& options) {
  return make_with("linspace", options, float32,
                   [&](DType dtype) { return linspace(start, end, steps, dtype); });
}

Tensor eye(std::int64_t n, std::int64_t m, Exactly<DType> dtype) {
  if (n < 0 || m < 0) {
    fail<ShapeError>("eye", "the numbers of rows and columns must not be negative, got ", n,
                     " and ", m);
  }
  check_size("eye", {n, m}, dtype);
  Array out = Array::empty({n, m}, dtype);
  kernels::eye(out);
  return constant(std::move(out), {});
}
Tensor eye(std::int64_t n, Exactly<DType> dtype) {
  return eye(n, n, dtype);
}
Tensor eye(std::int64_t n, std::int64_t m, const TensorOptions& options) {
  return make_with("eye", options, float32, [&](DType dtype) { return eye(n, m, dtype); });
}
Tensor eye(std::int64_t n, const TensorOptions& options) {
  return eye(n, n, options);
}

Tensor tril_indices(std::int64_t rows, std::int64_t columns, std::int64_t offset) {
  check_size("tril_indices", {rows, columns}, boolean);
  return transpose(nonzero(tril(ones({rows, columns}, boolean), offset)), 0, 1).contiguous();
}
Tensor triu_indices(std::int64_t rows, std::int64_t columns, std::int64_t offset) {
  check_size("triu_indices", {rows, columns}, boolean);
  return transpose(nonzero(triu(ones({rows, columns}, boolean), offset)), 0, 1).contiguous();
}

Tensor from_blob(void* data, const Shape& shape, const Shape& strides, DType dtype,
                 std::function<void(void*)> deleter) {
  return Tensor(Array::from_blob(Borrowed(data, std::move(deleter)), shape, strides, dtype));
}
Tensor from_blob(void* data, const Shape& shape, DType dtype, std::function<void(void*)> deleter) {
  Borrowed memory(data, std::move(deleter));  // runs the deleter if contiguous_strides throws
  return Tensor(Array::from_blob(std::move(memory), shape, contiguous_strides(shape), dtype));
}

}  // namespace tend
