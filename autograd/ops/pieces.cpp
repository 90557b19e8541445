#include <tend/autograd/ops/pieces.h>

#include <algorithm>

#include <tend/autograd/graph/naming.h>
#include <tend/autograd/ops/helpers.h>
#include <tend/autograd/ops/views.h>
#include <tend/autograd/tensor/tensor.h>

namespace tend {
namespace {

std::int64_t size_along(const char* operation, const Tensor& self, std::int64_t dim) {
  return self.shape()[own_dim(operation, self, dim)];
}

// Returns an empty vector with memory for `count` pieces. A dimension may have more elements than
// there is memory for tensors, because an expanded view of one element can have any size.
std::vector<Tensor> room_for(const char* operation, std::int64_t count) {
  constexpr std::int64_t kMax = 1 << 24;  // some gigabytes of tensors
  if (count > kMax) fail<OutOfMemoryError>(operation, "no room for ", count, " tensors");
  std::vector<Tensor> pieces;
  pieces.reserve(static_cast<std::size_t>(count));
  return pieces;
}

}  // namespace

std::vector<Tensor> split(const Tensor& self, std::int64_t size, std::int64_t dim) {
  const std::int64_t total = size_along("split", self, dim);
  if (size < 0 || (size == 0 && total > 0))
    fail<ShapeError>("split", "the pieces cannot have size ", size);
  std::vector<Tensor> pieces = room_for("split", size == 0 ? 1 : (total - 1) / size + 1);
  for (std::int64_t start = 0;; start += size) {
    pieces.push_back(narrow(self, dim, start, std::min(size, total - start)));
    if (size >= total - start) return pieces;
  }
}

std::vector<Tensor> split(const Tensor& self, const Shape& sizes, std::int64_t dim) {
  const std::int64_t total = size_along("split", self, dim);
  std::int64_t rest = total;
  for (const std::int64_t size : sizes) {
    if (size < 0 || size > rest) {
      fail<ShapeError>("split", "sizes ", sizes, " do not add up to ", total, ", dimension ", dim,
                       " of ", self.shape());
    }
    rest -= size;
  }
  if (rest != 0) {
    fail<ShapeError>("split", "sizes ", sizes, " do not add up to ", total, ", dimension ", dim,
                     " of ", self.shape());
  }
  std::vector<Tensor> pieces = room_for("split", sizes.rank());
  std::int64_t start = 0;
  for (const std::int64_t size : sizes) {
    pieces.push_back(narrow(self, dim, start, size));
    start += size;
  }
  return pieces;
}

std::vector<Tensor> chunk(const Tensor& self, std::int64_t chunks, std::int64_t dim) {
  if (chunks < 1) fail<ShapeError>("chunk", "needs at least 1 piece, got ", chunks);
  const std::int64_t total = size_along("chunk", self, dim);
  if (total == 0) {
    room_for("chunk", chunks);
    return split(self, Shape::filled(static_cast<std::size_t>(chunks), 0), dim);
  }
  const std::int64_t size = total / chunks + (total % chunks != 0);
  room_for("chunk", (total - 1) / size + 1);
  return split(self, size, dim);
}

std::vector<Tensor> unbind(const Tensor& self, std::int64_t dim) {
  const std::int64_t total = size_along("unbind", self, dim);
  std::vector<Tensor> pieces = room_for("unbind", total);
  for (std::int64_t i = 0; i < total; ++i) pieces.push_back(select(self, dim, i));
  return pieces;
}

std::vector<Tensor> tensor_split(const Tensor& self, std::int64_t sections, std::int64_t dim) {
  const std::int64_t total = size_along("tensor_split", self, dim);
  if (sections < 1) fail<ShapeError>("tensor_split", "needs at least 1 section, got ", sections);
  std::vector<Tensor> pieces = room_for("tensor_split", sections);
  std::int64_t start = 0;
  for (std::int64_t i = 0; i < sections; ++i) {
    const std::int64_t size = total / sections + (i < total % sections ? 1 : 0);
    pieces.push_back(narrow(self, dim, start, size));
    start += size;
  }
  return pieces;
}

std::vector<Tensor> tensor_split(const Tensor& self, const Shape& indices, std::int64_t dim) {
  const std::int64_t total = size_along("tensor_split", self, dim);
  std::vector<Tensor> pieces = room_for("tensor_split", indices.rank() + 1);
  std::int64_t start = 0;
  for (const std::int64_t stop : indices) {
    pieces.push_back(slice(self, dim, start, stop));
    start = stop;
  }
  pieces.push_back(slice(self, dim, start, total));
  return pieces;
}

std::vector<Tensor> tensor_split(const Tensor& self, const Tensor& indices_or_sections,
                                 std::int64_t dim) {
  const Array& where = indices_or_sections.array();
  if (where.dtype() != int64)
    fail<DTypeError>("tensor_split", "indices or sections must be int64, not ", where.dtype());
  if (where.rank() > 1)
    fail<ShapeError>("tensor_split", "indices or sections must be 0-d or 1-d, not ", where.shape());
  if (where.rank() == 0) return tensor_split(self, where.item<std::int64_t>(), dim);
  return tensor_split(self, Shape(where.to_vector<std::int64_t>()), dim);
}

std::vector<Tensor> tensor_split(const Tensor& self, std::initializer_list<std::int64_t> indices,
                                 std::int64_t dim) {
  return tensor_split(self, Shape(indices), dim);
}

}  // namespace tend
