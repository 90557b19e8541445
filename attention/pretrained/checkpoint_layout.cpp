#include <tend/attention/pretrained/checkpoint_layout.h>

#include <map>
#include <utility>

#include <tend/autograd/ops/ops.h>
#include <tend/autograd/tensor/grad_mode.h>

namespace tend::attention {
namespace {

constexpr const char* kHead = "head.weight";
constexpr const char* kTheirHead = "lm_head.weight";
constexpr const char* kEmbedding = "token_embedding.weight";

// Tensors by name. The object remembers which tensors were used, and which names were missing.
class Named {
 public:
  Named(const char* model, const nn::StateDict& state) : model_(model) {
    for (const auto& [name, tensor] : state) {
      if (!entries_.try_emplace(name, Entry{&tensor}).second)
        fail(model_, '\'', name, "' is there twice");
    }
  }

  // Returns the tensors of these names, and remembers missing names.
  std::vector<Tensor> take(const std::vector<std::string>& names) {
    std::vector<Tensor> found;
    for (const std::string& name : names) {
      const auto entry = entries_.find(name);
      if (entry == entries_.end()) {
        missing_.push_back(name);
        continue;
      }
      entry->second.is_used = true;
      found.push_back(*entry->second.tensor);
    }
    return found;
  }

  void check_all_used() const {
    std::vector<std::string> unknown;
    for (const auto& [name, entry] : entries_) {
      if (!entry.is_used) unknown.emplace_back(name);
    }
    if (missing_.empty() && unknown.empty()) return;
    std::string text;
    if (!missing_.empty()) text += "missing: " + listed(missing_);
    if (!unknown.empty()) text += (text.empty() ? "" : "; ") + ("unknown: " + listed(unknown));
    fail(model_, text);
  }

 private:
  struct Entry {
    const Tensor* tensor;
    bool is_used = false;
  };

  static std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "'" : ", '") + name + '\'';
    return text;
  }

  const char* model_;
  std::map<std::string_view, Entry> entries_;
  std::vector<std::string> missing_;
};

// Concatenates `parts` in dimension 0, and splits the result into `count` equal pieces.
std::vector<Tensor> rearranged(const char* model, const std::string& name,
                               const std::vector<Tensor>& parts, std::int64_t count) {
  for (const Tensor& part : parts) {
    if (part.shape() == parts[0].shape() && part.dtype() == parts[0].dtype()) continue;
    fail<ShapeError>(model, "'", name, "' is ", parts[0].dtype(), ' ', parts[0].shape(),
                     ", but the tensor joined with it is ", part.dtype(), ' ', part.shape());
  }
  const Tensor all = parts.size() == 1 ? parts[0] : cat(parts, 0);
  if (count == 1) return {all};
  if (all.dim() == 0 || all.size(0) == 0 || all.size(0) % count != 0) {
    fail<ShapeError>(model, "'", name, "' ", all.shape(), " cannot be cut into ", count,
                     " equal parts in dimension 0");
  }
  return all.split(all.size(0) / count, 0);
}

// NaN equals NaN here, so that a model whose training diverged can be saved.
bool is_same(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() && allclose(a, b, 0, 0, true);
}

// Tensors that are not matrices stay unchanged. Loading them into the model then reports the wrong
// shape.
Tensor transposed_if(bool condition, const Tensor& x) {
  return condition && x.dim() == 2 ? x.t() : x;
}

}  // namespace

void CheckpointLayout::add(std::vector<std::string> theirs, std::vector<std::string> ours,
                           bool transposed) {
  parts_.push_back({std::move(theirs), std::move(ours), transposed});
}

void CheckpointLayout::add_weight_and_bias(const std::string& theirs,
                                           const std::vector<std::string>& ours, bool has_bias,
                                           bool transposed) {
  const auto ending = [&](const char* end) {
    std::vector<std::string> names;
    names.reserve(ours.size());
    for (const std::string& name : ours) names.push_back(name + end);
    return names;
  };
  add({theirs + ".weight"}, ending(".weight"), transposed);
  if (has_bias) add({theirs + ".bias"}, ending(".bias"));
}

nn::StateDict CheckpointLayout::converted(const nn::StateDict& state, bool importing) const {
  const NoGradGuard no_graph;
  nn::StateDict result;
  Named named(model_, state);
  for (const Correspondence& each : parts_) {
    const auto& from = importing ? each.theirs : each.ours;
    const auto& to = importing ? each.ours : each.theirs;
    std::vector<Tensor> parts = named.take(from);
    if (parts.size() != from.size()) continue;
    for (Tensor& part : parts) part = transposed_if(each.transposed && importing, part);
    const auto pieces = rearranged(model_, from[0], parts, std::ssize(to));
    for (std::size_t i = 0; i < to.size(); ++i) {
      result.emplace_back(to[i], transposed_if(each.transposed && !importing, pieces[i]));
    }
  }
  named.check_all_used();
  return result;
}

nn::StateDict CheckpointLayout::without_tied_head(const nn::StateDict& tensors) const {
  const auto head = tensors.find(kTheirHead);
  if (!has_tied_head_ || head == tensors.end()) return tensors;
  const std::string& tied = parts_[0].theirs[0];  // the embedding
  if (tensors.contains(tied) && !is_same(head->second, tensors.at(tied)))
    fail(model_, "'", kTheirHead, "' differs from '", tied, "', though the head is tied to it");
  return without_extras(tensors, [](std::string_view name) { return name == kTheirHead; });
}

nn::StateDict CheckpointLayout::import_state(const nn::StateDict& tensors) const {
  nn::StateDict state = converted(without_tied_head(tensors), true);
  if (has_tied_head_) state.emplace_back(kHead, state.at(kEmbedding));
  return state;
}

nn::StateDict CheckpointLayout::export_state(const nn::StateDict& state) const {
  if (!has_tied_head_ || !state.contains(kHead)) return converted(state, false);
  if (!state.contains(kEmbedding) || !is_same(state.at(kHead), state.at(kEmbedding))) {
    fail(model_, "'", kHead, "' differs from the token embedding, and would be lost");
  }
  const auto is_head = [](std::string_view name) { return name == kHead; };
  return converted(without_extras(state, is_head), false);
}

nn::StateDict without_prefix(const nn::StateDict& tensors, std::string_view prefix) {
  nn::StateDict renamed;
  for (const auto& [name, tensor] : tensors) {
    renamed.emplace_back(name.substr(name.starts_with(prefix) ? prefix.size() : 0), tensor);
  }
  return renamed;
}

nn::StateDict without_extras(const nn::StateDict& tensors,
                             const std::function<bool(std::string_view)>& is_extra) {
  nn::StateDict kept;
  for (const auto& [name, tensor] : tensors) {
    if (!is_extra(name)) kept.emplace_back(name, tensor);
  }
  return kept;
}

}  // namespace tend::attention
