#include <tend/nn/training/run_state.h>
#include <tend/tend.h>

#include "tests/fuzz/targets/file_target.h"

// Runs the part of load() that follows the check of the checksum. The check itself would refuse
// nearly every input.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static tend::nn::Linear model(2, 1);
  static tend::optim::AdamW optimizer(model.parameters(), 0.1);
  return tend::test::load_fuzzed(data, size, [](const auto& path) {
    std::int64_t step = 0;
    tend::nn::RunState run(model);
    run.add("optimizer", optimizer);
    run.add("step", step);
    run.load_state_dict(tend::nn::load_safetensors(path).tensors);
  });
}
