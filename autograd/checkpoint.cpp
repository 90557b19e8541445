#include <tend/autograd/checkpoint.h>

#include <mutex>
#include <optional>
#include <utility>

#include <tend/autograd/grad_mode.h>
#include <tend/autograd/node.h>
#include <tend/core/random.h>

namespace tend::autograd {
namespace {

// Lists what a second run of f saves.
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

// One call of checkpoint. The tensors that its operations save only count.
class Checkpoint final : public Recomputation {
 public:
  Checkpoint(TensorFunction f, const std::vector<Tensor>& inputs, const CheckpointOptions& options)
      : f_(std::move(f)) {
    for (const Tensor& input : inputs) {
      inputs_.emplace_back(input, false);
      requires_grad_.push_back(input.requires_grad());
    }
    if (options.preserve_rng_state) generator_ = get_rng_state();
  }

  std::size_t note(const Array&) override { return saves_++; }

  Array recompute(std::size_t index) override {
    const std::lock_guard lock(mutex_);
    if (!second_) run_again();
    const Array& array = second_->arrays[index];
    if (array.storage()->version() != second_->versions[index]) {
      fail<AutogradError>("checkpoint", "a tensor of shape ", array.shape(),
                          " that was saved for backward is changed in place by [",
                          array.storage()->last_writer(), "]");
    }
    return array;
  }

  void check(const char*) const override {
    for (const SavedTensor& input : inputs_) input.check_version("checkpoint");
  }

 private:
  void run_again() {
    std::vector<Tensor> inputs;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      inputs.push_back(inputs_[i].unpack({}).detach());
      if (requires_grad_[i]) inputs[i].requires_grad_();
    }
    const Ref<Collector> collector(new Collector);
    {
      std::optional<RngStateGuard> draws_as_before;
      if (generator_) {
        draws_as_before.emplace();
        set_rng_state(*generator_);
      }
      const GradModeGuard record(true);
      const Scope scope(collector.get());
      f_(inputs);
    }
    if (collector->arrays.size() != saves_) {
      fail<AutogradError>("checkpoint", "the function saved ", saves_,
                          " tensors for backward, and ", collector->arrays.size(),
                          " when it ran again");
    }
    second_ = collector;
  }

  TensorFunction f_;
  std::vector<SavedTensor> inputs_;
  std::vector<bool> requires_grad_;
  std::optional<Generator> generator_;
  std::size_t saves_ = 0;
  std::mutex mutex_;
  Ref<Collector> second_;
};

}  // namespace

std::vector<Tensor> checkpoint(const TensorFunction& f, const std::vector<Tensor>& inputs,
                               const CheckpointOptions& options) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined()) fail<AutogradError>("checkpoint", "input ", i, " is undefined");
  }
  if (!grad_enabled()) return f(inputs);
  const Ref<Checkpoint> frame(new Checkpoint(f, inputs, options));
  const Recomputation::Scope scope(frame.get());
  return f(inputs);
}

}  // namespace tend::autograd
