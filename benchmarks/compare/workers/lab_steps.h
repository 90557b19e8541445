// Training steps of the laboratory's experiments (examples/lab), in calls that tend and libtorch
// have in common. Like same_works.h, it must be included after tend.h or torch.h.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../inputs.h"
#include "../worker.h"
#include "same_works.h"

namespace compare {

// Each library's worker defines these functions.
Tensor embed(const Tensor& weight, const Tensor& tokens);
Tensor loss_of(const Tensor& logits, const Tensor& targets);
/// Causal attention. If `is_fused`, it uses the library's own function, otherwise products and
/// softmax.
Tensor attend_causally(const Tensor& query, const Tensor& key, const Tensor& value, bool is_fused);

/// A small GPT. The sizes of its Work are vocabulary, length, width, layers, heads, batch, the
/// hidden width of the feed-forward networks (0: none), 1 for a model with norms, and 1 for GELU,
/// else ReLU.
class SmallModel {
 public:
  SmallModel(Parameters& p, const Work& w, std::uint64_t seed, bool is_fused)
      : work_(w),
        is_fused_(is_fused),
        tokens_(random_text(seed, w[5], w[1], w[0])),
        targets_(random_text(seed + 1, w[5], w[1], w[0]).flatten()),
        embedding_(p.matrix("tokens.weight", w[0], w[2])),
        places_(p.matrix("places.weight", w[1], w[2])),
        last_norm_(norm(p, "norm.")),
        head_(p.matrix("head.weight", w[0], w[2])) {
    for (std::int64_t i = 0; i < w[3]; ++i) {
      const std::string start = "blocks." + std::to_string(i) + ".";
      Block& block = blocks_.emplace_back();
      block.norm1 = norm(p, start + "norm1.");
      for (const char* name : {"query.weight", "key.weight", "value.weight", "out.weight"})
        block.maps.push_back(p.matrix(start + name, w[2], w[2]));
      if (w[6] == 0) continue;
      block.norm2 = norm(p, start + "norm2.");
      block.up = p.matrix(start + "up.weight", w[6], w[2]);
      block.down = p.matrix(start + "down.weight", w[2], w[6]);
    }
  }

  Tensor loss() const {
    Tensor x = embed(embedding_, tokens_) + places_;
    for (const Block& block : blocks_) x = forward(block, x);
    return loss_of(linear(normed(last_norm_, x), head_).flatten(0, 1), targets_);
  }

 private:
  struct Norm {
    Tensor weight, bias;  // undefined if the model has no norms
  };
  struct Block {
    Norm norm1, norm2;
    std::vector<Tensor> maps;  // the projections of query, key, value and output
    Tensor up, down;
  };

  Norm norm(Parameters& p, const std::string& start) const {
    if (work_[7] == 0) return {};
    return {p.vector(start + "weight", work_[2]), p.vector(start + "bias", work_[2])};
  }
  Tensor normed(const Norm& norm, const Tensor& x) const {
    return norm.weight.defined() ? layer_norm(x, {work_[2]}, norm.weight, norm.bias) : x;
  }
  Tensor forward(const Block& block, Tensor x) const {
    const Tensor h = normed(block.norm1, x);
    const auto heads = [&](std::size_t map) {
      return linear(h, block.maps[map])
          .view({work_[5], work_[1], work_[4], work_[2] / work_[4]})
          .transpose(1, 2);
    };
    const Tensor context = attend_causally(heads(0), heads(1), heads(2), is_fused_);
    x = x + linear(context.transpose(1, 2).flatten(2), block.maps[3]);
    if (!block.up.defined()) return x;
    const Tensor hidden = linear(normed(block.norm2, x), block.up);
    return x + linear(work_[8] == 0 ? relu(hidden) : gelu(hidden, "tanh"), block.down);
  }

  Work work_;
  bool is_fused_;
  Tensor tokens_, targets_, embedding_, places_;
  Norm last_norm_;
  Tensor head_;
  std::vector<Block> blocks_;
};

/// One head of linear attention that predicts the last number of the last token. The sizes of its
/// Work are the numbers of tasks, of pairs, and of numbers in a pair.
class LinearAttention {
 public:
  LinearAttention(Parameters& p, const Work& w, std::uint64_t seed, bool)
      : work_(w),
        tokens_(random_tensor(seed, {w[0], w[1] + 1, w[2]})),
        targets_(random_tensor(seed + 1, {w[0]})) {
    for (const char* name : {"query", "key", "value", "out"})
      maps_.push_back(p.matrix(name, w[2], w[2]));
  }

  Tensor loss() const {
    const Tensor pairs = tokens_.narrow(1, 0, work_[1]), test = tokens_.narrow(1, work_[1], 1);
    const Tensor scores = matmul(matmul(test, maps_[0]), matmul(pairs, maps_[1]).transpose(1, 2));
    const Tensor attended = matmul(scores, matmul(pairs, maps_[2]));
    const Tensor predicted = matmul(attended, maps_[3]).select(2, work_[2] - 1).flatten();
    return (predicted - targets_).square().mean() * 0.5;
  }

 private:
  Work work_;
  Tensor tokens_, targets_;
  std::vector<Tensor> maps_;
};

/// Two attention layers. Each concatenates its result with its input. The sizes of its Work are
/// batch, length and symbols.
class Disentangled {
 public:
  Disentangled(Parameters& p, const Work& w, std::uint64_t seed, bool)
      : work_(w),
        x_(random_tensor(seed, {w[0], w[1], w[1] + w[2]})),
        targets_(make_tensor(random_tokens(seed + 1, w[0], w[2]), {w[0]})),
        first_(p.matrix("first", w[1] + w[2], w[1] + w[2])),
        second_(p.matrix("second", 2 * (w[1] + w[2]), 2 * (w[1] + w[2]))),
        out_(p.matrix("out", 4 * (w[1] + w[2]), w[2])),
        hidden_(future(w[1])) {}

  Tensor loss() const {
    const Tensor scores = matmul(matmul(x_, first_), x_.transpose(1, 2)) + hidden_;
    const Tensor middle = join(x_, matmul(softmax(scores, 2), x_));
    const Tensor last = middle.narrow(1, work_[1] - 1, 1);
    const Tensor weights = softmax(matmul(matmul(last, second_), middle.transpose(1, 2)), 2);
    const Tensor all = join(last, matmul(weights, middle));
    return loss_of(matmul(all, out_).squeeze(1), targets_);
  }

 private:
  static Tensor join(const Tensor& a, const Tensor& b) { return cat(std::vector<Tensor>{a, b}, 2); }
  static Tensor future(std::int64_t length) {
    std::vector<float> mask;
    for (std::int64_t query = 0; query < length; ++query) {
      for (std::int64_t key = 0; key < length; ++key)
        mask.push_back(key > query ? -INFINITY : 0.0F);
    }
    return make_tensor(mask, {length, length});
  }

  Work work_;
  Tensor x_, targets_, first_, second_, out_, hidden_;
};

/// A model and its optimizer, which is AdamW for all models.
template <class Model>
class LabTraining {
 public:
  LabTraining(const Work& work, std::uint64_t seed, bool is_fused)
      : parameters_(seed),
        model_(parameters_, work, seed, is_fused),
        optimizer_(parameters_.all()) {}

  Tensor step() {
    for (const Tensor& parameter : parameters_.all()) clear_gradient(parameter);
    Tensor loss = model_.loss();
    loss.backward();
    optimizer_.step();
    return loss;
  }
  const std::map<std::string, Tensor>& parameters_by_name() const { return parameters_.by_name(); }

 private:
  Parameters parameters_;
  Model model_;
  AdamW optimizer_;
};

/// The Task for an operation `lab_...`.
inline Task lab_task(const Work& w, std::uint64_t seed, bool is_fused) {
  if (w.operation == "lab_linear")
    return training_task(std::make_shared<LabTraining<LinearAttention>>(w, seed, is_fused));
  if (w.operation == "lab_disentangled")
    return training_task(std::make_shared<LabTraining<Disentangled>>(w, seed, is_fused));
  return training_task(std::make_shared<LabTraining<SmallModel>>(w, seed, is_fused));
}

}  // namespace compare
