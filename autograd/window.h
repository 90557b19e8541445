// A view seen from its base: what in-place writes through views need to pass gradients.
#pragma once

#include <tend/autograd/tensor.h>

namespace tend {

/// Where the elements of a view lie among those of its base, which has no overlapping elements.
struct Window {
  Window(const Array& base, const Array& view);

  Shape base_shape, base_strides;
  Shape shape, strides;
  std::int64_t offset;  // from the base's first element to the view's
};

/// The elements of `x`, which has the base's shape, at the view's places. A copy of the view's
/// shape.
Tensor take_window(const Tensor& x, const Window& window);

/// Zeros of the base's shape with `x`, which has the view's shape, added at the view's places: the
/// transpose of take_window.
Tensor put_window(const Tensor& x, const Window& window);

/// A copy of `x`, which has the base's shape, with zeros at the view's places.
Tensor clear_window(const Tensor& x, const Window& window);

/// The view of `base`, with its history.
Tensor window_of(const Tensor& base, const Array& view);

}  // namespace tend
