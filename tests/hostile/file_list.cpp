// Files of tensors, whole runs in files, and files that cannot be had.
#include <unistd.h>
#include <filesystem>
#include <stdexcept>

#include <tend/nn/files/safetensors_file.h>
#include <tend/nn/files/write_file.h>

#include "tests/hostile/guard.h"
#include "tests/hostile/typed_calls.h"

namespace tend::test {
namespace {

// What f(path, ...) writes and reads again.
template <class F>
PublicFunction of_written_state(const char* signature, F f) {
  return by_hand(signature, [=](Arguments& a) {
    const auto state = drawn<nn::StateDict>(a);
    const bool mmap = a.flag(), half = a.flag();
    const auto kind = a.choice<int>({0, 0, 0, 1, 2, 3});
    return DrawnCall([=]() -> Tensors {
      const std::string path = kind == 0   ? scratch_file()
                               : kind == 1 ? std::string()
                               : kind == 2 ? "/nowhere/at/all"
                                           : "/tmp";
      const nn::SafetensorsOptions options{half ? std::optional(nn::HalfType::float16)
                                                : std::nullopt};
      Tensors back = f(path, state, options, nn::LoadOptions{mmap});
      std::filesystem::remove(path);
      return back;
    });
  });
}

std::vector<PublicFunction> files() {
  const auto plain = [](const auto& path, const auto& state, const auto&, const auto& load) {
    nn::save_safetensors(path, state);
    return tensors_in(nn::load_safetensors(path, load).tensors);
  };
  const auto with_options = [](const auto& path, const auto& state, const auto& options,
                               const auto& load) {
    nn::save_safetensors(path, state, options);
    return tensors_in(nn::load_safetensors(path, load).tensors);
  };
  const auto shards = [](const auto& path, const auto& state, const auto& options,
                         const auto& load) {
    const std::filesystem::path folder = path + "_folder";
    if (path == scratch_file()) std::filesystem::create_directory(folder);
    nn::save_safetensors_shards(folder, state, {.max_shard_size = 20, .dtype = options.dtype});
    const auto index = folder / "model.safetensors.index.json";
    const bool is_whole = !std::filesystem::exists(index);
    Tensors back = tensors_in(
        nn::load_safetensors(is_whole ? folder / "model.safetensors" : index, load).tensors);
    std::filesystem::remove_all(folder);
    return back;
  };
  const auto one = [](const auto& path, const auto& state, const auto&, const auto& load) {
    nn::save_safetensors(path, state);
    const nn::SafetensorsFile file(path, load);
    return Tensors{file.load(file.contains("bias") ? "bias" : "weight")};
  };
  const auto each = [](const auto& path, const auto& state, const auto&, const auto& load) {
    nn::save_safetensors(path, state, {{"key", "value"}});
    const nn::SafetensorsFile file(path, load);
    if (file.metadata().at("key") != "value") throw std::logic_error("the metadata differ");
    Tensors all;
    for (const nn::SafetensorsEntry& entry : file.entries()) all.push_back(file.load(entry.name));
    return all;
  };
  return {
      of_written_state("nn::save_safetensors(const std::filesystem::path&, const StateDict&, const "
                       "M&)",
                       plain),
      of_written_state("nn::save_safetensors(const std::filesystem::path&, const StateDict&, "
                       "const SafetensorsOptions&)",
                       with_options),
      of_written_state("nn::save_safetensors_shards(const std::filesystem::path&, const "
                       "StateDict&, const ShardOptions&)",
                       shards),
      of_written_state("nn::SafetensorsFile::load(std::string_view)", one),
      of_written_state("nn::SafetensorsFile::contains(std::string_view)", one),
      of_written_state("nn::SafetensorsFile::entries()", each),
      of_written_state("nn::SafetensorsFile::metadata()", each),
      by_hand("nn::operator==(const StateDict&, const StateDict&)",
              [](Arguments& a) {
                const auto x = drawn<nn::StateDict>(a), y = drawn<nn::StateDict>(a);
                return DrawnCall([=]() -> Tensors { return {tensor(x == y)}; });
              }),
      by_hand("nn::save_npy(const std::filesystem::path&, const Tensor&)", [](Arguments& a) {
        const Tensor x = a.tensor();
        const bool mmap = a.flag();
        return DrawnCall([=]() -> Tensors {
          const std::string path = scratch_file();
          nn::save_npy(path, x);
          const Tensor back = nn::load_npy(path, {.mmap = mmap});
          std::filesystem::remove(path);
          return {back};
        });
      })};
}

// A run of one layer and one optimizer; f(run, state), where `state` is one that may fit.
template <class F>
PublicFunction of_run(std::string signature, F f) {
  PublicFunction function = by_hand(std::move(signature), [f](Arguments& a) {
    nn::Linear model(3, 2);
    optim::SGD optimizer(model.parameters(), {.momentum = 0.9});
    for (const Tensor& parameter : model.parameters()) parameter.sum().backward();
    optimizer.step();
    nn::RunState run(model);
    run.add("optimizer", optimizer);
    nn::StateDict state = run.state_dict();
    for (auto& [name, tensor] : state) tensor = a.tensor(tensor);
    return DrawnCall([=]() mutable -> Tensors {
      nn::RunState own(model);
      own.add("optimizer", optimizer);
      f(own, state);
      return {};
    });
  });
  function.writes.anything = true;
  return function;
}

// A log in a folder that may not be there, with a step.
PublicFunction of_log(std::string signature) {
  return by_hand(std::move(signature), [](Arguments& a) {
    const bool is_bad = a.flag();
    const nn::TrainedStep step{a.integer(), a.real(), a.real(), a.real(), a.real(), a.real()};
    return DrawnCall([=, last = a.integer()]() -> Tensors {
      const std::string folder = scratch_file() + ".d";
      if (!is_bad) std::filesystem::create_directories(folder);
      nn::RunLog(folder, last).write(step);
      nn::progress_text(step, last, step.loss);
      std::filesystem::remove_all(folder);
      return {};
    });
  });
}

std::vector<PublicFunction> runs() {
  return {of_log("nn::RunLog::RunLog(std::filesystem::path, std::int64_t)"),
          of_log("nn::RunLog::write(const TrainedStep&)"),
          of_log("nn::progress_text(const TrainedStep&, std::int64_t, double)"),
          of_run("nn::RunState::load_state_dict(const StateDict&)",
                 [](nn::RunState& run, const nn::StateDict& state) { run.load_state_dict(state); }),
          of_run("nn::RunState::save(const std::filesystem::path&, const std::map<std::string, "
                 "std::string>&)",
                 [](nn::RunState& run, const nn::StateDict&) {
                   run.save(scratch_file(), {{"key", "value"}});
                   std::filesystem::remove(scratch_file());
                 }),
          of_run("nn::RunState::check_save(const std::filesystem::path&, const "
                 "std::map<std::string, std::string>&)",
                 [](nn::RunState& run, const nn::StateDict&) {
                   run.check_save(scratch_file(), {{"key", "value"}});
                 }),
          of_run("nn::RunState::load(const std::filesystem::path&)",
                 [](nn::RunState& run, const nn::StateDict& state) {
                   nn::save_safetensors(scratch_file(), state, {{"checksum", "1"}});
                   const auto clean = [] { std::filesystem::remove(scratch_file()); };
                   try {
                     run.load(scratch_file());
                   } catch (...) {
                     clean();
                     throw;
                   }
                   clean();
                 }),
          of_run("nn::CheckpointFolder::save(const RunState&, std::int64_t, const "
                 "std::map<std::string, std::string>&)",
                 [](nn::RunState& run, const nn::StateDict&) {
                   const std::string folder = scratch_file() + ".d";
                   nn::CheckpointFolder(folder, 1).save(run, 3);
                   std::filesystem::remove_all(folder);
                 }),
          by_hand("nn::CheckpointFolder::clear(std::int64_t)",
                  [](Arguments& a) {
                    const auto step = a.integer();
                    return DrawnCall([=]() -> Tensors {
                      const std::string folder = scratch_file() + ".d";
                      nn::CheckpointFolder(folder, 1).clear(step);
                      std::filesystem::remove_all(folder);
                      return {};
                    });
                  }),
          by_hand("nn::CheckpointFolder::CheckpointFolder(std::filesystem::path, std::int64_t)",
                  [](Arguments& a) {
                    const auto keep = a.integer();
                    const bool is_bad = a.flag();
                    return DrawnCall([=]() -> Tensors {
                      nn::CheckpointFolder(is_bad ? "/dev/null/x" : "/tmp", keep);
                      return {};
                    });
                  }),
          by_hand("nn::load_run(const std::filesystem::path&)", [](Arguments& a) {
            const std::string path = draw_path(a);
            return DrawnCall([=] { return tensors_in(nn::load_run(path).tensors); });
          })};
}

// Reads or writes a file that cannot be had, or is something else.
std::vector<PublicFunction> bad_files() {
  return {by_hand("nn::load_safetensors(const std::filesystem::path&, const LoadOptions&)",
                  [](Arguments& a) {
                    return DrawnCall([from = draw_path(a), mmap = a.flag()] {
                      return tensors_in(nn::load_safetensors(from, {.mmap = mmap}).tensors);
                    });
                  }),
          by_hand("nn::SafetensorsFile::SafetensorsFile(const std::filesystem::path&, const "
                  "LoadOptions&)",
                  [](Arguments& a) {
                    return DrawnCall([from = draw_path(a), mmap = a.flag()]() -> Tensors {
                      return {nn::SafetensorsFile(from, {.mmap = mmap}).load("a")};
                    });
                  }),
          by_hand("nn::load_npy(const std::filesystem::path&, const LoadOptions&)",
                  [](Arguments& a) {
                    return DrawnCall([from = draw_path(a), mmap = a.flag()]() -> Tensors {
                      return {nn::load_npy(from, {.mmap = mmap})};
                    });
                  }),
          by_hand("nn::check_can_write(const std::filesystem::path&)",
                  [](Arguments& a) {
                    return DrawnCall([to = draw_path(a)]() -> Tensors {
                      nn::check_can_write(to);
                      return {};
                    });
                  }),
          by_hand("nn::remove_leftovers(const std::filesystem::path&, std::string_view)",
                  [](Arguments& a) {
                    return DrawnCall([from = draw_path(a)]() -> Tensors {
                      nn::remove_leftovers(from, "tend_hostile_none");
                      return {};
                    });
                  }),
          by_hand("nn::for_each_name(const std::filesystem::path&, FunctionRef<void(const "
                  "std::string&)>)",
                  [](Arguments& a) {
                    return DrawnCall([from = draw_path(a)]() -> Tensors {
                      nn::for_each_name(from, [](const std::string&) {});
                      return {};
                    });
                  }),
          by_hand("nn::follow_links(const std::filesystem::path&)",
                  [](Arguments& a) {
                    return DrawnCall([from = draw_path(a)]() -> Tensors {
                      nn::follow_links(from);
                      return {};
                    });
                  }),
          by_hand("nn::write_file(const std::filesystem::path&, std::string_view, "
                  "std::string_view)",
                  [](Arguments& a) {
                    return DrawnCall([to = draw_path(a)]() -> Tensors {
                      nn::write_file(to, "abc", "test");
                      return {};
                    });
                  }),
          by_hand("nn::append_file(const std::filesystem::path&, std::string_view, "
                  "std::string_view)",
                  [](Arguments& a) {
                    return DrawnCall([to = draw_path(a)]() -> Tensors {
                      nn::append_file(to, "abc", "test");
                      return {};
                    });
                  }),
          by_hand("nn::ModuleList::ModuleList(std::int64_t, Make)",
                  [](Arguments& a) {
                    return DrawnCall([count = a.integer()] {
                      return nn::ModuleList<nn::Identity>(std::min<std::int64_t>(count, 99),
                                                          [] { return nn::Identity(); })
                          .parameters();
                    });
                  }),
          by_hand("nn::ModuleList::reserve(std::int64_t)",
                  [](Arguments& a) {
                    return DrawnCall([count = a.integer()]() -> Tensors {
                      nn::ModuleList<nn::Linear> list;
                      list.reserve(count);
                      return {};
                    });
                  }),
          by_hand("nn::write_file(const std::filesystem::path&, const std::function<void(const "
                  "PutBytes&)>&, std::string_view)",
                  [](Arguments& a) {
                    const bool fails = a.flag();
                    const bool exists = a.flag();
                    return DrawnCall([=]() -> Tensors {
                      const std::string to = exists ? scratch_file() : "/nowhere/at/all";
                      nn::write_file(to, [&](const nn::PutBytes& put) {
                        put("abc", 3);
                        if (fails) fail<IoError>("test", "the user's function fails");
                      });
                      std::filesystem::remove(to);
                      return {};
                    });
                  })};
}

}  // namespace

std::vector<PublicFunction> file_functions() {
  std::vector<PublicFunction> all = files();
  for (const auto& family : {runs(), bad_files()})
    all.insert(all.end(), family.begin(), family.end());
  return all;
}

}  // namespace tend::test
