#include <tend/autograd/graph/timeline.h>

#include <utility>

#include <tend/autograd/graph/call_scope.h>
#include <tend/autograd/graph/node.h>
#include <tend/core/kernels/matmul/gemm.h>

namespace tend::autograd {
namespace {

std::int64_t bytes_of(const Array& array) {
  return array.defined() ? array.numel() * item_size(array.dtype()) : 0;
}
std::int64_t bytes_of(const Tensor& tensor) {
  return tensor.defined() ? bytes_of(tensor.array()) : 0;
}

}  // namespace

Timeline::Timeline() : last_flops_(kernels::flop_count) {
  if (is_on()) fail("Profiler", "this thread is profiled already");
  current_ = this;
}

void Timeline::stop() noexcept {
  if (current_ != this) return;
  current_ = nullptr;
  running_.end = now();
  stopped_ = std::move(running_);
}

std::int64_t Timeline::now() const {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start_).count();
}

void Timeline::add(const char* name, bool is_derivative, std::int64_t bytes,
                   const std::string& module) {
  const std::int64_t end = now();
  const auto [entry, is_new] = indices_.try_emplace(module, running_.modules.size());
  if (is_new) running_.modules.push_back(module);
  running_.operations.push_back({name, is_derivative, entry->second, last_end_, end, bytes,
                                 static_cast<std::int64_t>(kernels::flop_count - last_flops_)});
  go_on();
}

void Timeline::go_on() noexcept {
  last_end_ = now();
  last_flops_ = kernels::flop_count;
}

void Timeline::note(const char* operation, std::int64_t bytes) {
  if (!is_on() || current_->derivatives_ > 0) return;
  current_->add(operation, false, bytes, CallScope::current_path());
}

void Timeline::note(const char* operation, const Array& result, std::span<const TensorRef> inputs) {
  std::int64_t bytes = bytes_of(result);
  for (const TensorRef& input : inputs) {
    if (input.get() != nullptr) bytes += bytes_of(*input.get());
  }
  note(operation, bytes);
}

void Timeline::note_module(Node& node) {
  node.make_notes().module = CallScope::current_path();
}

void Timeline::skip() noexcept {
  if (is_on() && current_->derivatives_ == 0) current_->go_on();
}

void TimedDerivative::begin(const Node& node, const Tensor& gradient) {
  node_ = &node;
  ++timeline_->derivatives_;
  bytes_ = bytes_of(gradient);
  for (const SavedTensor& saved : node.saved()) bytes_ += bytes_of(saved.array());
}

void TimedDerivative::count(std::span<const Tensor> gradients) {
  for (const Tensor& each : gradients) bytes_ += bytes_of(each);
}

void TimedDerivative::end() {
  // A hook may have stopped the timeline.
  if (Timeline::current_ != timeline_ || --timeline_->derivatives_ > 0) return;
  const NodeNotes* notes = node_->notes();
  timeline_->add(node_->operation(), true, bytes_, notes != nullptr ? notes->module : "");
}

}  // namespace tend::autograd
