// Hostile inputs for every row of the operation table.
#include <iostream>

#include "tests/catch.h"
#include "tests/hostile/checked_call.h"
#include "tests/hostile/options.h"
#include "tests/op_table/op_table.h"

using namespace tend;
using namespace tend::test;

namespace {

// What is written besides the twins' first input.
Writes written_by(const Op& op, bool twin) {
  if (twin) return {.tensors = {0}};
  if (op.name == "batch_norm") return {.tensors = {1, 2}};  // the running statistics
  return {};
}

// The usual inputs: as the table has them, in one of both dtypes, sometimes without gradient.
std::vector<Tensor> usual_inputs(const Op& op, Draws& draws, bool twin) {
  const Sample& sample = draws.of(op.samples);
  std::vector<Tensor> inputs =
      make_case(op, sample, Layout::contiguous, draws.chance(0.5) ? float32 : float64).arguments();
  const bool constant = draws.chance(0.4);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (constant) inputs[i] = inputs[i].detach();
    if (i == 0 && twin) inputs[i] = draws.chance(0.5) ? inputs[i].detach() : inputs[i].clone();
  }
  return inputs;
}

void hostile_row_call(const Op& op, std::uint64_t seed, std::int64_t index, CallLog& log) {
  Arguments arguments(seed, index);
  Draws& draws = arguments.draws();
  const bool twin = !op.twins.empty() && draws.chance(0.4);
  std::vector<Tensor> inputs = usual_inputs(op, draws, twin);
  const std::int64_t victim =
      inputs.empty() ? 0 : draws.between(0, static_cast<std::int64_t>(inputs.size()) - 1);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (static_cast<std::int64_t>(i) == victim || draws.chance(0.25)) {
      inputs[i] = arguments.tensor(inputs[i]);
    } else {
      inputs[i] = arguments.usual(inputs[i]);
    }
  }
  const TensorFunction& call = twin ? op.twins[0] : op.call;
  manual_seed(3);  // so that it is no change when the rows with dropout do the same
  check_call(log, twin ? op.name + "_" : op.name, arguments, written_by(op, twin),
             [&] { return call(inputs); });
}

}  // namespace

TEST_CASE("hostile inputs of every row give an error that changes nothing, or a result",
          "[hostile]") {
  const HostileOptions options = hostile_options(60000);
  const std::vector<const Op*> rows = [&] {
    std::vector<const Op*> chosen;
    for (const Op& op : op_table()) {
      if (options.takes(op.name)) chosen.push_back(&op);
    }
    return chosen;
  }();
  if (rows.empty()) return;
  const Report report = make_calls(options.range, [&](std::int64_t index, CallLog& log) {
    const Op& op = *rows[static_cast<std::size_t>(index) % rows.size()];
    hostile_row_call(op, options.seed, index, log);
  });
  std::cout << "hostile rows: " << rows.size() << " rows, seed " << options.seed << ", " << report;
  CHECK(report.results > 0);
  CHECK(report.errors > 0);
  CHECK(report.failures.empty());
}
