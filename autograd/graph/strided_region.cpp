#include <tend/autograd/graph/strided_region.h>

#include <tend/core/kernels/elementwise/arithmetic.h>
#include <tend/core/kernels/indexing/indexing.h>
#include <tend/core/kernels/indexing/shape_ops.h>
#include <tend/core/kernels/reduce/reduce.h>

namespace tend {
namespace {

// Returns zeros for all memory that the base reaches, including gaps. The strides of a base without
// elements can be any numbers, so they are not used.
Array buffer_for(const StridedRegion& region, DType dtype) {
  if (element_count(region.base_shape) == 0) return Array::zeros({0}, dtype);
  std::int64_t reach = 1;
  for (std::int64_t d = 0; d < region.base_shape.rank(); ++d) {
    reach += (region.base_shape[d] - 1) * region.base_strides[d];
  }
  return Array::zeros({reach}, dtype);
}

// Sums over expanded dimensions. An expanded view shows an element at several indices, whose
// gradients add up.
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

// Adds the elements of `x`, one by one in their order, to the elements of `buffer` in the region.
// Several indices of the region may name the same element.
void add_in_order(const Array& buffer, const Array& x, const StridedRegion& region) {
  const Array numbers = Array::empty(buffer.shape(), int64);
  kernels::arange(numbers, 0, 1);
  const Array places = numbers.as_strided(x.shape(), region.strides, region.offset);
  kernels::index_add(buffer, 0, places.reshape({x.numel()}), x.reshape({x.numel()}));
}

// True if the base is row-major, and the region's elements are among its elements. Both may be
// false after set_data gave the base other elements.
bool is_inside(const StridedRegion& region) {
  if (region.base_strides != contiguous_strides(region.base_shape) || region.offset < 0)
    return false;
  if (element_count(region.shape) == 0) return true;
  std::int64_t last = region.offset;
  for (std::int64_t d = 0; d < region.shape.rank(); ++d) {
    last += (region.shape[d] - 1) * region.strides[d];
  }
  return last < element_count(region.base_shape);
}

// These compute the elements of take_region, put_region and clear_region. Each returns new memory.

Array take(const Array& x, const StridedRegion& region) {
  if (x.is_contiguous() && is_inside(region)) {
    return x.as_strided(region.shape, region.strides, x.offset() + region.offset).clone();
  }
  const Array buffer = buffer_for(region, x.dtype());
  buffer.as_strided(region.base_shape, region.base_strides, 0).copy_from(x);
  return buffer.as_strided(region.shape, region.strides, region.offset).clone();
}

Array put(const Array& x, const StridedRegion& region) {
  const Array buffer = buffer_for(region, x.dtype());
  const Array sum = sum_expanded(x, region);
  const Array target = buffer.as_strided(sum.shape(), region.strides, region.offset);
  if (target.may_self_overlap()) {
    add_in_order(buffer, sum, region);
  } else {
    target.copy_from(sum);
  }
  return buffer.as_strided(region.base_shape, region.base_strides, 0).contiguous();
}

Array clear(const Array& x, const StridedRegion& region) {
  const Array buffer = buffer_for(region, x.dtype());
  Array base = buffer.as_strided(region.base_shape, region.base_strides, 0);
  base.copy_from(x);
  buffer.as_strided(region.shape, region.strides, region.offset).fill(0);
  return base;
}

}  // namespace

StridedRegion::StridedRegion(const Array& base, const Array& view)
    : base_shape(base.shape()),
      base_strides(base.strides()),
      shape(view.shape()),
      strides(view.strides()),
      offset(view.offset() - base.offset()) {}

Tensor take_region(const Tensor& x, const StridedRegion& region) {
  return record("TakeRegionBackward", take(x.array(), region), {x}, {},
                [region](Derivative& d) { d.set(0, put_region(d.grad(), region)); });
}

Tensor put_region(const Tensor& x, const StridedRegion& region) {
  return record("PutRegionBackward", put(x.array(), region), {x}, {},
                [region](Derivative& d) { d.set(0, take_region(d.grad(), region)); });
}

void give_region(Derivative& d, const StridedRegion& region) {
  const Array* sum = d.sum(0);
  if (sum == nullptr) return d.set(0, put_region(d.grad(), region));
  const Array places = sum->as_strided(region.shape, region.strides, sum->offset() + region.offset);
  kernels::add(places, places, d.grad().array());
}

Tensor clear_region(const Tensor& x, const StridedRegion& region) {
  return record("ClearRegionBackward", clear(x.array(), region), {x}, {},
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
