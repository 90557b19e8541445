#include <tend/attention/models/kv_cache.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include <tend/autograd/ops/ops.h>
#include <tend/autograd/tensor/grad_mode.h>

namespace tend::attention {
namespace {

constexpr const char* kCache = "KVCache";
constexpr const char* kHasGraph =
    "keys and values have a graph, which a cache would lose: call the model under a NoGradGuard";

void check_count(const char* name, const std::optional<std::int64_t>& count) {
  if (count && *count < 1) fail(kCache, name, " must be at least 1, got ", *count);
}

// The shape of x, with `size` in dimension d.
Shape with_size(const Tensor& x, std::int64_t d, std::int64_t size) {
  Shape shape = x.shape();
  shape[d] = size;
  return shape;
}

Tensor with_room(const Tensor& like, std::int64_t capacity) {
  return empty(with_size(like, 2, capacity), like.dtype());
}

// Applies change(x) to all keys and values.
template <class F>
std::vector<KVCache::KeysValues> changed(const std::vector<KVCache::KeysValues>& layers, F change) {
  std::vector<KVCache::KeysValues> all;
  for (const auto& [key, value] : layers) all.push_back({change(key), change(value)});
  return all;
}

// True if both refer to the same elements in memory. This also recognises views that are created
// again in each step.
bool is_same_place(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() == b.defined();
  const Array &x = a.array(), &y = b.array();
  return x.storage() == y.storage() && x.offset() == y.offset() && x.dtype() == y.dtype() &&
         x.shape() == y.shape() && x.strides() == y.strides();
}

std::vector<std::uint32_t> versions_of(const std::vector<Tensor>& tensors) {
  std::vector<std::uint32_t> versions;
  for (const Tensor& each : tensors) versions.push_back(each.defined() ? each.version() : 0);
  return versions;
}

std::int64_t twice(std::int64_t n) {
  return n > std::numeric_limits<std::int64_t>::max() / 2 ? n : 2 * n;
}

}  // namespace

KVCache::KVCache(const KVCacheOptions& options) : options_(options) {
  check_count("capacity", options.capacity);
  check_count("window", options.window);
  if (options.capacity && options.window) fail(kCache, "give a capacity or a window, but not both");
}

std::int64_t KVCache::bytes() const {
  std::int64_t sum = weights_.bytes();
  const auto add = [&sum](const KeysValues& each) {
    sum += (each.key.numel() + each.value.numel()) * item_size(each.key.dtype());
  };
  for (const KeysValues& each : layers_) add(each);
  for (const Memory& each : memories_) add(each.made);
  return sum;
}

void KVCache::reset() noexcept {
  length_ = first_ = 0;  // the next reserve() frees the tensors
  memories_.clear();
}

void KVCache::move_to(std::int64_t count, std::int64_t capacity) {
  const NoGradGuard no_graph;
  const std::int64_t from = begin_ + kept() - count;
  const auto moved = [&](const Tensor& x) {
    Tensor out = with_room(x, capacity);
    out.narrow(2, 0, count).copy_(x.narrow(2, from, count));
    return out;
  };
  layers_ = changed(layers_, moved);
  capacity_ = capacity;
  first_ = length_ - count;
  begin_ = 0;
}

void KVCache::truncate(std::int64_t length) {
  if (length < 0 || length > length_ || (first_ > 0 && length < length_)) {
    fail(kCache, "cannot truncate to ", length, " tokens: there are ", length_,
         ", of which the first ", first_, " were dropped");
  }
  length_ = length;
}

void KVCache::reserve(std::int64_t tokens) {
  std::int64_t needed = 0;
  if (tokens < 0 || __builtin_add_overflow(kept(), tokens, &needed)) {
    fail(kCache, "there is no room for ", tokens, " tokens after ", length_);
  }
  if (length_ == 0) {  // a new sequence, which may be of another model
    layers_.clear();
    weights_.clear();
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

// Reserves twice the needed room, which halves the number of moves.
void KVCache::reserve_rolling(std::int64_t tokens) {
  const std::int64_t others = std::min(kept(), *options_.window - 1);  // seen by the next token
  if (kept() + tokens > capacity_ - begin_) {
    move_to(others, std::max(others + tokens, twice(std::min(others + tokens, *options_.window))));
  } else {
    begin_ += kept() - others;
    first_ = length_ - others;
  }
}

void KVCache::check_next(std::size_t layer, const Tensor& key, const Tensor& value) const {
  if (key.dim() != 4 || value.dim() != 4 || with_size(key, 3, 0) != with_size(value, 3, 0)) {
    fail<ShapeError>(kCache, "keys ", key.shape(), " and values ", value.shape(),
                     " must be (batch, heads, tokens, head_dim), and may differ only in head_dim");
  }
  if (key.dtype() != value.dtype())
    fail<DTypeError>(kCache, "keys are ", key.dtype(), ", but values are ", value.dtype());
  if (layer != next_layer_ || (layer == layers_.size() && length_ > 0))
    fail<IndexError>(kCache, "layer ", layer, " is extended, but the next layer is ", next_layer_,
                     " of ", layers_.size());
  if (layer == layers_.size()) return;
  for (const auto& [held, next] :
       {std::tie(layers_[layer].key, key), std::tie(layers_[layer].value, value)}) {
    if (held.dtype() != next.dtype())
      fail<DTypeError>(kCache, "new keys or values are ", next.dtype(), ", but cached ones are ",
                       held.dtype());
    for (const std::int64_t d : {0, 1, 3}) {
      if (held.size(d) == next.size(d)) continue;
      fail<ShapeError>(kCache, "new keys or values ", next.shape(), " do not fit the cached ones ",
                       with_size(held, 2, kept()), ": dimension ", d, " differs");
    }
  }
}

KVCache::KeysValues KVCache::extend(std::size_t layer, const Tensor& key, const Tensor& value) {
  if (grad_enabled() && (key.requires_grad() || value.requires_grad())) {
    fail<AutogradError>(kCache, kHasGraph);
  }
  const NoGradGuard no_graph;
  check_next(layer, key, value);
  const std::int64_t tokens = key.size(2), all = kept() + tokens;
  if (all > capacity_ - begin_) fail(kCache, "no room is reserved");
  if (layer == layers_.size()) {
    layers_.push_back({with_room(key, capacity_), with_room(value, capacity_)});
  }
  const KeysValues& held = layers_[layer];
  held.key.narrow(2, begin_ + kept(), tokens).copy_(key);
  held.value.narrow(2, begin_ + kept(), tokens).copy_(value);
  ++next_layer_;
  return {held.key.narrow(2, begin_, all), held.value.narrow(2, begin_, all)};
}

KVCache::Call::Call(const char* module, KVCache* cache, std::int64_t layers, std::int64_t tokens)
    : packed_(cache != nullptr ? &cache->weights_ : nullptr), tokens_(tokens) {
  if (cache == nullptr || cache->in_call_) return;
  if (cache->length_ > 0 && cache->layers() != layers)
    fail(module, "the cache has tokens of ", cache->layers(), " layers, the model has ", layers);
  cache->reserve(tokens);
  cache->in_call_ = true;
  cache_ = cache;
}

KVCache::Call::~Call() {
  if (cache_ != nullptr) cache_->in_call_ = false;
}

void KVCache::Call::done() noexcept {
  if (cache_ != nullptr) cache_->advance(tokens_);
}

const KVCache::KeysValues* KVCache::remembered(const std::vector<Tensor>& sources) const {
  for (const Tensor& each : sources) {
    if (grad_enabled() && each.defined() && each.requires_grad())
      fail<AutogradError>(kCache, kHasGraph);
  }
  for (const Memory& each : memories_) {
    if (std::ranges::equal(each.sources, sources, is_same_place) &&
        each.versions == versions_of(sources))
      return &each.made;
  }
  return nullptr;
}

void KVCache::remember(const std::vector<Tensor>& sources, const KeysValues& made) {
  Memory next{{}, versions_of(sources), made};
  for (const Tensor& each : sources)
    next.sources.push_back(each.defined() ? each.detach() : Tensor());
  std::erase_if(memories_, [&](const Memory& each) {
    return is_same_place(each.sources.front(), sources.front());
  });
  memories_.push_back(std::move(next));
}

void KVCache::reorder(const Tensor& rows) {
  if (rows.dtype() != int64) fail<DTypeError>(kCache, "rows are ", rows.dtype(), ", not int64");
  if (rows.dim() != 1) fail<ShapeError>(kCache, "rows must be (batch,), got ", rows.shape());
  if (length_ == 0) return;
  const NoGradGuard no_graph;
  const auto from = rows.to_vector<std::int64_t>();
  const auto picked = [&](const Tensor& x) {
    const Tensor out = empty(with_size(x, 0, rows.size(0)), x.dtype());
    const Tensor to = out.narrow(2, begin_, kept()), held = x.narrow(2, begin_, kept());
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (from[i] < 0 || from[i] >= x.size(0))
        fail<IndexError>(kCache, "there is no sequence ", from[i], ": the cache has ", x.size(0));
      to.select(0, static_cast<std::int64_t>(i)).copy_(held.select(0, from[i]));
    }
    return out;
  };
  layers_ = changed(layers_, picked);
}

}  // namespace tend::attention
