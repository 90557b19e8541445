#include <tend/autograd/graph/timeline.h>

#include <atomic>
#include <chrono>
#include <new>
#include <unordered_map>
#include <utility>

#include <tend/autograd/graph/anomaly.h>
#include <tend/autograd/graph/node.h>
#include <tend/core/kernels/matmul/gemm.h>

namespace tend::autograd {

struct Timeline::State {
  using Clock = std::chrono::steady_clock;

  std::int64_t now() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
  }
  // Notes what has happened since the last operation's end.
  void add(const char* name, bool is_derivative, std::int64_t bytes,
           const std::string& module) noexcept {
    const std::int64_t end = now();
    try {
      record.modules.reserve(record.modules.size() + 1);
      std::string own = module;  // whose memory may run out, so before the place is known
      const auto [place, is_new] = places.try_emplace(module, record.modules.size());
      if (is_new) record.modules.push_back(std::move(own));
      record.operations.push_back({name, is_derivative, place->second, last_end, end, bytes,
                                   static_cast<std::int64_t>(kernels::flop_count - last_flops)});
    } catch (const std::bad_alloc&) {
      ++record.lost;
    }
    go_on();
  }
  // What happens until the next operation begins here.
  void go_on() noexcept {
    last_end = now();
    last_flops = kernels::flop_count;
  }

  Clock::time_point start = Clock::now();
  std::int64_t last_end = 0;
  std::uint64_t last_flops = kernels::flop_count;
  int derivatives = 0;                                  // that run now, one within the other
  std::unordered_map<std::string, std::size_t> places;  // of modules
  Record record;
  const Record none = {};
  const std::string nowhere = {};
  std::atomic<bool> has_ended = false;

  static void forget() noexcept { may_be_on = false; }
};

namespace {

// Of this thread; kept here, since the object may be destroyed on another one.
thread_local struct Current : std::shared_ptr<Timeline::State> {
  using std::shared_ptr<Timeline::State>::operator=;
  // What other destructors compute at the end of the thread is not recorded.
  ~Current() { Timeline::State::forget(); }
} current;

std::int64_t bytes_of(const Array& array) noexcept {
  return array.defined() ? array.numel() * item_size(array.dtype()) : 0;
}
std::int64_t bytes_of(const Tensor& tensor) noexcept {
  return tensor.defined() ? bytes_of(tensor.array()) : 0;
}

}  // namespace

Timeline::Timeline() {
  if (is_on()) fail("Profiler", "this thread is profiled already");
  current = state_ = std::make_shared<State>();
  may_be_on = true;
}

void Timeline::stop() noexcept {
  if (state_->has_ended.exchange(true)) return;
  state_->record.end = state_->now();
}

const Timeline::Record& Timeline::record() const noexcept {
  return state_->has_ended ? state_->record : state_->none;
}

bool Timeline::is_still_on() noexcept {
  may_be_on = !current->has_ended;
  if (!may_be_on) current.reset();
  return may_be_on;
}

void Timeline::note(const char* operation, std::int64_t bytes) noexcept {
  if (!is_on() || current->derivatives > 0) return;
  try {
    current->add(operation, false, bytes, CallScope::current_path());
  } catch (...) {  // no memory for the path: bad_alloc or OutOfMemoryError
    ++current->record.lost;
  }
}

void Timeline::note(const char* operation, const Array& result,
                    std::span<const TensorRef> inputs) noexcept {
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
  if (is_on() && current->derivatives == 0) current->go_on();
}

void TimedDerivative::begin(const Tensor& gradient) noexcept {
  ++current->derivatives;
  bytes_ = bytes_of(gradient);
  for (const SavedTensor& saved : node_->saved()) bytes_ += bytes_of(saved.array());
}

void TimedDerivative::count(std::span<const Tensor> gradients) noexcept {
  for (const Tensor& each : gradients) bytes_ += bytes_of(each);
}

void TimedDerivative::end() noexcept {
  if (!Timeline::is_on()) return;
  if (current->derivatives > 0 && --current->derivatives > 0) return;
  const NodeNotes* notes = node_->notes();
  current->add(node_->operation(), true, bytes_,
               notes != nullptr ? notes->module : current->nowhere);
}

}  // namespace tend::autograd
