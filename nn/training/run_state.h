/// \file
/// Checkpoints of whole training runs.
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

/// A type with a state: modules, optimizers, schedules, data loaders.
template <class T>
concept Stateful = requires(T& part, const StateDict& state) {
  { part.state_dict() } -> std::convertible_to<StateDict>;
  part.load_state_dict(state);
};

/// Everything that the steps of a training run change. A killed run that continues from its last
/// checkpoint has the same losses and weights, bit for bit, as a run that was not killed:
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
/// The state of the default generator is always included. The RunState refers to its parts, which
/// must live as long as the RunState.
class RunState {
 public:
  explicit RunState(ModuleBase& model) : model_(&model) {}

  /// Adds a part with a state.
  ///
  /// Throws: Error - the name is empty, has a dot, is taken, or is "generator"
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
  /// Adds your own generator.
  void add(const std::string& name, Generator& generator);

  /// The tensors of the model and of all parts.
  ///
  /// The model's tensors have their own names. A part P that is a number or a list of numbers is a
  /// tensor "training.P" with 0 dimensions or one. The tensors of other parts are "training.P.KEY".
  /// The tensors are the parts' own, not copies.
  ///
  /// Throws: Error - the model has a module "training"
  StateDict state_dict() const;
  /// Loads all parts, in the order in which they were added, and then the model's weights.
  ///
  /// If an entry of a part is wrong, the parts before this part are already loaded.
  ///
  /// Throws: Error - an entry is missing, does not fit or belongs to no part
  void load_state_dict(const StateDict& state);

  /// Writes a .safetensors file, which appears whole or not at all (write_file). Other programs can
  /// read the model's weights from it. The file's metadata are `settings` and "checksum", a
  /// checksum of all tensors and settings.
  ///
  /// Throws:
  ///   IoError - the file cannot be written
  ///   Error   - the settings have a "checksum"
  void save(const std::filesystem::path& path,
            const std::map<std::string, std::string>& settings = {}) const;
  /// Loads a file that save() wrote, and returns its settings.
  ///
  /// Throws:
  ///   IoError - as load_run()
  ///   Error   - as load_state_dict()
  std::map<std::string, std::string> load(const std::filesystem::path& path);

 private:
  struct Part {
    std::string name;
    bool has_keys;  // true for a part with entries of its own, false for a single tensor
    std::function<void(StateDict& state, const std::string& key)> save;
    std::function<void(const StateDict& state, const std::string& key)> load;

    /// The key of the part's only entry, or the prefix of the keys of all its entries.
    std::string key() const;
    bool has(const std::string& entry) const;
  };

  void add_part(Part part);
  /// Adds a part that has one entry.
  void add_entry(const std::string& name, DType dtype, std::int64_t rank,
                 std::function<Tensor()> get, std::function<void(const Tensor&)> set);
  void check_keys(const StateDict& state) const;
  static StateDict entries_under(const StateDict& state, const std::string& prefix);

  ModuleBase* model_;
  std::vector<Part> parts_;
};

/// Reads a file that RunState::save() wrote. The metadata of the result are the run's settings.
///
/// Throws: IoError - the file cannot be read, has no checksum, or its checksum is wrong
Safetensors load_run(const std::filesystem::path& path);

}  // namespace tend::nn
