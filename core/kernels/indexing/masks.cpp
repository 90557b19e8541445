#include <tend/core/kernels/indexing/masks.h>

#include <algorithm>
#include <array>
#include <type_traits>

#include <tend/core/base/function_ref.h>
#include <tend/core/kernels/elementwise/loops.h>
#include <tend/core/memory/scratch.h>
#include <tend/core/threads/parallel.h>

namespace tend::kernels {
namespace {

// A block of neighbouring elements of a mask.
struct MaskBlock {
  std::int64_t first;             // the position of its first element
  std::int64_t before;            // the number of true elements before the block
  std::int64_t count;             // the number of true elements in the block
  const std::int32_t* positions;  // of the true elements, counted from `first`
};

constexpr std::int64_t kBlock = 1024;

// Lists the positions of the true elements. It does not branch, since branches would be
// mispredicted.
std::int64_t list_true(const bool* mask, std::int64_t n, std::int32_t* positions) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    positions[count] = static_cast<std::int32_t>(i);
    count += mask[i] ? 1 : 0;
  }
  return count;
}

// Calls f for all blocks, in parallel.
void for_mask_blocks(const Array& mask, FunctionRef<void(const MaskBlock&)> f) {
  const bool* hit = mask.data<bool>();
  const std::int64_t total = mask.numel(), chunks = (total + kStreamGrain - 1) / kStreamGrain;
  auto counts = scratch<std::int64_t>("index", chunks + 1);
  std::int64_t* const before = counts.data();
  const auto end_of = [total](std::int64_t chunk) {
    return std::min(total, (chunk + 1) * kStreamGrain);
  };
  if (chunks > 1) {
    parallel_for(0, chunks, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t c = begin; c < end; ++c)
        before[c + 1] = std::count(hit + c * kStreamGrain, hit + end_of(c), true);
    });
    for (std::int64_t c = 0; c < chunks; ++c) before[c + 1] += before[c];
  }
  parallel_for(0, chunks, 1, [&](std::int64_t begin, std::int64_t end) {
    std::array<std::int32_t, kBlock> positions;
    for (std::int64_t c = begin; c < end; ++c) {
      std::int64_t so_far = before[c];
      for (std::int64_t first = c * kStreamGrain; first < end_of(c); first += kBlock) {
        const std::int64_t n = std::min(kBlock, end_of(c) - first);
        const std::int64_t count = list_true(hit + first, n, positions.data());
        f({first, so_far, count, positions.data()});
        so_far += count;
      }
    }
  });
}

template <class T>
T sum(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return a || b;
  } else if constexpr (std::is_integral_v<T>) {  // wraps around
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  } else {
    return a + b;
  }
}

// Advances the row-major index `at` by `count` elements.
void advance(Shape& at, const Shape& shape, std::int64_t count) {
  std::int64_t d = shape.rank() - 1;
  for (at[d] += count; d > 0 && at[d] >= shape[d]; --d) {
    at[d - 1] += at[d] / shape[d];
    at[d] %= shape[d];
  }
}

}  // namespace

std::int64_t count_nonzero(const Array& mask) {
  const bool* first = mask.data<bool>();
  return std::count(first, first + mask.numel(), true);
}

void nonzero(const Array& out, const Array& mask) {
  const std::int64_t rank = mask.rank();
  if (rank == 0) return;  // `out` has no columns, so there is nothing to write
  for_mask_blocks(mask, [&, to = out.data<std::int64_t>()](const MaskBlock& block) {
    Shape at = Shape::filled(mask.shape().size(), 0);
    advance(at, mask.shape(), block.first);
    std::int64_t* index = to + block.before * rank;
    for (std::int64_t k = 0; k < block.count; ++k, index += rank) {
      advance(at, mask.shape(), block.positions[k] - (k == 0 ? 0 : block.positions[k - 1]));
      std::copy_n(at.begin(), rank, index);
    }
  });
}

IndexArrays positions_of(const Array& mask) {
  const std::int64_t count = count_nonzero(mask);
  const Array positions = Array::empty({count, mask.rank()}, int64);
  nonzero(positions, mask);
  IndexArrays arrays{{}, {}, {count}};
  for (std::int64_t d = 0; d < mask.rank(); ++d) {
    arrays.dims.push_back(d);
    arrays.positions.push_back(positions.select(1, d));
  }
  return arrays;
}

void take_masked(const Array& out, const Array& a, const Array& mask) {
  const Array dense = a.contiguous();
  visit_dtype(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_mask_blocks(mask, [from = dense.data<T>(), to = out.data<T>()](const MaskBlock& block) {
      for (std::int64_t k = 0; k < block.count; ++k)
        to[block.before + k] = from[block.first + block.positions[k]];
    });
  });
}

void put_masked(const Array& out, const Array& mask, const Array& src, bool accumulate) {
  visit_dtype(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const std::int64_t next = src.numel() == 1 ? 0 : 1;
    for_mask_blocks(mask, [=, from = src.data<T>(), to = out.data<T>()](const MaskBlock& block) {
      T* here = to + block.first;
      const T* source = from + block.before * next;
      for (std::int64_t k = 0; k < block.count; ++k) {
        T& target = here[block.positions[k]];
        target = accumulate ? sum(target, source[k * next]) : source[k * next];
      }
    });
  });
}

}  // namespace tend::kernels
