#include <tend/core/kernels/indexing/bounds.h>

#include <tend/core/kernels/simd/simd_targets.h>
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/indexing/bounds.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>
#include <tend/core/kernels/simd/simd_loop.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {

// Calls f(d, i), which returns a vector of indices, for all indices. Returns a negative number if
// an index x is out of range, because then the sign bit of x or of size - 1 - x is set.
template <class F>
HWY_INLINE std::int64_t signs_of(std::int64_t count, std::int64_t size, F f) {
  const hn::ScalableTag<std::int64_t> d;
  const hn::CappedTag<std::int64_t, 1> one;
  const auto n = static_cast<std::size_t>(count);
  const auto look_at = [&](auto tag, auto x)
                           HWY_ATTR { return hn::Or(x, hn::Sub(hn::Set(tag, size - 1), x)); };
  auto signs = hn::Zero(d);
  auto rest = hn::Zero(one);
  const std::size_t i = for_whole_vectors(
      d, 0, n, [&](auto, std::size_t k) HWY_ATTR { signs = hn::Or(signs, look_at(d, f(d, k))); });
  for_whole_vectors(one, i, n, [&](auto, std::size_t k) HWY_ATTR {
    rest = hn::Or(rest, look_at(one, f(one, k)));
  });
  const bool is_negative = !hn::AllFalse(d, hn::Lt(signs, hn::Zero(d)));
  return is_negative ? -1 : hn::GetLane(rest);
}

bool look_inside(const std::int64_t* index, std::int64_t count, std::int64_t size) {
  return signs_of(count, size,
                  [=](auto d, std::size_t i) HWY_ATTR { return hn::LoadU(d, index + i); }) >= 0;
}

bool wrap_run(std::int64_t* out, const std::int64_t* index, std::int64_t count, std::int64_t size) {
  return signs_of(count, size, [=](auto d, std::size_t i) HWY_ATTR {
           const auto x = hn::LoadU(d, index + i);
           const auto from_end = hn::Lt(x, hn::Zero(d));
           const auto wrapped = hn::Add(x, hn::IfThenElseZero(from_end, hn::Set(d, size)));
           hn::StoreU(wrapped, d, out + i);
           return wrapped;
         }) >= 0;
}

}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {

HWY_EXPORT(look_inside);
HWY_EXPORT(wrap_run);

bool all_inside(const std::int64_t* index, std::int64_t count, std::int64_t size) {
  return HWY_DYNAMIC_DISPATCH(look_inside)(index, count, size);
}

bool wrap_inside(std::int64_t* out, const std::int64_t* index, std::int64_t count,
                 std::int64_t size) {
  return HWY_DYNAMIC_DISPATCH(wrap_run)(out, index, count, size);
}

}  // namespace tend::kernels
#endif  // HWY_ONCE
