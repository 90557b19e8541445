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

}  // namespace

KVCache::KVCache(const KVCacheOptions& options) : options_(options) {
  check_count("capacity", options.capacity);
  check_count("window", options.window);
  if (options.capacity && options.window) fail(kCache, "a window needs no capacity");
}

std::int64_t KVCache::bytes() const {
  std::int64_t sum = 0;
  for (const auto* layers : {&keys_, &values_}) {
    for (const Tensor& layer : *layers) sum += layer.numel() * item_size(layer.dtype());
  }
  return sum;
}

void KVCache::reset() noexcept {
  length_ = first_ = 0;  // reserve does the rest
}

void KVCache::move_to(std::int64_t count, std::int64_t capacity) {
  const NoGradGuard no_graph;
  const auto moved = [&](const std::vector<Tensor>& layers) {
    std::vector<Tensor> out;
    out.reserve(layers.size());
    for (const Tensor& layer : layers) {
      out.push_back(with_room(layer, capacity));
      const std::int64_t from = begin_ + kept() - count;
      out.back().narrow(2, 0, count).copy_(layer.narrow(2, from, count));
    }
    return out;
  };
  with_memory([&] {
    std::vector<Tensor> keys = moved(keys_), values = moved(values_);
    keys_ = std::move(keys);
    values_ = std::move(values);
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
    keys_.clear();
    values_.clear();
    capacity_ = begin_ = 0;
  }
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
  if (begin_ + kept() + tokens > capacity_) {
    move_to(others, std::max(others + tokens, twice(std::min(others + tokens, *options_.window))));
  } else {
    begin_ += kept() - others;
    first_ = length_ - others;
  }
}

Tensor& KVCache::checked_layer(std::vector<Tensor>& layers, std::size_t layer, const Tensor& next) {
  if (next.dim() != 4) {
    fail<ShapeError>(kCache, "keys and values are (batch, heads, tokens, head_dim), got ",
                     next.shape());
  }
  if (layer > layers.size()) {
    fail<IndexError>(kCache, "layer ", layer, " follows ", layers.size(), " layers");
  }
  if (layer == layers.size()) {
    if (length_ > 0) fail<IndexError>(kCache, "layer ", layer, " has no tokens, others have");
    with_memory([&] { layers.push_back(with_room(next, capacity_)); });
  }
  Tensor& held = layers[layer];
  if (held.dtype() != next.dtype()) {
    fail<DTypeError>(kCache, next.dtype(), " does not follow ", held.dtype());
  }
  if (held.size(0) != next.size(0) || held.size(1) != next.size(1) ||
      held.size(3) != next.size(3)) {
    fail<ShapeError>(kCache, next.shape(), " does not follow ", held.shape(), " in dimension 2");
  }
  return held;
}

KVCache::KeysValues KVCache::extend(std::size_t layer, const Tensor& key, const Tensor& value) {
  if (grad_enabled() && (key.requires_grad() || value.requires_grad())) {
    fail<AutogradError>(kCache,
                        "keys and values have a graph, which a cache would lose: call the model "
                        "under a NoGradGuard");
  }
  const NoGradGuard no_graph;
  const std::int64_t tokens = key.dim() == 4 ? key.size(2) : 0;
  if (value.dim() == 4 && value.size(2) != tokens) {
    fail<ShapeError>(kCache, "keys ", key.shape(), " and values ", value.shape(),
                     " are of different tokens");
  }
  if (begin_ + kept() + tokens > capacity_) fail(kCache, "no room is reserved");
  const auto put = [&](std::vector<Tensor>& layers, const Tensor& next) {
    const Tensor& held = checked_layer(layers, layer, next);
    held.narrow(2, begin_ + kept(), tokens).copy_(next);
    return held.narrow(2, begin_, kept() + tokens);
  };
  const Tensor keys = put(keys_, key);
  return {keys, put(values_, value)};
}

void KVCache::reorder(const Tensor& rows) {
  if (rows.dtype() != int64) fail<DTypeError>(kCache, "rows are ", rows.dtype(), ", not int64");
  if (rows.dim() != 1) fail<ShapeError>(kCache, "rows are (batch,), got ", rows.shape());
  const NoGradGuard no_graph;
  const auto picked = [&](const std::vector<Tensor>& layers) {
    std::vector<Tensor> out;
    out.reserve(layers.size());
    for (const Tensor& layer : layers) {
      Shape shape = layer.shape();
      shape[0] = rows.size(0);
      out.push_back(empty(shape, layer.dtype()));
      const Tensor used = layer.narrow(2, begin_, kept());
      out.back().narrow(2, begin_, kept()).copy_(index_select(used, 0, rows));
    }
    return out;
  };
  with_memory([&] {
    std::vector<Tensor> keys = picked(keys_), values = picked(values_);
    keys_ = std::move(keys);
    values_ = std::move(values);
  });
}

}  // namespace tend::attention
