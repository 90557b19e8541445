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
    Remember remember;
    if constexpr (requires { std::function<void()>(part.remember()); })
      remember = [&part] { return part.remember(); };
    add_part({.name = name,
              .has_keys = true,
              .save =
                  [&part](StateDict& state, const std::string& prefix) {
                    for (const auto& [key, value] : part.state_dict())
                      state.emplace_back(prefix + key, value);
                  },
              .load =
                  [&part](const StateDict& state, const std::string& prefix) {
                    part.load_state_dict(entries_under(state, prefix));
                  },
              .remember = std::move(remember)});
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
  /// Sets all parts. An Error names what is missing, does not fit or belongs to no part; all parts
  /// are as they were then, unless there is no memory to set them back, or one refuses what it was,
  /// as an optimizer that was given a rate out of range. A part that has remember() (DataLoader) is
  /// set back by what that returns.
  void load_state_dict(const StateDict& state);

  /// Writes a .safetensors file that appears whole or not at all (write_file), in which other
  /// programs find the model's weights. The metadata are `settings`, and under "checksum" one of
  /// all tensors and settings. IoError where that cannot be done; Error for settings that have a
  /// "checksum".
  void save(const std::filesystem::path& path,
            const std::map<std::string, std::string>& settings = {}) const;
  /// The errors of save() that names, settings and sizes show, before there is a file: a run that
  /// takes hours can ask in advance.
  void check_save(const std::filesystem::path& path,
                  const std::map<std::string, std::string>& settings = {}) const;
  /// Sets all parts to those that save() wrote, and returns the file's settings. IoError for a file
  /// that load_run() refuses, Error as load_state_dict() says.
  std::map<std::string, std::string> load(const std::filesystem::path& path);

 private:
  using Save = std::function<void(StateDict& state, const std::string& prefix)>;
  using Load = std::function<void(const StateDict& state, const std::string& prefix)>;
  /// Returns what sets the part back to what it is now.
  using Remember = std::function<std::function<void()>()>;
  struct Part {
    std::string name;
    bool has_keys;  // several entries, not one
    Save save;
    Load load;
    Remember remember = {};  // empty where load() sets it back

    /// The key of its entry, or what the keys of its entries begin with.
    std::string key() const;
    bool has(const std::string& entry) const;
  };

  void add_part(Part part);
  void check_keys(const StateDict& state) const;
  std::vector<std::function<void()>> remember_parts() const;
  static StateDict entries_under(const StateDict& state, const std::string& prefix);

  ModuleBase* model_;
  std::vector<Part> parts_;
};

/// A file that RunState::save() wrote: its tensors, and as metadata its settings. IoError for one
/// without checksum, or whose content has another one.
Safetensors load_run(const std::filesystem::path& path);

}  // namespace tend::nn
