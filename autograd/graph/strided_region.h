// The region of a base that a view shows: in-place writes through views need it to pass gradients.
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

/// A copy, of the view's shape, of the elements of `x`, which has the base's shape, in the region.
Tensor take_region(const Tensor& x, const StridedRegion& region);

/// Zeros of the base's shape with `x`, which has the view's shape, added in the region: the
/// transpose of take_region.
Tensor put_region(const Tensor& x, const StridedRegion& region);

/// Gives the input of a node, whose result is the view, its gradient: put_region of the result's,
/// added in place to what earlier nodes gave where that is possible. So the pieces of a tensor cost
/// no more than their own elements each. The region is that of a row-major base, and names no
/// element twice.
void give_region(Derivative& d, const StridedRegion& region);

/// A copy of `x`, which has the base's shape, with zeros in the region.
Tensor clear_region(const Tensor& x, const StridedRegion& region);

/// `view` as a tensor whose history is that of `base`.
Tensor region_of(const Tensor& base, const Array& view);

/// A view that shows some elements of `self`; `view` makes it from an Array. The gradient of all
/// other elements is zero.
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
