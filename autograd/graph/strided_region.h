// A view seen from its base: what in-place writes through views need to pass gradients.
#pragma once

#include <tend/autograd/graph/node.h>

namespace tend {

/// Where the elements of a view lie among those of its base, which has no overlapping elements.
struct StridedRegion {
  StridedRegion(const Array& base, const Array& view);

  Shape base_shape, base_strides;
  Shape shape, strides;
  std::int64_t offset;  // from the base's first element to the view's
};

/// The elements of `x`, which has the base's shape, at the view's places. A copy of the view's
/// shape.
Tensor take_region(const Tensor& x, const StridedRegion& region);

/// Zeros of the base's shape with `x`, which has the view's shape, added at the view's places: the
/// transpose of take_region.
Tensor put_region(const Tensor& x, const StridedRegion& region);

/// A copy of `x`, which has the base's shape, with zeros at the view's places.
Tensor clear_region(const Tensor& x, const StridedRegion& region);

/// The view of `base`, with its history.
Tensor region_of(const Tensor& base, const Array& view);

/// A view that picks elements of `self`; `view` makes it of an Array. The gradient is zero wherever
/// the view does not show an element.
template <class View>
Tensor record_pick(const char* grad_fn, const Tensor& self, View view,
                   const char* operation = __builtin_FUNCTION()) {
  const auto put_back = [view, shape = self.shape()](Derivative& d) {
    const Array base = Array::layout(shape);
    d.set(0, put_region(d.grad(), StridedRegion(base, view(base))));
  };
  return record_view(grad_fn, self, view(self.array()), put_back, operation);
}

}  // namespace tend
