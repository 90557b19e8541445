// Archives of arrays. It is compiled where tend::archives is built.
#include <filesystem>
#include <string>

#include <tend/nn/archives/npz.h>
#include <tend/nn/archives/pt.h>

#include "tests/hostile/guard.h"
#include "tests/hostile/typed_calls.h"

namespace tend::test {
namespace {

nn::StateDict draw_arrays(Arguments& a) {
  nn::StateDict state;
  for (std::int64_t count = a.draws().between(0, 3); count > 0; --count)
    state.emplace_back(a.choice<const char*>({"", "a", "b.weight", "\xFF", "c/d"}), a.tensor());
  return state;
}

// f(path, state) writes to a file and reads it again.
template <class F>
DrawnCall draw_written(Arguments& a, F f) {
  return DrawnCall([=, state = draw_arrays(a)] {
    const std::string path = scratch_file();
    Tensors out = tensors_in(f(path, state));
    std::filesystem::remove(path);
    return out;
  });
}

template <class F>
PublicFunction of_written(const char* signature, F f) {
  return by_hand(signature, [=](Arguments& a) { return draw_written(a, f); });
}

DrawnCall draw_written_npz(Arguments& a) {
  return draw_written(
      a, [compressed = a.flag(), mmap = a.flag()](const auto& path, const auto& state) {
        nn::save_npz(path, state, {.compressed = compressed});
        return nn::load_npz(path, {.mmap = mmap});
      });
}

// f(path, mmap) reads what is at a path where no archive is.
template <class F>
PublicFunction of_place(const char* signature, F f) {
  return by_hand(signature, [=](Arguments& a) {
    return DrawnCall([=, path = draw_path(a), mmap = a.flag()]() -> Tensors {
      f(path, mmap);
      return {};
    });
  });
}

}  // namespace

std::vector<PublicFunction> archive_functions() {
  const auto write_pt = [](const auto& path, const auto& state) {
    nn::save_pt(path, state);
    return nn::load_pt(path).state_dict();
  };
  const auto write_value = [](const auto& path, const auto& state) {
    nn::save_pt(path, nn::PtValue(nn::PtDict{{"state", state}, {std::int64_t{1}, 2.5}}));
    return nn::load_pt(path).at("state").state_dict();
  };
  return {
      by_hand("nn::save_npz(const std::filesystem::path&, const StateDict&, const NpzOptions&)",
              draw_written_npz),
      of_written("nn::save_pt(const std::filesystem::path&, const StateDict&)", write_pt),
      of_written("nn::save_pt(const std::filesystem::path&, const PtValue&)", write_value),
      of_written("nn::PtValue::state_dict()",
                 [](const auto&, const auto& state) { return nn::PtValue(state).state_dict(); }),
      of_written(
          "nn::PtValue::at(std::string_view)",
          [](const auto&, const auto& state) { return nn::PtValue(state).at("a").state_dict(); }),
      of_place("nn::load_npz(const std::filesystem::path&, const LoadOptions&)",
               [](const auto& path, bool mmap) { nn::load_npz(path, {.mmap = mmap}); }),
      of_place("nn::load_pt(const std::filesystem::path&)",
               [](const auto& path, bool) { nn::load_pt(path); }),
  };
}

}  // namespace tend::test
