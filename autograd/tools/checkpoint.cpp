#include <tend/autograd/tools/checkpoint.h>

#include <optional>
#include <utility>

#include <tend/autograd/graph/node.h>
#include <tend/autograd/tensor/grad_mode.h>
#include <tend/core/base/nested_call.h>
#include <tend/core/random/random.h>

namespace tend::autograd {
namespace {

// The shape and the dtype of a tensor that an operation saved in the first run of f.
struct Noted {
  Shape shape;
  DType dtype;
};

// Collects the tensors that the second run saves.
class Collector final : public Recomputation {
 public:
  std::size_t note(const Array& array) override {
    arrays.push_back(array);
    versions.push_back(array.storage()->version());
    return arrays.size() - 1;
  }
  Array recompute(std::size_t index) override { return arrays.at(index); }
  void check(const char*) const override {}

  std::vector<Array> arrays;
  std::vector<std::uint32_t> versions;
};

// One call of checkpoint. It stores only the shapes and dtypes of the tensors that the operations
// of f save.
class Checkpoint final : public Recomputation {
 public:
  Checkpoint(TensorFunction f, const std::vector<Tensor>& inputs, const CheckpointOptions& options)
      : f_(std::move(f)) {
    for (const Tensor& input : inputs) {
      inputs_.emplace_back(input, false);
      requires_grad_.push_back(input.requires_grad());
    }
    if (options.preserve_rng_state) rng_state_ = get_rng_state();
  }

  // Runs f for the first time.
  std::vector<Tensor> run(const std::vector<Tensor>& inputs) {
    const Scope scope(this);
    std::vector<Tensor> outputs = f_.call("checkpoint", inputs);
    open_ = false;
    second_ = {};
    return outputs;
  }

  std::size_t note(const Array& array) override {
    noted_.push_back({array.shape(), array.dtype()});
    return noted_.size() - 1;
  }

  Array recompute(std::size_t index) override {
    if (runs_again_)
      fail<AutogradError>("checkpoint",
                          "when the function runs again, it must not call backward on the result "
                          "of its first run");
    if (!second_ || index >= shared_) {
      const NestedCall nested("checkpoint");
      second_ = run_again();
      shared_ = noted_.size();
    }
    const Array& array = second_->arrays[index];
    if (array.storage()->version() != second_->versions[index]) {
      fail<AutogradError>("checkpoint", "a tensor of shape ", array.shape(),
                          " that was saved for backward was changed in place by [",
                          array.storage()->last_writer(), "]");
    }
    return array;
  }

  void check(const char*) const override {
    for (const SavedTensor& input : inputs_) input.check_version("checkpoint");
  }

 private:
  Ref<Collector> run_again() {
    struct Running {
      explicit Running(bool& flag) : runs(flag) { runs = true; }
      ~Running() { runs = false; }
      bool& runs;
    };
    const Running running(runs_again_);
    std::vector<Tensor> inputs;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      inputs.push_back(inputs_[i].unpack({}).detach());
      if (requires_grad_[i]) inputs[i].requires_grad_();
    }
    Ref<Collector> collector(new Collector);
    {
      std::optional<RngStateGuard> restores_afterwards;
      if (rng_state_) {
        restores_afterwards.emplace();
        set_rng_state(*rng_state_);
      }
      const GradModeGuard usual(true);
      const Scope scope(collector.get());
      f_.call("checkpoint", inputs);
    }
    check_same(collector->arrays);
    return collector;
  }

  void check_same(const std::vector<Array>& arrays) const {
    const bool fits = open_ ? arrays.size() >= noted_.size() : arrays.size() == noted_.size();
    if (!fits) {
      fail<AutogradError>("checkpoint",
                          "the function must save the same tensors for backward when it runs "
                          "again, but saved ",
                          noted_.size(), " tensors and then ", arrays.size());
    }
    for (std::size_t i = 0; i < noted_.size(); ++i) {
      const auto& [shape, dtype] = noted_[i];
      if (arrays[i].shape() == shape && arrays[i].dtype() == dtype) continue;
      fail<AutogradError>("checkpoint",
                          "the function must save the same tensors for backward when it runs "
                          "again, but saved ",
                          shape, ' ', dtype, " and then ", arrays[i].shape(), ' ',
                          arrays[i].dtype());
    }
  }

  TensorFunction f_;
  std::vector<SavedTensor> inputs_;
  std::vector<bool> requires_grad_;
  std::optional<Generator> rng_state_;  // at the start of the first run
  std::vector<Noted> noted_;
  bool open_ = true;  // during the first run, in which f may run backward on a part of its graph
  bool runs_again_ = false;
  Ref<Collector> second_;  // the tensors that the second run saved
  // The number of tensors of the second run that the first run had saved, too. Later tensors may
  // differ, because the random numbers of f may differ after these.
  std::size_t shared_ = 0;
};

}  // namespace

std::vector<Tensor> checkpoint(const TensorFunction& f, const std::vector<Tensor>& inputs,
                               const CheckpointOptions& options) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined()) fail<AutogradError>("checkpoint", "input ", i, " is undefined");
  }
  if (!grad_enabled()) return f.call("checkpoint", inputs);
  const NestedCall nested("checkpoint");
  const Ref<Checkpoint> frame(new Checkpoint(f, inputs, options));
  return frame->run(inputs);
}

}  // namespace tend::autograd
