#include <tend/core/kernels/attention/attention_heads.h>

namespace tend::kernels {

template <class T>
AttentionHead<T> AttentionHeads<T>::at(std::int64_t index) const {
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  AttentionHead<T> head = {};
  head.queries = size(query_.size(-2));
  head.keys = size(key_.size(-2));
  head.dim = size(query_.size(-1));
  head.value_dim = size(value_.size(-1));
  head.query = head_of<const T>(query_, index);
  head.key = head_of<const T>(key_, index / rule_.heads_per_key_head);
  head.value = head_of<const T>(value_, index / rule_.heads_per_key_head);
  head.scale = static_cast<T>(rule_.scale);
  head.is_causal = rule_.is_causal;
  head.position = size(rule_.position);
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

// With few heads, most lanes would be unused. This costs more in longer heads, so the number of
// heads must be at least their length.
template <class T>
bool AttentionHeads<T>::are_short(std::size_t most) const {
  const std::int64_t longest = std::max(query_.size(-2), key_.size(-2));
  const auto has_rows = [](const Array& x) { return x.strides()[x.rank() - 1] == 1; };
  const bool plain = !rule_.mask.defined() && !rule_.kept.defined() && !rule_.functions.score &&
                     !rule_.functions.mask && rule_.heads_per_key_head == 1;
  return plain && longest <= static_cast<std::int64_t>(most) && count_ >= longest &&
         key_.size(-2) > 0 && has_rows(query_) && has_rows(key_) && has_rows(value_);
}

template <class T>
ShortHeads<T> AttentionHeads<T>::short_heads(std::int64_t first, std::size_t lanes) const {
  ShortHeads<T> heads = {};
  heads.any = at(first);
  heads.count = std::min(lanes, static_cast<std::size_t>(count_ - first));
  find_heads(query_, first, heads.count, heads.query);
  find_heads(key_, first, heads.count, heads.key);
  find_heads(value_, first, heads.count, heads.value);
  return heads;
}

template class AttentionHeads<float>;
template class AttentionHeads<double>;

}  // namespace tend::kernels
