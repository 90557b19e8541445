// The members of Array that copy or fill elements, for which they call kernels.
#include <tend/core/array/array.h>
#include <tend/core/kernels/elementwise/copy.h>

namespace tend {

Array Array::contiguous() const {
  return is_contiguous() ? *this : clone();
}

Array Array::clone() const {
  check_defined("clone");
  Array out = empty(shape_, dtype_);
  out.copy_from(*this);
  return out;
}

Array Array::converted(DType dtype) const {
  check_defined("to");
  Array out = empty_like(shape_, dtype, {this});
  out.copy_from(*this);
  return out;
}

void Array::copy_from(const Array& source) const {
  check_defined("copy");
  source.check_defined("copy");
  if (may_self_overlap()) {
    fail<ShapeError>("copy", "the elements to write, shape ", shape_, " with strides ", strides_,
                     ", name one element twice");
  }
  if (!broadcasts_to(source.shape_, shape_)) {
    fail<ShapeError>("copy", "source ", source.shape_, " does not broadcast to ", shape_);
  }
  // Elements that would be read after they are overwritten are read from a copy.
  const bool same_window = raw() == source.raw() && shape_ == source.shape_ &&
                           strides_ == source.strides_ && dtype_ == source.dtype_;
  const bool aliased = !same_window && may_overlap(source);
  if (!aliased && source.shape_ == shape_) return kernels::copy(*this, source);
  kernels::copy(*this, (aliased ? source.clone() : source).expand(shape_));
}

void Array::fill(const Scalar& value) const {
  if (numel_ == 1) {
    return visit_dtype(dtype_, [&](auto tag) {
      using T = typename decltype(tag)::type;
      *static_cast<T*>(raw()) = value.to<T>();
    });
  }
  kernels::fill(*this, value);
}

}  // namespace tend
