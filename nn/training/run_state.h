/// \file
/// Checkpoints that hold a whole training run.
#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <tend/core/random/random.h>
#include <tend/nn/files/safetensors.h>
#include <tend/nn/module/module.h>

namespace tend::nn {

/// What has a state: modules, optimizers, schedules, data loaders.
template <class T>
concept Stateful = requires(T& part, const StateDict& state) {
  { part.state_dict() } -> std::convertible_to<StateDict>;
  part.load_state_dict(state);
};

/// Everything that the steps of a training change. A run that is killed and goes on from its last
/// checkpoint has bit for bit the losses and weights of one that was not killed:
///
///     nn::RunState run(model);
///     run.add("optimizer", optimizer);
///     run.add("loader", loader);
///     run.add("step", step);
///     if (resume) run.load("run.safetensors");
///     for (; step < 1000; ++step) {
///       if (step % 100 == 0) run.save("run.safetensors");
///       ...
///     }
///
/// The state of the default generator is always a part. What is added is referred to, and must live
/// as long as the RunState.
class RunState {
 public:
  explicit RunState(ModuleBase& model) : model_(&model) {}

  /// Error for a name that is empty, has a dot, is taken, or is "generator".
  template <Stateful Part>
  void add(const std::string& name, Part& part) {
    add_part({name, true,
              [&part](StateDict& state, const std::string& prefix) {
                for (const auto& [key, value] : part.state_dict())
                  state.emplace_back(prefix + key, value);
              },
              [&part](const StateDict& state, const std::string& prefix) {
                part.load_state_dict(entries_under(state, prefix));
              }});
  }
  void add(const std::string& name, std::int64_t& number);
  void add(const std::string& name, double& number);
  void add(const std::string& name, std::vector<double>& numbers);
  /// A generator of your own, which functions were given to draw from.
  void add(const std::string& name, Generator& generator);

  /// The model's tensors under their own names, and those of part P under "training.P": a number as
  /// a 0-d tensor, numbers as one dimension, other parts as "training.P.KEY". The tensors are the
  /// parts' own. Error for a model that has a module "training".
  StateDict state_dict() const;
  /// Sets all parts, the model's weights last. An Error names what is missing, does not fit or
  /// belongs to no part; parts that were added before the one that does not fit are set then.
  void load_state_dict(const StateDict& state);

  /// Writes a .safetensors file that appears whole or not at all (write_file), in which other
  /// programs find the model's weights. The metadata are `settings`, and under "checksum" one of
  /// all tensors and settings. IoError where that cannot be done; Error for settings that have a
  /// "checksum".
  void save(const std::filesystem::path& path,
            const std::map<std::string, std::string>& settings = {}) const;
  /// Sets all parts to those that save() wrote, and returns the file's settings. IoError for a file
  /// that load_run() refuses, Error as load_state_dict() says.
  std::map<std::string, std::string> load(const std::filesystem::path& path);

 private:
  struct Part {
    std::string name;
    bool has_keys;  // several entries, not one
    std::function<void(StateDict& state, const std::string& key)> save;
    std::function<void(const StateDict& state, const std::string& key)> load;

    /// The key of its entry, or what the keys of its entries begin with.
    std::string key() const;
    bool has(const std::string& entry) const;
  };

  void add_part(Part part);
  /// Adds a part of one entry.
  void add_entry(const std::string& name, DType dtype, std::int64_t rank,
                 std::function<Tensor()> get, std::function<void(const Tensor&)> set);
  void check_keys(const StateDict& state) const;
  static StateDict entries_under(const StateDict& state, const std::string& prefix);

  ModuleBase* model_;
  std::vector<Part> parts_;
};

/// A file that RunState::save() wrote: its tensors, and as metadata its settings. IoError for one
/// without checksum, or whose content has another one.
Safetensors load_run(const std::filesystem::path& path);

}  // namespace tend::nn
