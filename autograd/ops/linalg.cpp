#include <tend/autograd/ops/linalg.h>

#include <tend/autograd/ops/helpers.h>
#include <tend/core/gemm.h>

namespace tend {
namespace {

void check_dtypes(const char* operation, const Tensor& a, const Tensor& b) {
  if (a.dtype() == b.dtype()) return;
  fail<DTypeError>(operation, "the dtypes differ: ", a.dtype(), " and ", b.dtype());
}

void check_ranks(const char* operation, const Tensor& a, std::int64_t a_rank, const Tensor& b,
                 std::int64_t b_rank) {
  if (a.dim() == a_rank && b.dim() == b_rank) return;
  fail<ShapeError>(operation, "needs tensors of ", a_rank, " and ", b_rank, " dimensions, got ",
                   a.shape(), " and ", b.shape());
}

// All dimensions but the last as one.
Tensor as_rows(const Tensor& x) {
  Shape leading = x.shape();
  leading.erase(leading.rank() - 1);
  return reshape(x, {element_count(leading), x.size(-1)});
}

// Vectors become matrices of one row (first) or one column (second).
void product_gradients(Derivative& d, std::int64_t a_rank, std::int64_t b_rank) {
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
    // Where all batches of a share one b, they are the rows of one long matrix.
    const bool shared = a_rank > 2 && b_rank <= 2;
    const Tensor grad =
        shared ? matmul(t(as_rows(a)), as_rows(g)) : matmul(transpose(a, -2, -1), g);
    d.set(1, b_rank == 1 ? squeeze(grad, -1) : grad);
  }
}

// The product for every name that it goes by.
Tensor product(const char* operation, const char* node, const Tensor& a, const Tensor& b) {
  check_dtypes(operation, a, b);
  Array out = Array::empty(kernels::matmul_shape(operation, a.shape(), b.shape()), a.dtype());
  kernels::matmul(out, a.array(), b.array());
  return record(node, std::move(out), {a, b},
                {save_if(b.requires_grad(), a), save_if(a.requires_grad(), b)},
                [a_rank = a.dim(), b_rank = b.dim()](Derivative& d) {
                  product_gradients(d, a_rank, b_rank);
                });
}

// PyTorch's name of the node, which tells how torch.matmul multiplied.
const char* matmul_node(std::int64_t a_rank, std::int64_t b_rank) {
  if (a_rank == 1 && b_rank == 1) return "DotBackward0";
  if (a_rank == 2 && b_rank == 2) return "MmBackward0";
  if (a_rank == 2 && b_rank == 1) return "MvBackward0";
  if (a_rank == 1 && b_rank == 2) return "SqueezeBackward4";
  return a_rank > 2 && b_rank > 2 ? "UnsafeViewBackward0" : "ViewBackward0";
}

}  // namespace

Tensor matmul(const Tensor& self, const Tensor& other) {
  return product("matmul", matmul_node(self.dim(), other.dim()), self, other);
}

Tensor dot(const Tensor& self, const Tensor& other) {
  check_ranks("dot", self, 1, other, 1);
  return product("dot", "DotBackward0", self, other);
}

Tensor mm(const Tensor& self, const Tensor& other) {
  check_ranks("mm", self, 2, other, 2);
  return product("mm", "MmBackward0", self, other);
}

Tensor mv(const Tensor& self, const Tensor& other) {
  check_ranks("mv", self, 2, other, 1);
  return product("mv", "MvBackward0", self, other);
}

Tensor bmm(const Tensor& self, const Tensor& other) {
  check_ranks("bmm", self, 3, other, 3);
  if (self.size(0) != other.size(0)) {
    fail<ShapeError>("bmm", self.shape(), " x ", other.shape(), ": dimension 0 is ", self.size(0),
                     " and ", other.size(0));
  }
  return product("bmm", "BmmBackward0", self, other);
}

namespace {

// `start` repeated to a result's shape: what a product is added to.
Array sum_start(const char* operation, const Tensor& start, const Shape& shape) {
  if (!broadcasts_to(start.shape(), shape)) {
    fail<ShapeError>(operation, "what is added has shape ", start.shape(),
                     ", which does not broadcast to the product's ", shape);
  }
  return start.array().expand(shape).clone();
}

Tensor scaled(const Tensor& x, const Scalar& factor) {
  return factor.to<double>() == 1 ? x : x * factor;
}

}  // namespace

Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
             const Scalar& alpha) {
  check_ranks("addmm", mat1, 2, mat2, 2);
  check_dtypes("addmm", mat1, mat2);
  check_dtypes("addmm", self, mat1);
  const Shape shape = kernels::matmul_shape("addmm", mat1.shape(), mat2.shape());
  Array out = sum_start("addmm", self, shape);
  kernels::matmul(out, mat1.array(), mat2.array(), alpha.to<double>(), beta.to<double>());
  return record("AddmmBackward0", std::move(out), {self, mat1, mat2},
                {save_if(mat2.requires_grad(), mat1), save_if(mat1.requires_grad(), mat2)},
                [alpha, beta](Derivative& d) {
                  if (d.needs(0)) d.set(0, scaled(d.grad(), beta));
                  if (d.needs(1)) d.set(1, scaled(mm(d.grad(), t(d.saved(1))), alpha));
                  if (d.needs(2)) d.set(2, scaled(mm(t(d.saved(0)), d.grad()), alpha));
                });
}

namespace {

// PyTorch's name of the node, which tells how its linear multiplied.
const char* linear_node(std::int64_t rank, bool bias) {
  if (rank == 1) return bias ? "ViewBackward0" : "SqueezeBackward4";
  if (rank == 2) return bias ? "AddmmBackward0" : "MmBackward0";
  return bias ? "ViewBackward0" : "UnsafeViewBackward0";
}

Array linear_result(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (weight.dim() != 2) {
    fail<ShapeError>("linear", "the weight has shape ", weight.shape(), ", not (out, in)");
  }
  check_dtypes("linear", x, weight);
  if (bias.defined()) check_dtypes("linear", x, bias);
  if (x.dim() == 0 || x.size(-1) != weight.size(1)) {
    fail<ShapeError>("linear", "input ", x.shape(), " and weight ", weight.shape(),
                     ": the last dimension of the input is not the weight's, ", weight.size(1));
  }
  Shape shape = x.shape();
  shape[shape.rank() - 1] = weight.size(0);
  Array out = bias.defined() ? sum_start("linear", bias, shape) : Array::empty(shape, x.dtype());
  kernels::matmul(out, x.array(), weight.array().transpose(0, 1), 1, bias.defined() ? 1 : 0);
  return out;
}

}  // namespace

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  return record(
      linear_node(x.dim(), bias.defined()), linear_result(x, weight, bias), {x, weight, bias},
      {save_if(weight.requires_grad(), x), save_if(x.requires_grad(), weight)}, [](Derivative& d) {
        if (d.needs(0)) d.set(0, matmul(d.grad(), d.saved(1)));
        if (d.needs(1)) d.set(1, mm(t(as_rows(d.grad())), as_rows(d.saved(0))));
        if (d.needs(2)) d.set(2, d.grad());
      });
}

}  // namespace tend
