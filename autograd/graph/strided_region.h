// The region of a base that a view shows. In-place writes through views need it to pass gradients.
#pragma once

#include <tend/autograd/graph/node.h>

namespace tend {

/// The positions of a view's elements among the elements of its base. The base has no overlapping
/// elements.
struct StridedRegion {
  StridedRegion(const Array& base, const Array& view);

  Shape base_shape, base_strides;
  Shape shape, strides;
  std::int64_t offset;  // from the base's first element to the view's
};

/// Copies the elements of `x` in the region.
///
/// `x` has the base's shape, and the result has the view's shape. The gradient is put_region of the
/// result's gradient.
Tensor take_region(const Tensor& x, const StridedRegion& region);

/// Adds `x` to the region of zeros of the base's shape: the transpose of take_region.
///
/// `x` has the view's shape. The gradient is take_region of the result's gradient.
Tensor put_region(const Tensor& x, const StridedRegion& region);

/// Sets the gradient of the input of a node whose result is the view.
///
/// The gradient is put_region of the result's gradient. Where possible it is added in place to the
/// gradients of earlier nodes. So each piece of a tensor costs only its own elements. The region
/// belongs to a row-major base, and names no element twice.
void give_region(Derivative& d, const StridedRegion& region);

/// Copies `x` with zeros in the region.
///
/// `x` has the base's shape. The gradient is clear_region of the result's gradient.
Tensor clear_region(const Tensor& x, const StridedRegion& region);

/// Returns `view` as a tensor whose history leads to `base`.
Tensor region_of(const Tensor& base, const Array& view);

/// Records a view of some elements of `self`. `view` makes it from an Array.
///
/// The gradient is the result's gradient at these elements, and zero elsewhere.
template <class View>
Tensor record_pick(const char* grad_fn, const Tensor& self, View view,
                   const char* operation = __builtin_FUNCTION()) {
  const auto put_back = [view, shape = self.shape()](Derivative& d) {
    const Array base = Array::layout(shape);
    give_region(d, StridedRegion(base, view(base)));
  };
  return record_view(grad_fn, self, view(self.array()), put_back, operation);
}

}  // namespace tend
