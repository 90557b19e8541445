#include <tend/attention/models/kv_cache.h>

#include <algorithm>
#include <limits>
#include <utility>

#include <tend/autograd/ops/ops.h>
#include <tend/autograd/tensor/grad_mode.h>

namespace tend::attention {
namespace {

constexpr const char* kCache = "KVCache";

void check_count(const char* name, const std::optional<std::int64_t>& count) {
  if (count && *count < 1) fail(kCache, name, " must be at least 1, got ", *count);
}

Tensor with_room(const Tensor& like, std::int64_t capacity) {
  Shape shape = like.shape();
  shape[2] = capacity;
  return empty(shape, like.dtype());
}

std::int64_t twice(std::int64_t n) {
  return n > std::numeric_limits<std::int64_t>::max() / 2 ? n : 2 * n;
}

// Each layer's keys and values become what f makes of them; where that fails, none do.
template <class F>
void replace_all(std::vector<KVCache::KeysValues>& layers, F f) {
  const NoGradGuard no_graph;
  with_memory([&] {
    std::vector<KVCache::KeysValues> changed;
    for (const auto& [key, value] : layers) changed.push_back({f(key), f(value)});
    layers = std::move(changed);
  });
}

}  // namespace

KVCache::KVCache(const KVCacheOptions& options) : options_(options) {
  check_count("capacity", options.capacity);
  check_count("window", options.window);
  if (options.capacity && options.window) fail(kCache, "a window needs no capacity");
}

std::int64_t KVCache::bytes() const {
  std::int64_t sum = 0;
  for (const KeysValues& layer : layers_) {
    for (const Tensor* each : {&layer.key, &layer.value})
      sum += each->numel() * item_size(each->dtype());
  }
  return sum;
}

void KVCache::reset() noexcept {
  length_ = first_ = 0;  // reserve does the rest
}

void KVCache::move_to(std::int64_t count, std::int64_t capacity) {
  const std::int64_t from = begin_ + kept() - count;
  replace_all(layers_, [&](const Tensor& layer) {
    Tensor moved = with_room(layer, capacity);
    moved.narrow(2, 0, count).copy_(layer.narrow(2, from, count));
    return moved;
  });
  capacity_ = capacity;
  first_ = length_ - count;
  begin_ = 0;
}

void KVCache::truncate(std::int64_t length) {
  if (length < 0 || length > length_ || (first_ > 0 && length < length_)) {
    fail(kCache, "the first ", length, " of ", length_, " tokens, of which those from ", first_,
         " on are here, cannot be kept");
  }
  length_ = length;
}

void KVCache::reserve(std::int64_t tokens) {
  std::int64_t needed = 0;
  if (tokens < 0 || __builtin_add_overflow(kept(), tokens, &needed)) {
    fail(kCache, "there is no room for ", tokens, " tokens after ", length_);
  }
  if (length_ == 0) {  // the next sequence, which may be another model's
    layers_.clear();
    capacity_ = begin_ = 0;
  }
  next_layer_ = 0;
  if (options_.window) {
    reserve_rolling(tokens);
  } else if (!options_.capacity) {
    if (needed > capacity_) move_to(kept(), std::max(twice(capacity_), needed));
  } else if (needed > *options_.capacity) {
    fail(kCache, tokens, " tokens after ", length_, " exceed the capacity of ", *options_.capacity);
  } else {
    capacity_ = *options_.capacity;
  }
}

// Twice the room that is needed halves the number of moves.
void KVCache::reserve_rolling(std::int64_t tokens) {
  const std::int64_t others = std::min(kept(), *options_.window - 1);  // the next token sees these
  if (kept() + tokens > capacity_ - begin_) {
    move_to(others, std::max(others + tokens, twice(std::min(others + tokens, *options_.window))));
  } else {
    begin_ += kept() - others;
    first_ = length_ - others;
  }
}

void KVCache::check_next(std::size_t layer, const Tensor& key, const Tensor& value) const {
  for (const Tensor* next : {&key, &value}) {
    if (next->dim() == 4) continue;
    fail<ShapeError>(kCache, "keys and values are (batch, heads, tokens, head_dim), got ",
                     next->shape());
  }
  if (key.dtype() != value.dtype())
    fail<DTypeError>(kCache, "keys are ", key.dtype(), ", values ", value.dtype());
  for (const std::int64_t d : {0, 1, 2}) {
    if (key.size(d) == value.size(d)) continue;
    fail<ShapeError>(kCache, "keys ", key.shape(), " and values ", value.shape(),
                     " differ in dimension ", d);
  }
  if (layer != next_layer_)
    fail<IndexError>(kCache, "layer ", layer, " where layer ", next_layer_, " is next");
  if (layer == layers_.size()) {
    if (length_ > 0) fail<IndexError>(kCache, "layer ", layer, " has no tokens, others have");
    return;
  }
  const auto check = [](const Tensor& held, const Tensor& next) {
    if (held.dtype() != next.dtype())
      fail<DTypeError>(kCache, next.dtype(), " does not follow ", held.dtype());
    if (held.size(0) != next.size(0) || held.size(1) != next.size(1) ||
        held.size(3) != next.size(3)) {
      fail<ShapeError>(kCache, next.shape(), " does not follow ", held.shape(), " in dimension 2");
    }
  };
  check(layers_[layer].key, key);
  check(layers_[layer].value, value);
}

KVCache::KeysValues KVCache::extend(std::size_t layer, const Tensor& key, const Tensor& value) {
  if (grad_enabled() && (key.requires_grad() || value.requires_grad())) {
    fail<AutogradError>(kCache,
                        "keys and values have a graph, which a cache would lose: call the model "
                        "under a NoGradGuard");
  }
  const NoGradGuard no_graph;
  check_next(layer, key, value);
  const std::int64_t tokens = key.size(2), end = begin_ + kept();
  if (tokens > capacity_ - end) fail(kCache, "no room is reserved");
  if (layer == layers_.size()) {
    with_memory([&] {
      layers_.push_back({with_room(key, capacity_), with_room(value, capacity_)});
    });
  }
  const KeysValues& held = layers_[layer];
  held.key.narrow(2, end, tokens).copy_(key);
  held.value.narrow(2, end, tokens).copy_(value);
  ++next_layer_;
  return {held.key.narrow(2, begin_, kept() + tokens),
          held.value.narrow(2, begin_, kept() + tokens)};
}

void KVCache::reorder(const Tensor& rows) {
  if (rows.dtype() != int64) fail<DTypeError>(kCache, "rows are ", rows.dtype(), ", not int64");
  if (rows.dim() != 1) fail<ShapeError>(kCache, "rows are (batch,), got ", rows.shape());
  replace_all(layers_, [&](const Tensor& layer) {
    Shape shape = layer.shape();
    shape[0] = rows.size(0);
    Tensor picked = empty(shape, layer.dtype());
    const Tensor used = layer.narrow(2, begin_, kept());
    picked.narrow(2, begin_, kept()).copy_(index_select(used, 0, rows));
    return picked;
  });
}

}  // namespace tend::attention
