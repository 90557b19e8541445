#include <tend/autograd/graph/strided_region.h>

#include <tend/core/kernels/indexing/indexing.h>
#include <tend/core/kernels/indexing/shape_ops.h>
#include <tend/core/kernels/reduce/reduce.h>

namespace tend {
namespace {

// Zeros over everything that the base reaches in memory, gaps included. Where it has no elements,
// neither have its regions, and its strides can be any numbers.
Array buffer_for(const StridedRegion& region, DType dtype) {
  if (element_count(region.base_shape) == 0) return Array::zeros({0}, dtype);
  std::int64_t reach = 1;
  for (std::int64_t d = 0; d < region.base_shape.rank(); ++d) {
    reach += (region.base_shape[d] - 1) * region.base_strides[d];
  }
  return Array::zeros({reach}, dtype);
}

// A view that is expanded names an element more than once; such gradients add up.
Array sum_expanded(const Array& x, const StridedRegion& region) {
  Shape expanded;
  for (std::int64_t d = 0; d < region.shape.rank(); ++d) {
    if (region.strides[d] == 0 && region.shape[d] > 1) expanded.push_back(d);
  }
  if (expanded.empty()) return x;
  Array sum = Array::empty(reduced_shape(x.shape(), expanded, true), x.dtype());
  kernels::sum(sum, x, expanded);
  return sum;
}

// Adds the elements of `x`, one by one in their order, to the places of `buffer` that the region
// shows, be they the same.
void add_in_order(const Array& buffer, const Array& x, const StridedRegion& region) {
  const Array numbers = Array::empty(buffer.shape(), int64);
  kernels::arange(numbers, 0, 1);
  const Array places = numbers.as_strided(x.shape(), region.strides, region.offset);
  kernels::index_add(buffer, 0, places.reshape({x.numel()}), x.reshape({x.numel()}));
}

}  // namespace

StridedRegion::StridedRegion(const Array& base, const Array& view)
    : base_shape(base.shape()),
      base_strides(base.strides()),
      shape(view.shape()),
      strides(view.strides()),
      offset(view.offset() - base.offset()) {}

Tensor take_region(const Tensor& x, const StridedRegion& region) {
  Array base = x.array();
  if (base.strides() != region.base_strides) {  // then it is laid out as the base is
    const Array buffer = buffer_for(region, x.dtype());
    base = buffer.as_strided(region.base_shape, region.base_strides, 0);
    base.copy_from(x.array());
  }
  Array out = base.as_strided(region.shape, region.strides, base.offset() + region.offset).clone();
  return record("TakeRegionBackward", std::move(out), {x}, {},
                [region](Derivative& d) { d.set(0, put_region(d.grad(), region)); });
}

Tensor put_region(const Tensor& x, const StridedRegion& region) {
  const Array buffer = buffer_for(region, x.dtype());
  const Array sum = sum_expanded(x.array(), region);
  const Array places = buffer.as_strided(sum.shape(), region.strides, region.offset);
  if (places.may_self_overlap()) {
    add_in_order(buffer, sum, region);
  } else {
    places.copy_from(sum);
  }
  Array out = buffer.as_strided(region.base_shape, region.base_strides, 0).contiguous();
  return record("PutRegionBackward", std::move(out), {x}, {},
                [region](Derivative& d) { d.set(0, take_region(d.grad(), region)); });
}

Tensor clear_region(const Tensor& x, const StridedRegion& region) {
  const Array buffer = buffer_for(region, x.dtype());
  const Array base = buffer.as_strided(region.base_shape, region.base_strides, 0);
  base.copy_from(x.array());
  buffer.as_strided(region.shape, region.strides, region.offset).fill(0);
  return record("ClearRegionBackward", base, {x}, {},
                [region](Derivative& d) { d.set(0, clear_region(d.grad(), region)); });
}

Tensor region_of(const Tensor& base, const Array& view) {
  return record(
      "AsStridedBackward0", view, {base}, {},
      [region = StridedRegion(base.array(), view)](Derivative& d) {
        d.set(0, put_region(d.grad(), region));
      },
      "as_strided");
}

}  // namespace tend
