#include <tend/autograd/window.h>

#include <tend/autograd/node.h>
#include <tend/core/kernels/indexing.h>
#include <tend/core/kernels/reduce.h>
#include <tend/core/kernels/shape_ops.h>

namespace tend {
namespace {

// Zeros over everything that the base reaches in memory, gaps included. Where it has no elements,
// neither have its windows, and its strides can be any numbers.
Array buffer_for(const Window& window, DType dtype) {
  if (element_count(window.base_shape) == 0) return Array::zeros({0}, dtype);
  std::int64_t reach = 1;
  for (std::int64_t d = 0; d < window.base_shape.rank(); ++d) {
    reach += (window.base_shape[d] - 1) * window.base_strides[d];
  }
  return Array::zeros({reach}, dtype);
}

// A view that is expanded names an element more than once; such gradients add up.
Array sum_expanded(const Array& x, const Window& window) {
  Shape expanded;
  for (std::int64_t d = 0; d < window.shape.rank(); ++d) {
    if (window.strides[d] == 0 && window.shape[d] > 1) expanded.push_back(d);
  }
  if (expanded.empty()) return x;
  Array sum = Array::empty(reduced_shape(x.shape(), expanded, true), x.dtype());
  kernels::sum(sum, x, expanded);
  return sum;
}

// Adds the elements of `x`, one by one in their order, to the places of `buffer` that the window
// shows, be they the same.
void add_in_order(const Array& buffer, const Array& x, const Window& window) {
  const Array numbers = Array::empty(buffer.shape(), int64);
  kernels::arange(numbers, 0, 1);
  const Array places = numbers.as_strided(x.shape(), window.strides, window.offset);
  kernels::index_add(buffer, 0, places.reshape({x.numel()}), x.reshape({x.numel()}));
}

}  // namespace

Window::Window(const Array& base, const Array& view)
    : base_shape(base.shape()),
      base_strides(base.strides()),
      shape(view.shape()),
      strides(view.strides()),
      offset(view.offset() - base.offset()) {}

Tensor take_window(const Tensor& x, const Window& window) {
  const Array buffer = buffer_for(window, x.dtype());
  buffer.as_strided(window.base_shape, window.base_strides, 0).copy_from(x.array());
  Array out = buffer.as_strided(window.shape, window.strides, window.offset).clone();
  return record("TakeWindowBackward", std::move(out), {x}, {},
                [window](Derivative& d) { d.set(0, put_window(d.grad(), window)); });
}

Tensor put_window(const Tensor& x, const Window& window) {
  const Array buffer = buffer_for(window, x.dtype());
  const Array sum = sum_expanded(x.array(), window);
  const Array places = buffer.as_strided(sum.shape(), window.strides, window.offset);
  if (places.may_self_overlap()) {
    add_in_order(buffer, sum, window);
  } else {
    places.copy_from(sum);
  }
  Array out = buffer.as_strided(window.base_shape, window.base_strides, 0).clone();
  return record("PutWindowBackward", std::move(out), {x}, {},
                [window](Derivative& d) { d.set(0, take_window(d.grad(), window)); });
}

Tensor clear_window(const Tensor& x, const Window& window) {
  const Array buffer = buffer_for(window, x.dtype());
  const Array base = buffer.as_strided(window.base_shape, window.base_strides, 0);
  base.copy_from(x.array());
  buffer.as_strided(window.shape, window.strides, window.offset).fill(0);
  return record("ClearWindowBackward", base, {x}, {},
                [window](Derivative& d) { d.set(0, clear_window(d.grad(), window)); });
}

Tensor window_of(const Tensor& base, const Array& view) {
  return record("AsStridedBackward0", view, {base}, {},
                [window = Window(base.array(), view)](Derivative& d) {
                  d.set(0, put_window(d.grad(), window));
                });
}

}  // namespace tend
