// Calls without memory: archives. It is compiled where tend::archives is built.
#include <string>

#include <tend/nn/archives/npz.h>
#include <tend/nn/archives/pt.h>
#include <tend/tend.h>

#include "tests/hostile/guard.h"
#include "tests/hostile/refusals.h"

namespace tend::test {
namespace {

nn::StateDict some_arrays_to_save() {
  return {{"weight", arange(12, float32).view({3, 4}).t()},
          {"a name that is long enough", ones({2})}};
}

template <class Save, class Load>
std::vector<Scenario> of_format(const std::string& name, Save save, Load load) {
  const auto prepare_save = [=] {
    const std::string path = scratch_file();
    Prepared prepared;
    prepared.run = [=, state = some_arrays_to_save()](std::vector<Tensor>&) { save(path, state); };
    return prepared;
  };
  const auto prepare_load = [=] {
    const std::string path = scratch_file();
    save(path, some_arrays_to_save());
    Prepared prepared;
    prepared.run = [=](std::vector<Tensor>& results) {
      for (const auto& [key, x] : load(path)) results.push_back(x);
    };
    return prepared;
  };
  return {{"save of " + name, prepare_save}, {"load of " + name, prepare_load}};
}

}  // namespace

std::vector<Scenario> archive_scenarios() {
  std::vector<Scenario> all = of_format(
      "npz",
      [](const auto& path, const auto& state) { nn::save_npz(path, state, {.compressed = true}); },
      [](const auto& path) { return nn::load_npz(path); });
  for (Scenario& each : of_format(
           "pt", [](const auto&path, const auto&state) { nn::save_pt(path, state); },
           [](const auto&path) { return nn::load_pt(path).state_dict(); }))
    all.push_back(std::move(each));
  // To save for it is nothing new.
  all.push_back(of_format(
                    "mapped npz",
                    [](const auto& path, const auto& state) { nn::save_npz(path, state); },
                    [](const auto& path) { return nn::load_npz(path, {.mmap = true}); })
                    .back());
  all.push_back({"load of a tar", [] {
                   Prepared prepared;
                   prepared.run = [](std::vector<Tensor>& results) {
                     const nn::PtValue value = nn::load_pt(TEND_TEST_DATA "/pt/tar_small.pt");
                     results.push_back(*value.at("x").as<Tensor>());
                   };
                   return prepared;
                 }});
  return all;
}

}  // namespace tend::test
