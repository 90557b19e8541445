// Memory that is refused: the n-th request of a call fails, for one n after the other.
#include <exception>
#include <iostream>
#include <thread>

#include <tend/core/threads/parallel.h>

#include "tests/catch.h"
#include "tests/hostile/memory.h"
#include "tests/hostile/options.h"
#include "tests/hostile/refusals.h"

using namespace tend;
using namespace tend::test;

namespace {

// With `most` of the requests of each scenario.
void check_refusals(const std::string& family, const std::vector<Scenario>& all,
                    std::int64_t most) {
  const HostileOptions options = hostile_options(0);
  std::vector<Scenario> scenarios;
  for (const Scenario& each : all) {
    if (options.takes(each.name)) scenarios.push_back(each);
  }
  if (scenarios.empty()) return;
  // Each twice: one request refused, and all from one on.
  const CallRange range{0, 2 * static_cast<std::int64_t>(scenarios.size())};
  const Report report = make_calls(range, [&](std::int64_t index, CallLog& log) {
    set_num_threads(1);
    refuse_each(scenarios[static_cast<std::size_t>(index / 2)], index % 2 == 0, most, log);
  });
  std::cout << "refused memory, " << family << ": " << scenarios.size() << " scenarios, " << report;
  CHECK(report.errors > 0);
  CHECK(report.failures.empty());
}

constexpr std::int64_t kEvery = std::int64_t{1} << 40;

}  // namespace

TEST_CASE("operations without memory throw and change nothing", "[hostile]") {
  check_refusals("operations", row_scenarios(), 6);
}
TEST_CASE("the engine without memory throws and changes nothing", "[hostile]") {
  check_refusals("engine", engine_scenarios(), 40);
}
TEST_CASE("modules and optimizers without memory throw and change nothing", "[hostile]") {
  check_refusals("modules", module_scenarios(), 40);
}
TEST_CASE("attention, generation and loaders without memory throw and change nothing",
          "[hostile]") {
  check_refusals("attention", attention_scenarios(), 40);
}
TEST_CASE("files without memory throw and change nothing", "[hostile]") {
  check_refusals("files", file_scenarios(), 60);
}

#ifdef TEND_HAS_TEXT
TEST_CASE("tokenizers without memory throw and change nothing", "[hostile]") {
  check_refusals("text", text_scenarios(), 60);
}
#endif

#ifdef TEND_HAS_ARCHIVES
TEST_CASE("archives without memory throw and change nothing", "[hostile]") {
  check_refusals("archives", archive_scenarios(), 60);
}
#endif

TEST_CASE("every request for memory can be refused", "[slow]") {
  check_refusals("operations", row_scenarios(), kEvery);
  check_refusals("engine", engine_scenarios(), kEvery);
  check_refusals("modules", module_scenarios(), kEvery);
  check_refusals("attention", attention_scenarios(), kEvery);
  check_refusals("files", file_scenarios(), kEvery);
#ifdef TEND_HAS_TEXT
  check_refusals("text", text_scenarios(), kEvery);
#endif
#ifdef TEND_HAS_ARCHIVES
  check_refusals("archives", archive_scenarios(), kEvery);
#endif
}

TEST_CASE("what another thread draws within a checkpoint may find no memory to be noted") {
  manual_seed(1);
  const Tensor x = ones({4}).requires_grad_();
  const auto draw_elsewhere = [](Tensor t) {
    const RngStateGuard keep;  // is put back behind the other thread's draw
    std::thread([] { static_cast<void>(rand({1})); }).join();
    return t * 2;
  };
  for (std::int64_t n = 1;; ++n) {
    CAPTURE(n);
    RefusedRequest request(n, false);
    bool threw = false;
    try {
      autograd::checkpoint(draw_elsewhere, x);
    } catch (const std::exception&) {  // the library's, and that of a thread without memory
      threw = true;
    }
    const bool came = request.stop();
    CHECK(threw == came);
    if (!came) {
      CHECK(n > 2);
      break;
    }
  }
}
