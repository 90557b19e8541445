#include "tests/hostile/checked_call.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

#include "tests/snapshot.h"

namespace tend::test {
namespace {

constexpr std::int64_t kMaxTouched = 1 << 16;

// "std::out_of_range" of the exception that is being handled.
std::string exception_name() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(type->name(), nullptr, nullptr, &status), std::free);
  return status == 0 ? name.get() : type->name();
}

// What is wrong with the error that is being handled; empty when it is as errors should be.
std::pair<std::string, std::string> fault_of_error() {
  try {
    throw;
  } catch (const Error& error) {
    const std::string message = error.what();
    if (message.size() < 3 || message[0] != '[' || message[1] == ']')
      return {"throws an error that names no operation", message};
    return {};
  } catch (const std::exception& error) {
    return {"throws " + exception_name(), error.what()};
  } catch (...) {
    return {"throws " + exception_name(), ""};
  }
}

// Whether the current exception is one.
bool is_out_of_memory() {
  try {
    throw;
  } catch (const OutOfMemoryError&) {
    return true;
  } catch (...) {
    return false;
  }
}

bool shares_memory(const Tensor& a, const Tensor& b) {
  return a.defined() && b.defined() && a.array().storage() == b.array().storage();
}

// The numbers of the tensors that the call may change.
std::vector<std::size_t> written(const Writes& writes, const std::vector<Tensor>& tensors) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    for (const std::size_t w : writes.tensors) {
      if (i == w || (w < tensors.size() && shares_memory(tensors[i], tensors[w]))) {
        numbers.push_back(i);
        break;
      }
    }
  }
  return numbers;
}

// Reads all elements. A sanitizer sees where that leaves the memory.
double touch(const Tensor& x) {
  if (!x.defined() || x.numel() > kMaxTouched) return 0;
  double sum = 0;
  const Array values = x.array().to(float64).contiguous();
  for (std::int64_t i = 0; i < values.numel(); ++i) sum += values.data<double>()[i];
  return sum;
}

// Backward from the results, which may be refused as any call.
void check_backward(CallLog& log, const Arguments& arguments, const std::vector<Tensor>& results) {
  std::vector<Tensor> from, cotangents;
  for (const Tensor& result : results) {
    if (!result.defined() || !result.requires_grad() || result.numel() > kMaxTouched) continue;
    from.push_back(result);
    cotangents.push_back(ones_like(result));
  }
  if (from.empty()) return;
  try {
    backward(from, cotangents);
  } catch (...) {
    const auto [kind, detail] = fault_of_error();
    if (!kind.empty()) log.fails("backward " + kind, detail);
    return;
  }
  for (const Tensor& x : arguments.tensors()) {
    const Tensor grad = x.defined() ? x.grad() : Tensor();
    if (!grad.defined()) continue;
    touch(grad);
    if (grad.shape() != x.shape() || grad.dtype() != x.dtype())
      log.fails("backward gives a gradient of another shape or dtype", describe(grad));
  }
}

}  // namespace

void check_call(CallLog& log, const std::string& function, const Arguments& arguments,
                const Writes& writes, const std::function<std::vector<Tensor>()>& call) {
  const std::vector<Tensor>& tensors = arguments.tensors();
  const Snapshot before(tensors);
  const Generator random = get_rng_state();
  log.start(function,
            as_text("call ", arguments.index(), ": ", function, '(', arguments.text(), ')'),
            arguments.is_large());
  std::vector<Tensor> results;
  try {
    results = call();
  } catch (...) {
    const auto [kind, detail] = fault_of_error();
    if (!kind.empty()) log.fails(kind, detail);
    const std::string change = before.difference();
    if (!change.empty()) log.fails("throws, but has changed an argument", change);
    // What was drawn before memory ran out stays drawn (docs/failures.md).
    if (get_rng_state() != random && !is_out_of_memory())
      log.fails("throws, but has drawn random numbers");
    if (kind.empty()) log.ends_with_error();
    return;
  }
  if (!writes.anything) {
    const std::string change = before.difference(written(writes, tensors));
    if (!change.empty()) log.fails("changes an argument", change);
  }
  try {
    for (const Tensor& result : results) touch(result);
  } catch (...) {  // reading is a call, too, and a tensor may have too many dimensions for it
    const auto [kind, detail] = fault_of_error();
    if (!kind.empty()) log.fails("gives a result that cannot be read: " + kind, detail);
  }
  check_backward(log, arguments, results);
  log.ends_with_result();
}

}  // namespace tend::test
