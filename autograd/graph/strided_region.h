// The region of its base that a view covers. The gradients of in-place writes to views need it.
#pragma once

#include <tend/autograd/graph/node.h>

namespace tend {

/// The positions of a view's elements among the elements of its base. The base has no overlapping
/// elements.
struct StridedRegion {
  StridedRegion(const Array& base, const Array& view);

  Shape base_shape, base_strides;
  Shape shape, strides;
  std::int64_t offset;  // from the base's first element to the view's first element
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

/// Sets the gradient of the input of a node whose result is a view of this input.
///
/// The gradient is put_region of the result's gradient. If possible it is added in place to the
/// gradients of other nodes. Then a small view of a large tensor needs time only for its own
/// elements. The base of the region must be row-major, and the view must not repeat elements.
void give_region(Derivative& d, const StridedRegion& region);

/// Copies `x`, and sets the elements of the copy in the region to 0.
///
/// `x` has the base's shape. The gradient is clear_region of the result's gradient.
Tensor clear_region(const Tensor& x, const StridedRegion& region);

/// Returns `view` as a tensor whose history leads to `base`.
Tensor region_of(const Tensor& base, const Array& view);

/// Records a view of some elements of `self`. `view` is a function that makes it from an Array.
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
