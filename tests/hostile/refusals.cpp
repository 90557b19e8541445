#include "tests/hostile/refusals.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "tests/hostile/memory.h"

namespace tend::test {
namespace {

void put_array(std::string& text, const Array& array) {
  if (!array.defined()) {
    text += "undefined;";
    return;
  }
  const Array dense = array.contiguous();
  text += as_text(dense.dtype(), dense.shape(), ':');
  if (dense.numel() > 0)
    text.append(static_cast<const char*>(dense.raw()),
                static_cast<std::size_t>(dense.numel() * item_size(dense.dtype())));
  text += ';';
}

}  // namespace

std::string digest(const Prepared& prepared, const Tensors& results) {
  std::string text;
  for (const Tensors& list : {results, prepared.watched, prepared.after()}) {
    for (const Tensor& x : list) {
      put_array(text, x.defined() ? x.array() : Array());
      if (!x.defined()) continue;
      const char* name = x.grad_fn();
      text += name == nullptr ? "-" : name;
      text += x.requires_grad() ? "!" : "";
      if (x.grad().defined()) put_array(text, x.grad().array());
    }
    text += '|';
  }
  return text + prepared.state();
}

Tensors room_for_results() {
  Tensors results;
  results.reserve(32);
  return results;
}

Kept::Kept(const Prepared& prepared)
    : before_(prepared.watched), state_(prepared.state()), random_(get_rng_state()) {}

void Kept::check_after_error(Prepared& prepared, const std::string& expected, CallLog& log,
                             bool files_may_go) const {
  const std::string change = before_.difference({}, !prepared.grads_may_change);
  if (!change.empty()) log.fails("has changed something", change);
  if (!files_may_go && prepared.state() != state_) log.fails("has changed its state");
  // What was drawn before the error stays drawn (docs/failures.md).
  set_rng_state(random_);
  if (prepared.grads_may_change) {
    for (Tensor& x : prepared.watched) x.zero_grad();
  }
  Tensors results = room_for_results();
  try {
    prepared.run(results);
    if (digest(prepared, results) != expected) log.fails("gives another result when made again");
  } catch (const std::exception& error) {
    log.fails("cannot be made again", error.what());
  }
}

namespace {

// How a call with a refused request ended.
struct Ending {
  bool refused = false;
  bool threw = false;
  std::string fault;  // what is wrong with the exception
  std::string detail;
};

Ending run_refused(const Prepared& prepared, Tensors& results, std::int64_t n, bool once) {
  Ending ending;
  empty_cache();
  RefusedRequest request(n, once);
  try {
    prepared.run(results);
    ending.refused = request.stop();
  } catch (const OutOfMemoryError& error) {
    ending.refused = request.stop();
    ending.threw = true;
    if (error.what()[0] != '[') ending.fault = "throws an error that names no operation";
  } catch (const std::exception& error) {
    ending.refused = request.stop();
    ending.threw = true;
    ending.detail = error.what();
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> name(
        abi::__cxa_demangle(typeid(error).name(), nullptr, nullptr, &status), std::free);
    ending.fault = as_text("throws ", name.get());
  }
  return ending;
}

// The n that are tried of so many requests.
std::vector<std::int64_t> chosen(std::int64_t requests, std::int64_t most) {
  std::vector<std::int64_t> numbers;
  const std::int64_t step = std::max<std::int64_t>((requests + most - 1) / most, 1);
  for (std::int64_t n = 1; n <= requests; n += step) numbers.push_back(n);
  return numbers;
}

}  // namespace

std::int64_t refuse_each(const Scenario& scenario, bool once, std::int64_t most, CallLog& log) {
  std::int64_t requests = 0, refused = 0;
  std::string expected;
  {
    const Prepared prepared = scenario.prepare();
    Tensors results = room_for_results();
    empty_cache();
    RefusedRequest count(std::int64_t{1} << 40, once);
    prepared.run(results);
    count.stop();
    requests = count.requests();
    expected = digest(prepared, results);
  }
  for (const std::int64_t n : chosen(requests, most)) {
    Prepared prepared = scenario.prepare();
    log.start(
        scenario.name,
        as_text(scenario.name, ", request ", n, " of ", requests, once ? "" : " and all after it"),
        false);
    const Kept kept(prepared);
    Tensors results = room_for_results();
    const Ending ending = run_refused(prepared, results, n, once);
    if (!ending.refused || !refused_in_library()) continue;
    ++refused;
    log.blame("without memory for " + refused_by());
    const std::string alone = once ? "" : ", as nothing is left";
    if (!ending.threw) {
      if (digest(prepared, results) != expected) log.fails("goes on to another result");
      log.ends_with_result();
      continue;
    }
    if (!ending.fault.empty()) log.fails(ending.fault + alone, ending.detail);
    kept.check_after_error(prepared, expected, log);
    ending.fault.empty() ? log.ends_with_error() : void();
  }
  return refused;
}

}  // namespace tend::test
