// How the weights of a file correspond to those of a GPT. Internal.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <tend/nn/module/state_dict.h>

namespace tend::attention {

/// Tensors of a file that are, one below the other, tensors of a GPT. A transposed one is so in the
/// file.
struct Correspondence {
  std::vector<std::string> theirs;
  std::vector<std::string> ours;
  bool transposed = false;
};

/// The names and the layout of a family of files.
class CheckpointLayout {
 public:
  /// `model` is named by errors.
  explicit CheckpointLayout(const char* model) : model_(model) {}

  void add(std::vector<std::string> theirs, std::vector<std::string> ours, bool transposed = false);
  /// NAME.weight and NAME.bias of a map or a norm; of the map, the weight may be transposed.
  void add_map(const std::string& theirs, const std::vector<std::string>& ours, bool has_bias,
               bool transposed = false);

  // Errors list names that are missing, and those that are not known; ShapeError where a tensor
  // cannot be split into equal parts.

  /// A GPT's state from a file's tensors.
  nn::StateDict import_state(const nn::StateDict& tensors) const;
  /// A file's tensors from a GPT's state.
  nn::StateDict export_state(const nn::StateDict& state) const;

 private:
  nn::StateDict converted(const nn::StateDict& state, bool importing) const;

  const char* model_;
  std::vector<Correspondence> parts_;
};

/// The tensors without those whose names `is_ignored`, and with names without `prefix`.
nn::StateDict without_extras(const nn::StateDict& tensors, std::string_view prefix,
                             const std::function<bool(std::string_view)>& is_ignored);

}  // namespace tend::attention
