// A random program over leaves that persist: what trains, reshapes, freezes and hooks tensors, and
// goes on after a call that failed. As C++ calls that were made and as Python statements.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include <tend/tend.h>

#include "dice.h"
#include "digest.h"
#include "snapshot.h"
#include "world.h"

namespace fuzz {

/// A call as it was made, and the world after it.
struct Statement {
  std::string python;  // one line
  std::string error;   // what it threw, empty when it did not fail
  std::string trace;   // what a call that failed has changed nevertheless; empty as it should be
  World after;
};

/// What a statement runs under, outermost first: no_grad, enable_grad, inference_mode, and
/// inference_mode(False).
enum class Mode { no_grad, enable_grad, inference, usual };
using Modes = std::vector<Mode>;

/// An optimizer of a program.
struct Trainer {
  std::string name;
  std::variant<tend::optim::SGD, tend::optim::AdamW> optimizer;

  tend::nn::StateDict state_dict();
};

/// A hook of a program.
struct Hook {
  std::string name;
  tend::HookHandle handle;
  bool acts;  // does more than to give another gradient
};

/// A program while it is written. Every statement acts at once, and its outcome is noted.
class LeafProgram {
 public:
  explicit LeafProgram(std::uint64_t seed);
  LeafProgram(const LeafProgram&) = delete;
  LeafProgram& operator=(const LeafProgram&) = delete;

  std::uint64_t seed() const noexcept { return seed_; }
  const std::deque<Statement>& statements() const noexcept { return statements_; }
  /// All statements, one a line.
  std::string python() const;
  /// True when float32 takes part, where results are compared less closely.
  bool single_precision() const noexcept { return single_; }
  /// Names of the entries of the catalogue that the program has.
  const std::set<std::string>& entries() const noexcept { return entries_; }

  // For the catalogue.

  Dice dice;
  /// Runs f and notes the statement; false when f threw.
  bool act(const std::string& python, const std::function<void()>& f, const Modes& modes = {});
  /// A statement that gives what f returns a name, unless f throws.
  bool define(Role role, const std::string& python, const std::function<tend::Tensor()>& f,
              const Modes& modes = {});
  /// Names a tensor from inside a statement.
  void bind(const std::string& name, const tend::Tensor& tensor, Role role);
  /// "v7".
  std::string fresh(char letter);
  /// For a hook that has changed what this name means, in the middle of a statement.
  void touched(const std::string& name);

  /// A leaf; a tensor of floating dtype of any role; one with a history; one without gradient,
  /// new, of the shape and dtype.
  Named leaf();
  Named real();
  std::optional<Named> tracked();
  Named plain(const tend::Shape& shape, tend::DType dtype);
  /// A floating tensor whose shape broadcasts with other's, and whose dtype is the same.
  Named partner(const Named& other);
  /// Nothing, or one or two modes.
  Modes some_modes(double chance);
  tend::Tensor find(const std::string& name) const { return world_.find(name); }
  const std::vector<Named>& all() const noexcept { return world_.tensors; }

  /// Lets every other name go that depends on `name`, and gradients that do; PyTorch and tend keep
  /// different things for them.
  void forget_dependents(const std::string& name);
  /// The same of what shares its elements.
  void forget_views(const std::string& name);
  /// The same of all that has a history.
  void forget_graphs();
  bool has_acting_hooks() const;
  /// Lets gradients of another shape or dtype than their leaf's go. The backward that would refuse
  /// them has called the hooks before.
  void clear_misfits();

  std::deque<Trainer> trainers;
  std::vector<Hook> hooks;
  std::deque<std::pair<std::string, tend::nn::Linear>> modules;

 private:
  void add_leaves();
  void add_steps();
  void forget(const std::function<bool(const tend::Tensor&)>& matches);
  bool is_tame() const;

  std::uint64_t seed_;
  std::deque<Statement> statements_;
  Names world_;
  std::optional<Snapshot> before_;  // of the statement that runs
  std::set<std::string> entries_;
  bool single_ = false;
  int next_ = 0;
};

}  // namespace fuzz
