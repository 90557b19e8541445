#include <tend/autograd/tensor_impl.h>

#include <utility>

#include <tend/autograd/node.h>

namespace tend {

TensorImpl::TensorImpl(Array elements) : array(std::move(elements)) {}

TensorImpl::~TensorImpl() {
  if (grad_fn && grad_fn->retainer == this) grad_fn->retainer = nullptr;
}

void TensorImpl::destroy(TensorImpl* impl) noexcept {
  delete impl;
}

}  // namespace tend
