#include <tend/autograd/ops/joining.h>

#include <tend/autograd/ops/helpers.h>
#include <tend/core/kernels/indexing/shape_ops.h>
#include <tend/core/memory/scratch.h>

namespace tend {
namespace {

DType common_dtype(const char* operation, const std::vector<Tensor>& tensors) {
  if (tensors.empty()) fail<ShapeError>(operation, "needs at least one tensor");
  DType dtype = tensors[0].dtype();
  for (const Tensor& each : tensors) dtype = promote_types(dtype, each.dtype());
  return dtype;
}

// True for a tensor that cat leaves out.
bool is_nothing(const Tensor& tensor) {
  return tensor.dim() == 1 && tensor.numel() == 0;
}

// The shape of the result. It is the shape of the tensors that are not left out, with their sizes
// along `dim` added.
Shape cat_shape(const std::vector<Tensor>& tensors, std::int64_t dim) {
  const Tensor* first = nullptr;
  Shape shape = tensors[0].shape();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& each = tensors[i];
    if (each.dim() == 0) fail<ShapeError>("cat", "tensor ", i, " has no dimension to join along");
    if (is_nothing(each)) continue;
    if (first == nullptr) {
      first = &each;
      shape = each.shape();
      dim = wrap_dim("cat", dim, shape.rank());
      continue;
    }
    bool fits = each.dim() == first->dim();
    for (std::int64_t d = 0; fits && d < each.dim(); ++d) {
      if (d == dim || each.size(d) == first->size(d)) continue;
      fail<ShapeError>("cat", first->shape(), " and ", each.shape(), " (tensor ", i,
                       ") may differ only in dimension ", dim, ", but dimension ", d, " is ",
                       first->size(d), " and ", each.size(d));
    }
    if (!fits) {
      fail<ShapeError>("cat", first->shape(), " and ", each.shape(), " (tensor ", i,
                       ") have different ranks");
    }
    if (__builtin_add_overflow(shape[dim], each.size(dim), &shape[dim])) {
      fail<ShapeError>("cat", "the sizes along dimension ", dim, " of ", tensors.size(),
                       " tensors add up to more than an int64 can count");
    }
  }
  return shape;
}

Scratch<TensorRef> refs(const std::vector<Tensor>& tensors) {
  return {tensors.begin(), tensors.end()};
}

}  // namespace

Tensor cat(const std::vector<Tensor>& tensors, std::int64_t dim) {
  const DType dtype = common_dtype("cat", tensors);
  const Shape shape = cat_shape(tensors, dim);
  dim = wrap_dim("cat", dim, shape.rank());
  Array out = Array::empty(shape, dtype);
  Scratch<Array> parts;
  parts.reserve(tensors.size());
  constexpr std::int64_t kLeftOut = -1;
  Shape sizes;  // along dim
  for (const Tensor& each : tensors) {
    parts.push_back(each.array());
    sizes.push_back(is_nothing(each) ? kLeftOut : each.size(dim));
  }
  kernels::cat(out, parts, dim);
  return record("CatBackward0", std::move(out), refs(tensors), {}, [dim, sizes](Derivative& d) {
    std::int64_t start = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] == kLeftOut) {
        if (d.needs(i)) d.set(i, zeros({0}, d.grad().dtype()));
        continue;
      }
      if (d.needs(i)) d.set(i, narrow(d.grad(), dim, start, sizes[i]));
      start += sizes[i];
    }
  });
}
Tensor concat(const std::vector<Tensor>& tensors, std::int64_t dim) {
  return cat(tensors, dim);
}

Tensor hstack(const std::vector<Tensor>& tensors) {
  if (tensors.empty()) fail<ShapeError>("hstack", "needs at least one tensor");
  std::vector<Tensor> rows = tensors;
  for (Tensor& each : rows) {
    if (each.dim() == 0) each = reshape(each, {1});
  }
  return cat(rows, rows[0].dim() == 1 ? 0 : 1);
}

Tensor vstack(const std::vector<Tensor>& tensors) {
  if (tensors.empty()) fail<ShapeError>("vstack", "needs at least one tensor");
  std::vector<Tensor> rows = tensors;
  for (Tensor& each : rows) {
    if (each.dim() < 2) each = reshape(each, {1, each.numel()});
  }
  return cat(rows, 0);
}

Tensor stack(const std::vector<Tensor>& tensors, std::int64_t dim) {
  const DType dtype = common_dtype("stack", tensors);
  Shape shape = tensors[0].shape();
  dim = wrap_dim("stack", dim, shape.rank() + 1);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].shape() == shape) continue;
    fail<ShapeError>("stack", "all tensors must have one shape: the first has ", shape, ", tensor ",
                     i, " has ", tensors[i].shape());
  }
  shape.insert(dim, static_cast<std::int64_t>(tensors.size()));
  Array out = Array::empty(shape, dtype);
  Scratch<Array> parts;
  parts.reserve(tensors.size());
  for (const Tensor& each : tensors) parts.push_back(each.array().unsqueeze(dim));
  kernels::cat(out, parts, dim);
  return record("StackBackward0", std::move(out), refs(tensors), {},
                [dim, count = tensors.size()](Derivative& d) {
                  for (std::size_t i = 0; i < count; ++i) {
                    if (d.needs(i)) d.set(i, select(d.grad(), dim, static_cast<std::int64_t>(i)));
                  }
                });
}

std::vector<Tensor> meshgrid(const std::vector<Tensor>& tensors, OrWord<MeshIndexing> indexing) {
  if (tensors.empty()) fail<ShapeError>("meshgrid", "needs at least one tensor");
  Shape shape;
  for (const Tensor& tensor : tensors) {
    if (tensor.dim() > 1)
      fail<ShapeError>("meshgrid", "needs 1-d or 0-d tensors, got ", tensor.shape());
    check_one_dtype("meshgrid", tensors[0], tensor);
    shape.push_back(tensor.numel());
  }
  std::vector<Tensor> grids;
  grids.reserve(tensors.size());
  for (std::int64_t d = 0; const Tensor& tensor : tensors) {
    Shape along = Shape::filled(tensors.size(), 1);
    along[d++] = tensor.numel();
    const Tensor grid = expand(reshape(tensor, along), shape);
    const bool swapped = indexing == MeshIndexing::xy && tensors.size() > 1;
    grids.push_back(swapped ? transpose(grid, 0, 1) : grid);
  }
  return grids;
}

}  // namespace tend
