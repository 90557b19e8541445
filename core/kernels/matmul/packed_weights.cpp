#include <tend/core/kernels/matmul/packed_weights.h>

#include <utility>

#include <tend/core/kernels/matmul/gemm_tiles.h>

namespace tend::kernels {
namespace {

constinit thread_local PackedWeights* used = nullptr;

std::int64_t bytes_of(const Array& x) {
  return x.numel() * item_size(x.dtype());
}

Array packed(const Array& weight) {
  return visit_floating("linear", weight.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return pack_for_tiles<T>({weight.data<T>(), weight.size(1), weight.size(0), weight.strides()[1],
                              weight.strides()[0]});
  });
}

}  // namespace

PackedWeights::Use::Use(PackedWeights* weights) noexcept
    : before_(std::exchange(used, weights != nullptr ? weights : used)) {}

PackedWeights::Use::~Use() {
  used = before_;
}

PackedWeights* PackedWeights::in_use() noexcept {
  return used;
}

std::int64_t PackedWeights::bytes() const noexcept {
  std::int64_t sum = 0;
  for (const auto& [data, copy] : copies_) sum += bytes_of(copy.panels);
  return sum;
}

Array PackedWeights::panels(const Array& weight) {
  const auto found = copies_.find(weight.raw());
  const std::uint32_t version = weight.storage()->version();
  if (found != copies_.end()) {
    const Copy& copy = found->second;
    const bool same = copy.version == version && copy.weight.shape() == weight.shape() &&
                      copy.weight.strides() == weight.strides() &&
                      copy.weight.dtype() == weight.dtype();
    if (same) return copy.panels;
    copies_.erase(found);
  }
  if (bytes() + bytes_of(weight) > kMostBytes) return {};
  return copies_.emplace(weight.raw(), Copy{weight, version, packed(weight)}).first->second.panels;
}

}  // namespace tend::kernels
