#include <tend/attention/lens/patching.h>

#include <algorithm>
#include <iterator>

#include <tend/attention/lens/names.h>
#include <tend/autograd/graph/engine.h>
#include <tend/autograd/ops/ops.h>
#include <tend/autograd/tensor/grad_mode.h>
#include <tend/autograd/tools/functional.h>

namespace tend::lens {
namespace {

using attention::GPT;

std::string residual_name(std::int64_t layer, const std::string& name) {
  return as_text("blocks.", layer, '.', name);
}

std::string head_name(std::int64_t layer, const std::string& name) {
  return as_text("blocks.", layer, ".attn.", name);
}

double measured(const Metric& metric, const Tensor& logits) {
  const Tensor value = metric(logits);
  if (value.numel() != 1)
    fail<ShapeError>("lens", "a metric must be one number, got ", value.shape());
  return value.item<double>();
}

// The metric of a run with hooks.
double metric_of(const GPT& model, const Tensor& tokens, const Metric& metric,
                 std::vector<Hook> hooks) {
  return measured(metric, run_with_hooks(model, tokens, std::move(hooks)));
}

// x, where index `index` of dimension `dim` is replaced by the same part of `other`.
Tensor with_place(const Tensor& x, const Tensor& other, std::int64_t dim, std::int64_t index) {
  return select_scatter(x, other.select(dim, index), dim, index);
}

const Tensor& patch_of(const ActivationCache& cache, const std::string& name,
                       const Tensor& tokens) {
  const Tensor& patch = cache[name];
  if (patch.size(0) != tokens.size(0) || patch.size(1) != tokens.size(1))
    fail<ShapeError>("lens", "the cache must be from tokens of shape ", tokens.shape(),
                     ", but has ", name, ' ', patch.shape());
  return patch;
}

// Calls f(layer, i) for each layer and each index i into an array of shape `sizes`. The result is
// (layers, *sizes).
template <class F>
Tensor for_each_layer(const GPT& model, const Shape& sizes, F f) {
  std::vector<double> all;
  const std::int64_t layers = std::ssize(model.blocks);
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    for (std::int64_t i = 0; i < element_count(sizes); ++i) all.push_back(f(layer, i));
  }
  Shape shape = {layers};
  for (const std::int64_t size : sizes) shape.push_back(size);
  return tensor(all, float64).view(shape);
}

}  // namespace

Hook replace_heads(const std::string& name, const std::vector<std::int64_t>& heads,
                   const Tensor& value) {
  constexpr const char* kByHead[] = {"hook_q", "hook_k", "hook_v", "hook_z", "hook_result"};
  if (std::none_of(std::begin(kByHead), std::end(kByHead),
                   [&](const char* each) { return activation_name(name).ends_with(each); }))
    fail("replace_heads", name, " is not hook_q, hook_k, hook_v, hook_z or hook_result");
  return {name, [=](const Tensor& x) {
            Shape shape = x.shape();
            shape[2] = std::ssize(heads);
            return index_copy(x, 2, tensor(heads), value.to(x.dtype()).expand(shape));
          }};
}

Tensor patch_by_position(const GPT& model, const Tensor& tokens, const ActivationCache& cache,
                         const Metric& metric, const std::string& name) {
  const NoGradGuard no_graph;
  return for_each_layer(model, {tokens.size(1)}, [&](std::int64_t layer, std::int64_t position) {
    const std::string full = residual_name(layer, name);
    const Tensor& patch = patch_of(cache, full, tokens);
    return metric_of(model, tokens, metric,
                     {{full, [&](const Tensor& x) { return with_place(x, patch, 1, position); }}});
  });
}

Tensor patch_by_head(const GPT& model, const Tensor& tokens, const ActivationCache& cache,
                     const Metric& metric, const std::string& name) {
  const NoGradGuard no_graph;
  const std::int64_t heads = cache[head_name(0, name)].size(2);
  return for_each_layer(model, {heads}, [&](std::int64_t layer, std::int64_t head) {
    const std::string full = head_name(layer, name);
    const Tensor& patch = patch_of(cache, full, tokens);
    return metric_of(model, tokens, metric,
                     {{full, [&](const Tensor& x) { return with_place(x, patch, 2, head); }}});
  });
}

Tensor patch_by_head_and_position(const GPT& model, const Tensor& tokens,
                                  const ActivationCache& cache, const Metric& metric,
                                  const std::string& name) {
  const NoGradGuard no_graph;
  const std::int64_t heads = cache[head_name(0, name)].size(2), length = tokens.size(1);
  return for_each_layer(model, {heads, length}, [&](std::int64_t layer, std::int64_t i) {
    const std::string full = head_name(layer, name);
    const Tensor& patch = patch_of(cache, full, tokens);
    const std::int64_t head = i / length, position = i % length;
    const auto patched = [&](const Tensor& x) {
      const Tensor one = with_place(x.select(2, head), patch.select(2, head), 1, position);
      return select_scatter(x, one, 2, head);
    };
    return metric_of(model, tokens, metric, {{full, patched}});
  });
}

Tensor attribute_by_head_and_position(const GPT& model, const Tensor& tokens,
                                      const ActivationCache& cache, const Metric& metric,
                                      const std::string& name) {
  const GradModeGuard usual(true);
  CacheOptions options;
  for (std::int64_t layer = 0; layer < std::ssize(model.blocks); ++layer)
    options.names.push_back(head_name(layer, name));
  const auto run = run_with_cache(model, tokens, options);
  std::vector<Tensor> held;
  for (const std::string& each : options.names) held.push_back(run.cache[each]);
  const std::vector<Tensor> gradients = autograd::grad(metric(run.result), held);
  const NoGradGuard no_graph;
  std::vector<Tensor> layers;
  for (std::size_t i = 0; i < held.size(); ++i) {
    const Tensor& patch = patch_of(cache, options.names[i], tokens);
    // (batch, position, head)
    const Tensor each = ((patch.detach() - held[i].detach()) * gradients[i]).sum({-1});
    layers.push_back(each.sum({0}).t());
  }
  return stack(layers);
}

Tensor patch_path(const GPT& model, const Tensor& tokens, const ActivationCache& cache,
                  const Metric& metric, const Head& sender, const std::vector<Head>& receivers,
                  const std::string& name) {
  const NoGradGuard no_graph;
  for (const Head& each : receivers) {
    if (each.layer <= sender.layer)
      fail("patch_path", "layer ", each.layer, " of a receiver is not after layer ", sender.layer,
           " of the sender");
  }
  const std::int64_t layers = std::ssize(model.blocks);
  const auto z_of = [](std::int64_t layer) { return head_name(layer, "hook_z"); };
  CacheOptions all_z;
  for (std::int64_t layer = 0; layer < layers; ++layer) all_z.names.push_back(z_of(layer));
  const ActivationCache usual = run_with_cache(model, tokens, all_z).cache;

  // All heads except the sender keep their activations from a plain run on `tokens`.
  std::vector<Hook> frozen;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    Tensor z = usual[z_of(layer)];
    if (layer == sender.layer)
      z = with_place(z, patch_of(cache, z_of(layer), tokens), 2, sender.head);
    frozen.push_back({z_of(layer), [z](const Tensor&) { return z; }});
  }
  if (receivers.empty()) return tensor(metric_of(model, tokens, metric, frozen), float64);

  CacheOptions read;
  for (const Head& each : receivers) read.names.push_back(head_name(each.layer, name));
  const auto run = run_with_hooks([&] { return run_with_cache(model, tokens, read); }, frozen);
  std::vector<Hook> hooks;
  for (const Head& each : receivers) {
    const std::string full = head_name(each.layer, name);
    const Tensor patch = run.cache[full];
    hooks.push_back({full, [patch, head = each.head](const Tensor& x) {
                       return with_place(x, patch, 2, head);
                     }});
  }
  return tensor(metric_of(model, tokens, metric, hooks), float64);
}

}  // namespace tend::lens
