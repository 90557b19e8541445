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

template class AttentionHeads<float>;
template class AttentionHeads<double>;

}  // namespace tend::kernels
