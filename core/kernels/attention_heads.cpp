#include <tend/core/kernels/attention_heads.h>

#include <atomic>

#include <tend/core/parallel.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/attention_heads.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A sum of products with zero is zero, or NaN.
template <class T>
HWY_INLINE bool all_finite(const Matrix<const T>& matrix, std::size_t rows, std::size_t cols) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  auto sums = hn::Zero(d);
  T sum = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const T* row = matrix.at(i);
    std::size_t j = 0;
    if (matrix.step == 1) {
      for (; j + lanes <= cols; j += lanes) {
        sums = hn::MulAdd(hn::Zero(d), hn::LoadU(d, row + j), sums);
      }
    }
    for (; j < cols; ++j) sum += row[j * matrix.step] * T(0);
  }
  return sum == 0 && hn::AllTrue(d, hn::Eq(sums, hn::Zero(d)));
}

bool float_finite(const Matrix<const float>& matrix, std::size_t rows, std::size_t cols) {
  return all_finite(matrix, rows, cols);
}
bool double_finite(const Matrix<const double>& matrix, std::size_t rows, std::size_t cols) {
  return all_finite(matrix, rows, cols);
}

}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {
namespace {

HWY_EXPORT(float_finite);
HWY_EXPORT(double_finite);

template <class T>
bool all_finite(const Array& array, std::int64_t heads) {
  const auto rows = static_cast<std::size_t>(array.size(-2));
  const auto cols = static_cast<std::size_t>(array.size(-1));
  std::atomic<bool> finite = true;
  const auto grain = 1 + std::int64_t{1 << 15} / (1 + array.size(-2) * array.size(-1));
  parallel_for(0, heads, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const auto matrix = head_of<const T>(array, i);
      bool ok;
      if constexpr (std::is_same_v<T, float>) {
        ok = HWY_DYNAMIC_DISPATCH(float_finite)(matrix, rows, cols);
      } else {
        ok = HWY_DYNAMIC_DISPATCH(double_finite)(matrix, rows, cols);
      }
      if (!ok) finite.store(false, std::memory_order_relaxed);
    }
  });
  return finite;
}

}  // namespace

template <class T>
AttentionHeads<T>::AttentionHeads(const Array& query, const Array& key, const Array& value,
                                  const AttentionRule& rule,
                                  std::initializer_list<const Array*> multiplied)
    : query_(query), key_(key), value_(value), rule_(rule) {
  for (std::int64_t d = 0; d + 2 < query.rank(); ++d) count_ *= query.shape()[d];
  constexpr std::int64_t kStep = 16;  // less is not left out
  skip_hidden_ = rule.is_causal && key.size(-2) > kStep;
  for (const Array* array : multiplied) {
    skip_hidden_ = skip_hidden_ && all_finite<T>(*array, count_);
  }
}

template <class T>
AttentionHead<T> AttentionHeads<T>::at(std::int64_t index) const {
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  AttentionHead<T> head = {};
  head.queries = size(query_.size(-2));
  head.keys = size(key_.size(-2));
  head.dim = size(query_.size(-1));
  head.value_dim = size(value_.size(-1));
  head.query = head_of<const T>(query_, index);
  head.key = head_of<const T>(key_, index);
  head.value = head_of<const T>(value_, index);
  head.scale = static_cast<T>(rule_.scale);
  head.is_causal = rule_.is_causal;
  head.skip_hidden = skip_hidden_;
  if (rule_.mask.defined() && rule_.mask.dtype() == boolean) {
    head.allowed = head_of<const bool>(rule_.mask, index);
  } else {
    head.added = head_of<const T>(rule_.mask, index);
  }
  if (rule_.kept.defined()) {
    head.kept = reinterpret_cast<const std::uint64_t*>(rule_.kept.raw());
    head.first_bit = static_cast<std::uint64_t>(index) * head.queries * head.keys;
  }
  head.keep_factor = static_cast<T>(rule_.keep_factor);
  return head;
}

template class AttentionHeads<float>;
template class AttentionHeads<double>;

}  // namespace tend::kernels
#endif  // HWY_ONCE
