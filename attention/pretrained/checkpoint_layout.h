// How the weights of a file correspond to those of a GPT. Internal.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <tend/nn/module/state_dict.h>

namespace tend::attention {

/// Concatenated along dimension 0, the file's tensors `theirs` equal the GPT's `ours`. With
/// `transposed`, the file keeps matrices as (in, out), and the transposes of its tensors do.
struct Correspondence {
  std::vector<std::string> theirs;
  std::vector<std::string> ours;
  bool transposed = false;
};

/// The names and the layout of a family of files.
class CheckpointLayout {
 public:
  /// `model` is named by errors. With a tied head, files need no weight for it.
  CheckpointLayout(const char* model, bool has_tied_head)
      : model_(model), has_tied_head_(has_tied_head) {}

  /// The first one is the token embedding.
  void add(std::vector<std::string> theirs, std::vector<std::string> ours, bool transposed = false);
  /// NAME.weight and NAME.bias of a linear layer, whose weight may be transposed, or of a norm.
  void add_weight_and_bias(const std::string& theirs, const std::vector<std::string>& ours,
                           bool has_bias, bool transposed = false);

  // An Error lists names that are missing, and those that are not known; ShapeError where tensors
  // that are joined differ in shape or dtype, or one cannot be split into equal parts.

  /// A GPT's state from a file's tensors. Error for a tied head's weight that is not the token
  /// embedding.
  nn::StateDict import_state(const nn::StateDict& tensors) const;
  /// A file's tensors from a GPT's state. Error for the weight of a tied head that is not the token
  /// embedding, as it would be lost.
  nn::StateDict export_state(const nn::StateDict& state) const;

 private:
  nn::StateDict converted(const nn::StateDict& state, bool importing) const;
  nn::StateDict without_tied_head(const nn::StateDict& tensors) const;

  const char* model_;
  bool has_tied_head_;
  std::vector<Correspondence> parts_;
};

/// The tensors with names without `prefix`, of which some may have it.
nn::StateDict without_prefix(const nn::StateDict& tensors, std::string_view prefix);

/// The tensors without those whose names `is_extra`.
nn::StateDict without_extras(const nn::StateDict& tensors,
                             const std::function<bool(std::string_view)>& is_extra);

}  // namespace tend::attention
