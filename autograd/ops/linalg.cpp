#include <tend/autograd/ops/linalg.h>

#include <tend/autograd/ops/helpers.h>
#include <tend/core/gemm.h>

namespace tend {
namespace {

Array product(const char* operation, const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype())
    fail<DTypeError>(operation, "the dtypes differ: ", a.dtype(), " and ", b.dtype());
  Array out = Array::empty(kernels::matmul_shape(operation, a.shape(), b.shape()), a.dtype());
  kernels::matmul(out, a.array(), b.array());
  return out;
}

// PyTorch's name of the node, which tells how torch.matmul multiplied.
const char* matmul_name(const Tensor& a, const Tensor& b) {
  if (a.dim() == 1 && b.dim() == 1) return "DotBackward0";
  if (a.dim() == 2 && b.dim() == 2) return "MmBackward0";
  if (a.dim() == 2 && b.dim() == 1) return "MvBackward0";
  if (a.dim() == 1 && b.dim() == 2) return "SqueezeBackward4";
  return a.dim() > 2 && b.dim() > 2 ? "UnsafeViewBackward0" : "ViewBackward0";
}

}  // namespace

Tensor matmul(const Tensor& self, const Tensor& other) {
  return record(matmul_name(self, other), product("matmul", self, other), {self, other},
                {save_if(other.requires_grad(), self), save_if(self.requires_grad(), other)},
                [a_rank = self.dim(), b_rank = other.dim()](Derivative& d) {
                  // Vectors become matrices of one row (first) or one column (second).
                  Tensor g = d.grad();
                  if (b_rank == 1) g = unsqueeze(g, -1);
                  if (a_rank == 1) g = unsqueeze(g, -2);
                  if (d.needs(0)) {
                    const Tensor b = b_rank == 1 ? unsqueeze(d.saved(1), -1) : d.saved(1);
                    const Tensor grad = matmul(g, transpose(b, -2, -1));
                    d.set(0, a_rank == 1 ? squeeze(grad, -2) : grad);
                  }
                  if (d.needs(1)) {
                    const Tensor a = a_rank == 1 ? unsqueeze(d.saved(0), -2) : d.saved(0);
                    const Tensor grad = matmul(transpose(a, -2, -1), g);
                    d.set(1, b_rank == 1 ? squeeze(grad, -1) : grad);
                  }
                });
}

Tensor dot(const Tensor& self, const Tensor& other) {
  if (self.dim() != 1 || other.dim() != 1) {
    fail<ShapeError>("dot", "needs two vectors, got ", self.shape(), " and ", other.shape());
  }
  return matmul(self, other);
}

}  // namespace tend
