#include <tend/autograd/ops/linalg.h>

#include <algorithm>

#include <tend/autograd/ops/helpers.h>
#include <tend/core/kernels/matmul/gemm.h>
#include <tend/core/kernels/reduce/reduce.h>

namespace tend {
namespace {

using kernels::RowBits;

void check_ranks(const char* operation, const Tensor& a, std::int64_t a_rank, const Tensor& b,
                 std::int64_t b_rank) {
  if (a.dim() == a_rank && b.dim() == b_rank) return;
  fail<ShapeError>(operation, "needs tensors of ", a_rank, " and ", b_rank, " dimensions, got ",
                   a.shape(), " and ", b.shape());
}

// Returns x as a matrix: all dimensions except the last are merged into one.
Tensor as_rows(const Tensor& x) {
  Shape leading = x.shape();
  leading.erase(leading.rank() - 1);
  return reshape(x, {element_count(leading), x.size(-1)});
}

// PyTorch's name of the node, which depends on how torch.matmul computes the product.
const char* matmul_node(std::int64_t a_rank, std::int64_t b_rank) {
  if (a_rank == 1 && b_rank == 1) return "DotBackward0";
  if (a_rank == 2 && b_rank == 2) return "MmBackward0";
  if (a_rank == 2 && b_rank == 1) return "MvBackward0";
  if (a_rank == 1 && b_rank == 2) return "SqueezeBackward4";
  return a_rank > 2 && b_rank > 2 ? "UnsafeViewBackward0" : "ViewBackward0";
}

Tensor product(const char* operation, const char* node, const Tensor& a, const Tensor& b,
               RowBits rows = RowBits::same);

// Sets the gradient of an input to a @ b. If the input already has a gradient, the product is added
// to it in one pass (beta = 1).
void set_product(Derivative& d, std::size_t input, const Tensor& a, const Tensor& b,
                 RowBits rows = RowBits::same) {
  const Shape shape = kernels::matmul_shape("matmul", a.shape(), b.shape());
  const Array* sum = d.sum(input);
  if (sum != nullptr && sum->dtype() == a.dtype() && sum->shape() == shape) {
    kernels::matmul(*sum, a.array(), b.array(), 1, 1, rows);
  } else {
    d.set(input, product("matmul", matmul_node(a.dim(), b.dim()), a, b, rows));
  }
}

// Sets the gradients of the factors of a @ b, from its cotangent g. a is input a_input and
// saved(0), and b is the next input and saved(1). Vectors become matrices of one row (a) or one
// column (b).
void product_gradients(Derivative& d, std::size_t a_input, Tensor g, std::int64_t a_rank,
                       std::int64_t b_rank) {
  if (a_rank == 1 && b_rank == 1) {  // faster than products of matrices
    if (d.needs(a_input)) d.set(a_input, mul(g, d.saved(1)));
    if (d.needs(a_input + 1)) d.set(a_input + 1, mul(g, d.saved(0)));
    return;
  }
  if (b_rank == 1) g = unsqueeze(g, -1);
  if (a_rank == 1) g = unsqueeze(g, -2);
  if (d.needs(a_input)) {
    const Tensor b = b_rank == 1 ? unsqueeze(d.saved(1), -1) : d.saved(1);
    if (a_rank == 1) {
      d.set(a_input, squeeze(matmul(g, transpose(b, -2, -1)), -2));
    } else {
      set_product(d, a_input, g, transpose(b, -2, -1));
    }
  }
  if (d.needs(a_input + 1)) {
    const Tensor a = a_rank == 1 ? unsqueeze(d.saved(0), -2) : d.saved(0);
    // If all matrices of a are multiplied by one b, their rows form one long matrix.
    const bool shared = a_rank > 2 && b_rank <= 2;
    const Tensor left = shared ? t(as_rows(a)) : transpose(a, -2, -1);
    const Tensor right = shared ? as_rows(g) : g;
    if (b_rank == 1) {
      d.set(a_input + 1, squeeze(matmul(left, right), -1));
    } else {
      set_product(d, a_input + 1, left, right, shared ? RowBits::free : RowBits::same);
    }
  }
}

// a @ b, for all operations that are only this product.
Tensor product(const char* operation, const char* node, const Tensor& a, const Tensor& b,
               RowBits rows) {
  check_one_dtype(operation, a, b);
  Array out = Array::empty(kernels::matmul_shape(operation, a.shape(), b.shape()), a.dtype());
  kernels::matmul(out, a.array(), b.array(), 1, 0, rows);
  return record(
      node, std::move(out), {a, b}, {save_if(b.requires_grad(), a), save_if(a.requires_grad(), b)},
      [a_rank = a.dim(), b_rank = b.dim()](Derivative& d) {
        product_gradients(d, 0, d.grad(), a_rank, b_rank);
      },
      operation);
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

namespace {

void check_batches(const char* operation, const Tensor& a, const Tensor& b) {
  check_ranks(operation, a, 3, b, 3);
  if (a.size(0) == b.size(0)) return;
  fail<ShapeError>(operation, a.shape(), " x ", b.shape(),
                   ": both must have the same dimension 0, but it is ", a.size(0), " and ",
                   b.size(0));
}

}  // namespace

Tensor bmm(const Tensor& self, const Tensor& other) {
  check_batches("bmm", self, other);
  return product("bmm", "BmmBackward0", self, other);
}

namespace {

// Checks that `start`, to which a product is added, broadcasts to the product's `shape`.
//
// Throws: ShapeError - `start` does not broadcast to `shape`
void check_start(const char* operation, const Tensor& start, const Shape& shape) {
  if (broadcasts_to(start.shape(), shape)) return;
  fail<ShapeError>(operation, "the added tensor has shape ", start.shape(),
                   ", which does not broadcast to the product's ", shape);
}

// A copy of `start`, expanded to the product's shape.
Array sum_start(const char* operation, const Tensor& start, const Shape& shape) {
  check_start(operation, start, shape);
  return start.array().expand(shape).clone();
}

// beta * self + alpha * (a @ b), for all operations of that form.
Tensor add_product(const char* operation, const char* node, const Tensor& self, const Tensor& a,
                   const Tensor& b, const Scalar& beta, const Scalar& alpha) {
  check_one_dtype(operation, a, b);
  check_one_dtype(operation, self, a);
  check_holds(operation, self.dtype(), alpha);
  check_holds(operation, self.dtype(), beta);
  Array out = sum_start(operation, self, kernels::matmul_shape(operation, a.shape(), b.shape()));
  kernels::matmul(out, a.array(), b.array(), alpha, beta);
  return record(
      node, std::move(out), {self, a, b},
      {save_if(b.requires_grad(), a), save_if(a.requires_grad(), b)},
      [=, a_rank = a.dim(), b_rank = b.dim()](Derivative& d) {
        if (d.needs(0)) d.set(0, scaled(d.grad(), beta));
        product_gradients(d, 1, scaled(d.grad(), alpha), a_rank, b_rank);
      },
      operation);
}

}  // namespace

Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
             const Scalar& alpha) {
  check_ranks("addmm", mat1, 2, mat2, 2);
  return add_product("addmm", "AddmmBackward0", self, mat1, mat2, beta, alpha);
}
const Tensor& InPlace::addmm_(const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
                              const Scalar& alpha) const {
  return update("addmm_", self(), tend::addmm, mat1, mat2, beta, alpha);
}

Tensor addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta,
             const Scalar& alpha) {
  check_ranks("addmv", mat, 2, vec, 1);
  return add_product("addmv", "AddmvBackward0", self, mat, vec, beta, alpha);
}
const Tensor& InPlace::addmv_(const Tensor& mat, const Tensor& vec, const Scalar& beta,
                              const Scalar& alpha) const {
  return update("addmv_", self(), tend::addmv, mat, vec, beta, alpha);
}

Tensor baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
               const Scalar& alpha) {
  check_batches("baddbmm", batch1, batch2);
  return add_product("baddbmm", "BaddbmmBackward0", self, batch1, batch2, beta, alpha);
}
const Tensor& InPlace::baddbmm_(const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
                                const Scalar& alpha) const {
  return update("baddbmm_", self(), tend::baddbmm, batch1, batch2, beta, alpha);
}

Tensor addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
              const Scalar& alpha) {
  check_batches("addbmm", batch1, batch2);
  kernels::matmul_shape("addbmm", batch1.shape(), batch2.shape());  // throws if they do not fit
  // The sum of the products is one product. Its left factor is the matrices of batch1 side by side,
  // and its right factor is the matrices of batch2 one below the other.
  const std::int64_t depth = element_count({batch1.size(0), batch1.size(2)});
  const Tensor a = reshape(permute(batch1, {1, 0, 2}), {batch1.size(1), depth});
  const Tensor b = reshape(batch2, {depth, batch2.size(2)});
  return add_product("addbmm", "AddbmmBackward0", self, a, b, beta, alpha);
}
const Tensor& InPlace::addbmm_(const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
                               const Scalar& alpha) const {
  return update("addbmm_", self(), tend::addbmm, batch1, batch2, beta, alpha);
}

Tensor outer(const Tensor& self, const Tensor& other) {
  check_ranks("outer", self, 1, other, 1);
  return unsqueeze(self, -1) * other;
}

Tensor kron(const Tensor& self, const Tensor& other) {
  const std::int64_t rank = std::max(self.dim(), other.dim());
  Shape a, b, shape;  // a dimension of the result is two dimensions in a and b, and one in shape
  for (std::int64_t d = -rank; d < 0; ++d) {
    const std::int64_t size_a = -d <= self.dim() ? self.size(d) : 1;
    const std::int64_t size_b = -d <= other.dim() ? other.size(d) : 1;
    for (const std::int64_t n : {size_a, std::int64_t{1}}) a.push_back(n);
    for (const std::int64_t n : {std::int64_t{1}, size_b}) b.push_back(n);
    shape.push_back(element_count({size_a, size_b}));
  }
  return reshape(reshape(self, a) * reshape(other, b), shape);
}

Tensor diag(const Tensor& self, std::int64_t diagonal) {
  if (self.dim() == 1) return diag_embed(self, diagonal);
  if (self.dim() == 2) return clone(tend::diagonal(self, diagonal));
  fail<ShapeError>("diag", "needs a vector or a matrix, got ", self.shape());
}

Tensor diag_embed(const Tensor& self, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
  dim1 = wrap_dim("diag_embed", dim1, self.dim() + 1);
  dim2 = wrap_dim("diag_embed", dim2, self.dim() + 1);
  if (dim1 == dim2)
    fail<ShapeError>("diag_embed", "dim1 and dim2 must differ, but both are dimension ", dim1);
  std::int64_t side = 0;
  if (offset < 0 ? __builtin_sub_overflow(self.size(-1), offset, &side)
                 : __builtin_add_overflow(self.size(-1), offset, &side)) {
    fail<ShapeError>("diag_embed", "offset ", offset, " is too large");
  }
  Shape shape = self.shape();
  shape.erase(shape.rank() - 1);
  shape.insert(std::min(dim1, dim2), side);
  shape.insert(std::max(dim1, dim2), side);
  Array out = Array::zeros(shape, self.dtype());
  out.diagonal(offset, dim1, dim2).copy_from(self.array());
  return record("DiagEmbedBackward0", std::move(out), {self}, {},
                [=](Derivative& d) { d.set(0, diagonal(d.grad(), offset, dim1, dim2)); });
}

Tensor trace(const Tensor& self) {
  if (self.dim() != 2) fail<ShapeError>("trace", "needs a matrix, got ", self.shape());
  if (self.dtype() == boolean) fail<DTypeError>("trace", "does not accept bool");
  Array out = Array::empty({}, self.dtype());
  kernels::sum(out, self.array().diagonal(), {0});
  return record("TraceBackward0", std::move(out), {self}, {}, [shape = self.shape()](auto& d) {
    if (grad_enabled()) {
      // This is not a product with the mask, because an infinite cotangent times 0 is NaN.
      d.set(0, where(eye(shape[0], shape[1], boolean), d.grad(), 0));
    } else {
      Array gradient = Array::zeros(shape, d.grad().dtype());
      gradient.diagonal().copy_from(d.grad().array());
      d.set(0, Tensor(std::move(gradient)));
    }
  });
}

namespace {

// PyTorch's name of the node, which depends on how its linear computes the product.
const char* linear_node(std::int64_t rank, bool bias) {
  if (rank == 1) return bias ? "ViewBackward0" : "SqueezeBackward4";
  if (rank == 2) return bias ? "AddmmBackward0" : "MmBackward0";
  return bias ? "ViewBackward0" : "UnsafeViewBackward0";
}

void check_linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (weight.dim() != 1 && weight.dim() != 2) {
    fail<ShapeError>("linear", "the weight has shape ", weight.shape(), ", not (out, in) or (in,)");
  }
  check_one_dtype("linear", x, weight);
  if (bias.defined()) check_one_dtype("linear", x, bias);
  if (x.dim() == 0 || x.size(-1) != weight.size(-1)) {
    fail<ShapeError>("linear", "input ", x.shape(), " and weight ", weight.shape(),
                     ": the last dimension of the input must be the weight's, ", weight.size(-1));
  }
}

Array linear_result(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  Shape shape = x.shape();
  shape[shape.rank() - 1] = weight.size(0);
  if (bias.defined()) check_start("linear", bias, shape);
  Array out = Array::empty(shape, x.dtype());
  kernels::linear(out, x.array(), weight.array(), bias.defined() ? bias.array() : Array());
  return out;
}

}  // namespace

const Tensor& detail::undefined() {
  static const Tensor none;
  return none;
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  check_linear(x, weight, bias);
  if (weight.dim() == 1) {
    const Tensor out = matmul(x, weight);
    return bias.defined() ? out + bias : out;
  }
  return record(
      linear_node(x.dim(), bias.defined()), linear_result(x, weight, bias), {x, weight, bias},
      {save_if(weight.requires_grad(), x), save_if(x.requires_grad(), weight)}, [](Derivative& d) {
        if (d.needs(0)) set_product(d, 0, d.grad(), d.saved(1));
        if (d.needs(1)) {
          set_product(d, 1, t(as_rows(d.grad())), as_rows(d.saved(0)), RowBits::free);
        }
        if (d.needs(2)) d.set(2, d.grad());
      });
}

}  // namespace tend
