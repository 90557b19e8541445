#include <tend/attention/models/position_embedding.h>

#include <tend/autograd/ops/ops.h>
#include <tend/nn/layers/embedding.h>

namespace tend::attention {
namespace {

const char* name_of(PositionKind kind) {
  switch (kind) {
    case PositionKind::learned: return "learned";
    case PositionKind::sinusoidal: return "sinusoidal";
    case PositionKind::rotary: return "rotary";
    case PositionKind::alibi: return "alibi";
    case PositionKind::none: break;
  }
  return "none";
}

}  // namespace

Tensor sinusoidal_positions(const Tensor& positions, std::int64_t width, DType dtype) {
  constexpr const char* kName = "sinusoidal_positions";
  if (width < 1) fail<ShapeError>(kName, "width must be at least 1, got ", width);
  if (positions.dtype() == boolean) fail<DTypeError>(kName, "positions are bool, not numbers");
  if (!is_floating(dtype)) fail<DTypeError>(kName, dtype, " is not floating");
  const Tensor exponents = arange(0, width, 2, float64) / static_cast<double>(width);
  const Tensor angles = positions.detach().to(float64).unsqueeze(-1) * pow(10000.0, -exponents);
  const Tensor pairs = stack({sin(angles), cos(angles)}, -1).flatten(-2);
  return pairs.narrow(-1, 0, width).to(dtype);
}

PositionEmbedding::PositionEmbedding(PositionKind positions, std::int64_t length, std::int64_t size)
    : kind(positions), context_length(length), width(size) {
  if (length < 0 || size < 0) {
    fail<ShapeError>("PositionEmbedding", "context_length ", length, " and width ", size,
                     " must not be negative");
  }
  if (kind == PositionKind::learned) weight = nn::Embedding(length, size).weight;
}

Tensor PositionEmbedding::forward(const Tensor& positions) const {
  if (!is_added()) fail("PositionEmbedding", "there are no vectors of kind ", name_of(kind));
  if (kind == PositionKind::learned) return embedding(positions, weight);
  if (positions.dtype() != int64)
    fail<DTypeError>("PositionEmbedding", "positions must be int64, not ", positions.dtype());
  if (positions.numel() > 0) {
    const auto lowest = min(positions).item<std::int64_t>();
    const auto highest = max(positions).item<std::int64_t>();
    if (lowest < 0 || highest >= context_length) {
      fail<IndexError>("PositionEmbedding", "position ", lowest < 0 ? lowest : highest,
                       " is out of range for a context_length of ", context_length);
    }
  }
  return sinusoidal_positions(positions, width);
}

Tensor PositionEmbedding::range(std::int64_t first, std::int64_t count) const {
  if (first < 0)
    fail<IndexError>("PositionEmbedding", "position ", first,
                     " is out of range for a context_length of ", context_length);
  if (kind == PositionKind::learned) return weight.narrow(0, first, count);
  return forward(arange(first, first + count, 1, {.dtype = int64}));
}

std::string PositionEmbedding::extra_repr() const {
  return as_text(name_of(kind), ", ", context_length, ", ", width);
}

}  // namespace tend::attention
