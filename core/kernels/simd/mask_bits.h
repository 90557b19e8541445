// Masks of lanes from bits. Only kernel sources include this file, after <hwy/foreach_target.h>.

#if defined(TEND_CORE_KERNELS_MASK_BITS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TEND_CORE_KERNELS_MASK_BITS_H
#undef TEND_CORE_KERNELS_MASK_BITS_H
#else
#define TEND_CORE_KERNELS_MASK_BITS_H
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A mask of the lanes whose bits are set. The lowest bit belongs to the first lane.
template <class D>
HWY_INLINE hn::Mask<D> mask_from_bits(D d, std::uint64_t bits) {
  std::uint8_t bytes[8];
  std::memcpy(bytes, &bits, 8);
  return hn::LoadMaskBits(d, bytes);
}

}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
