// Functions whose parameters are made of several values: places, nested numbers, memory.
#include <array>
#include <span>

#include "tests/hostile/typed_calls.h"

namespace tend::test {
namespace {

std::vector<double> draw_numbers(Arguments& a) {
  std::vector<double> numbers;
  for (std::int64_t count = a.draws().between(0, 4); count > 0; --count)
    numbers.push_back(a.real());
  return numbers;
}

// f(x, {indices...}) for none to three indices.
template <class F>
DrawnCall with_indices(Arguments& a, F f) {
  const Tensor x = a.tensor();
  const std::int64_t count = a.draws().between(0, 3);
  std::vector<Index> indices;
  for (std::int64_t i = 0; i < count; ++i) indices.push_back(a.place());
  return [f, x, indices]() -> Tensors {
    const auto& i = indices;
    switch (i.size()) {
      case 0: return f(x, Indices{});
      case 1: return f(x, Indices{i[0]});
      case 2: return f(x, Indices{i[0], i[1]});
      default: return f(x, Indices{i[0], i[1], i[2]});
    }
  };
}

template <class Value>
PublicFunction index_put_of(const char* signature) {
  return by_hand(signature, [](Arguments& a) {
    const auto x = a.tensor();
    const auto value = drawn<Value>(a);
    const bool accumulate = a.flag();
    const Index i = a.place(), j = a.place();
    const bool two = a.flag();
    return DrawnCall([=]() -> Tensors {
      return {two ? x.index_put_({i, j}, value, accumulate) : x.index_put_({i}, value, accumulate)};
    });
  });
}

// Counts the calls of a deleter, which must be one.
template <class F>
DrawnCall with_deleter(bool throws, F make) {
  return [=]() -> Tensors {
    alignas(64) static std::array<std::byte, 4096> memory{};
    const auto calls = std::make_shared<int>(0);
    const auto check = [&] {
      if (*calls != 1) throw std::logic_error(as_text("the deleter was called ", *calls, " times"));
    };
    const auto deleter = [calls, throws](void*) {
      ++*calls;
      if (throws) throw std::runtime_error("the deleter throws");
    };
    try {
      make(memory.data(), std::function<void(void*)>(deleter));
    } catch (const Error&) {
      check();
      throw;
    }
    check();
    return {};
  };
}

// x[...], and what is assigned to it.
DrawnCall assignment(Arguments& a, bool scalar) {
  const Tensor x = a.tensor();
  const Index i = a.place(), j = a.place();
  const bool two = a.flag();
  const Tensor y = a.tensor();
  const Scalar number = a.scalar();
  const std::int64_t kind = a.draws().between(0, 4);
  a.say(as_text("assignment ", kind));
  return [=]() -> Tensors {
    const auto assign = [&](Indexed&& place, const auto& value) {
      switch (kind) {
        case 0: std::move(place) = value; break;
        case 1: std::move(place) += value; break;
        case 2: std::move(place) -= value; break;
        case 3: std::move(place) *= value; break;
        default: std::move(place) /= value; break;
      }
    };
    Indexed place = two ? x[{i, j}] : x[{i}];
    scalar ? assign(std::move(place), number) : assign(std::move(place), y);
    return {};
  };
}

template <class T>
Tensors read_as(const Tensor& x) {
  const std::vector<T> values = x.to_vector<T>();
  if (static_cast<std::int64_t>(values.size()) != x.numel())
    throw std::logic_error("lost elements");
  return {};
}

std::vector<PublicFunction> places() {
  return {
      by_hand("tensor(const std::vector<T>&, const Shape&, std::optional<DType>)",
              [](Arguments& a) {
                const std::vector<double> numbers = draw_numbers(a);
                const Shape shape = a.flag() ? Shape::filled(numbers.size(), 1) : drawn<Shape>(a);
                const auto dtype = drawn<std::optional<DType>>(a);
                return DrawnCall([=]() -> Tensors { return {tensor(numbers, shape, dtype)}; });
              }),
      by_hand("tensor(const std::vector<T>&, const Shape&, const TensorOptions&)",
              [](Arguments& a) {
                const std::vector<double> numbers = draw_numbers(a);
                const Shape shape = a.flag() ? Shape::filled(numbers.size(), 1) : drawn<Shape>(a);
                const auto options = drawn<TensorOptions>(a);
                return DrawnCall([=]() -> Tensors { return {tensor(numbers, shape, options)}; });
              }),
      by_hand("tensor(const std::vector<T>&)",
              [](Arguments& a) {
                return DrawnCall(
                    [numbers = draw_numbers(a)]() -> Tensors { return {tensor(numbers)}; });
              }),
      by_hand("tensor(const std::vector<T>&, D)",
              [](Arguments& a) {
                return DrawnCall([numbers = draw_numbers(a), dtype = a.dtype()]() -> Tensors {
                  return {tensor(numbers, dtype)};
                });
              }),
      by_hand("tensor(const std::vector<T>&, const TensorOptions&)",
              [](Arguments& a) {
                const std::vector<double> numbers = draw_numbers(a);
                const auto options = drawn<TensorOptions>(a);
                return DrawnCall([=]() -> Tensors { return {tensor(numbers, options)}; });
              }),
      by_hand("tensor(const NestedNumbers&, const TensorOptions&)",
              [](Arguments& a) {
                const std::vector<std::vector<double>> rows{draw_numbers(a), draw_numbers(a)};
                const auto options = drawn<TensorOptions>(a);
                return DrawnCall([=]() -> Tensors { return {tensor(rows, options)}; });
              }),
      by_hand("Tensor::new_tensor(const NestedNumbers&, std::optional<DType>)",
              [](Arguments& a) {
                const Tensor x = a.tensor();
                const std::vector<double> numbers = draw_numbers(a);
                const auto dtype = drawn<std::optional<DType>>(a);
                return DrawnCall([=]() -> Tensors { return {x.new_tensor(numbers, dtype)}; });
              }),
      by_hand("Tensor::new_tensor(const NestedNumbers&, const TensorOptions&)",
              [](Arguments& a) {
                const Tensor x = a.tensor();
                const std::vector<std::vector<double>> rows{draw_numbers(a), draw_numbers(a)};
                const auto options = drawn<TensorOptions>(a);
                return DrawnCall([=]() -> Tensors { return {x.new_tensor(rows, options)}; });
              }),
      by_hand("Tensor::sizes()",
              [](Arguments& a) {
                const Tensor x = a.tensor();
                return DrawnCall([=]() -> Tensors {
                  if (x.sizes() != x.shape()) fail("sizes", "differ from the shape");
                  x.sizes<2>();
                  return {};
                });
              }),
      by_hand("Tensor::chunk(std::int64_t)",
              [](Arguments& a) {
                const Tensor x = a.tensor();
                const auto length = drawn<std::int64_t>(a), d = drawn<std::int64_t>(a);
                return DrawnCall([=]() -> Tensors {
                  if (length > 2) return {x.chunk<3>(d)[2]};
                  if (length < 0) return {x.unbind<2>(d)[1]};
                  return {x.split<2>(length, d)[1], x.split<2>({length, 1}, d)[0]};
                });
              }),
      by_hand("index(const Tensor&, Indices)",
              [](Arguments& a) {
                return with_indices(
                    a, [](const Tensor& x, Indices i) -> Tensors { return {index(x, i)}; });
              }),
      by_hand("Tensor::operator[](Indices)",
              [](Arguments& a) {
                return with_indices(a,
                                    [](const Tensor& x, Indices i) -> Tensors { return {x[i]}; });
              }),
      by_hand("Tensor::operator[](const Index&)",
              [](Arguments& a) {
                const Tensor x = a.tensor();
                const Index i = a.place();
                return DrawnCall([=]() -> Tensors { return {x[i]}; });
              }),
      by_hand("index_put(const Tensor&, Indices, const Tensor&, Flag)",
              [](Arguments& a) {
                const Tensor values = a.tensor();
                const bool accumulate = a.flag();
                return with_indices(a, [=](const Tensor& x, Indices i) -> Tensors {
                  return {index_put(x, i, values, accumulate)};
                });
              }),
      by_hand("Tensor::index_put(Indices, const Tensor&, Flag)",
              [](Arguments& a) {
                const Tensor values = a.tensor();
                const bool accumulate = a.flag();
                return with_indices(a, [=](const Tensor& x, Indices i) -> Tensors {
                  return {x.index_put(i, values, accumulate)};
                });
              }),
      index_put_of<Tensor>("Tensor::index_put_(Indices, const Tensor&, Flag)"),
      index_put_of<Scalar>("Tensor::index_put_(Indices, const Scalar&, Flag)"),
  };
}

// Of a place, with a tensor or a number.
PublicFunction assigning(const char* signature, bool scalar) {
  PublicFunction function =
      by_hand(signature, [scalar](Arguments& a) { return assignment(a, scalar); });
  function.writes = {.anything = true};
  return function;
}

std::vector<PublicFunction> memory() {
  return {
      by_hand("from_blob(void*, const Shape&, DType, std::function<void(void*)>)",
              [](Arguments& a) {
                const Shape shape = a.sizes();
                const DType dtype = a.dtype();
                return with_deleter(a.draws().chance(0.1), [=](void* data, auto deleter) {
                  from_blob(data, shape, dtype, deleter);
                });
              }),
      by_hand("from_blob(void*, const Shape&, const Shape&, DType, std::function<void(void*)>)",
              [](Arguments& a) {
                const Shape shape = a.sizes(), strides = a.sizes();
                const DType dtype = a.dtype();
                return with_deleter(a.draws().chance(0.1), [=](void* data, auto deleter) {
                  from_blob(data, shape, strides, dtype, deleter);
                });
              }),
      by_hand("Array::from_blob(void*, const Shape&, const Shape&, DType, Borrowed::Deleter)",
              [](Arguments& a) {
                const Shape shape = a.sizes(), strides = a.sizes();
                const DType dtype = a.dtype();
                return with_deleter(a.draws().chance(0.1), [=](void* data, auto deleter) {
                  Array::from_blob(data, shape, strides, dtype, deleter);
                });
              }),
      by_hand("Array::from_blob(Borrowed, const Shape&, const Shape&, DType)",
              [](Arguments& a) {
                const Shape shape = a.sizes(), strides = a.sizes();
                const DType dtype = a.dtype();
                return with_deleter(a.draws().chance(0.1), [=](void* data, auto deleter) {
                  Array::from_blob(Borrowed(data, deleter), shape, strides, dtype);
                });
              }),
      by_hand("Array::from(std::span<const T>, const Shape&)",
              [](Arguments& a) {
                const Shape shape = a.sizes();
                const auto count = static_cast<std::size_t>(a.draws().between(0, 12));
                return DrawnCall([=]() -> Tensors {
                  const std::vector<double> values(count);
                  return tensors_in(Array::from<double>(values, shape));
                });
              }),
      by_hand("infer_shape(std::string_view, const Shape&, std::int64_t)",
              [](Arguments& a) {
                const Shape shape = a.sizes();
                const std::int64_t count = a.draws().between(0, 24);
                return DrawnCall([=] { return tensors_in(infer_shape("test", shape, count)); });
              }),
      TEND_FUNCTION(Array::full, const Shape&, const Scalar&, DType),
      TEND_FUNCTION(Array::zeros, const Shape&, DType),
      TEND_FUNCTION(Array::scalar, const Scalar&, DType),
  };
}

// Those whose overloads have deduced results, of which no pointer can be made.
template <class All, class Along>
void add_extremum(std::vector<PublicFunction>& list, const std::string& name, All all,
                  Along along) {
  list.push_back(by_hand(name + "()", [all](Arguments& a) {
    const Tensor x = a.tensor();
    return DrawnCall([=] { return tensors_in(all(x)); });
  }));
  list.push_back(by_hand(name + "(Integer, Flag)", [along](Arguments& a) {
    const Tensor x = a.tensor();
    const std::int64_t d = a.integer();
    const bool keepdim = a.flag();
    return DrawnCall([=] { return tensors_in(along(x, d, keepdim)); });
  }));
}

std::vector<PublicFunction> extrema() {
  using T = const Tensor&;
  std::vector<PublicFunction> list;
  add_extremum(
      list, "Tensor::max", [](T x) { return x.max(); },
      [](T x, std::int64_t d, bool keepdim) { return x.max(d, keepdim); });
  add_extremum(
      list, "Tensor::min", [](T x) { return x.min(); },
      [](T x, std::int64_t d, bool keepdim) { return x.min(d, keepdim); });
  add_extremum(
      list, "Tensor::median", [](T x) { return x.median(); },
      [](T x, std::int64_t d, bool keepdim) { return x.median(d, keepdim); });
  return list;
}

std::vector<PublicFunction> readers() {
  const auto of_dtype = [](Arguments& a, auto f) {
    const Tensor x = a.tensor();
    const DType dtype = a.dtype();
    return DrawnCall([=]() -> Tensors {
      return visit_dtype(dtype, [&](auto tag) -> Tensors {
        f(x, tag);
        return {};
      });
    });
  };
  const auto reader = [&](const char* signature, auto f) {
    return by_hand(signature, [of_dtype, f](Arguments& a) { return of_dtype(a, f); });
  };
  return {
      reader("Tensor::to_vector()",
             [](const Tensor& x, auto tag) { read_as<typename decltype(tag)::type>(x); }),
      reader(
          "Array::to_vector()",
          [](const Tensor& x, auto tag) { x.array().to_vector<typename decltype(tag)::type>(); }),
      reader("Tensor::item()",
             [](const Tensor& x, auto tag) { x.item<typename decltype(tag)::type>(); }),
      reader("Array::item()",
             [](const Tensor& x, auto tag) { x.array().item<typename decltype(tag)::type>(); }),
      reader("Tensor::data_ptr()",
             [](const Tensor& x, auto tag) { x.data_ptr<typename decltype(tag)::type>(); }),
      reader("Array::data()",
             [](const Tensor& x, auto tag) { x.array().data<typename decltype(tag)::type>(); }),
      reader("Tensor::span()",
             [](const Tensor& x, auto tag) { x.span<typename decltype(tag)::type>(); }),
      reader("Tensor::array()", [](const Tensor& x, auto) { x.array(); }),
      reader("Tensor::begin()",
             [](const Tensor& x, auto) {
               std::int64_t rows = 0;
               for (const Tensor row : x) {
                 if (++rows == 100) break;
               }
             }),
      by_hand("tensor(const NestedNumbers&, Exactly<DType>)",
              [](Arguments& a) {
                const Scalar p = a.scalar(), q = a.scalar();
                const DType dtype = a.dtype();
                const std::int64_t kind = a.draws().between(0, 3);
                return DrawnCall([=]() -> Tensors {
                  const double x = p.to<double>();
                  const std::int64_t n = q.to<std::int64_t>();
                  if (kind == 0) return {tensor(x, dtype)};
                  if (kind == 1) return {tensor({{x, 1.0}, {2.0, x}}, dtype), tensor({n, n})};
                  if (kind == 2) return {tensor({{1, 2}, {3}}, dtype)};
                  return {tensor({NestedNumbers({}), NestedNumbers({})}, dtype)};
                });
              }),
  };
}

}  // namespace

std::vector<PublicFunction> value_functions() {
  std::vector<PublicFunction> all = places();
  for (auto family : {memory(), readers(), extrema()})
    all.insert(all.end(), family.begin(), family.end());
  all.push_back(assigning("Indexed::operator=(const Tensor&)", false));
  all.push_back(assigning("Indexed::operator=(const Scalar&)", true));
  return all;
}

}  // namespace tend::test
