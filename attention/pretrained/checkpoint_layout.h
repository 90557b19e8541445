// How the weights in a file correspond to the weights of a GPT. Internal.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <tend/nn/module/state_dict.h>

namespace tend::attention {

/// The file's tensors `theirs`, concatenated along dimension 0, equal the GPT's tensors `ours`,
/// concatenated in the same way. If `transposed`, the file stores matrices as (in, out), and their
/// transposes are concatenated.
struct Correspondence {
  std::vector<std::string> theirs;
  std::vector<std::string> ours;
  bool transposed = false;
};

/// The names and the layout of a family of files.
class CheckpointLayout {
 public:
  /// `model` is the name in messages. If the output head is tied, files need no weight for it.
  CheckpointLayout(const char* model, bool has_tied_head)
      : model_(model), has_tied_head_(has_tied_head) {}

  /// Adds a correspondence. The first one must be the token embedding.
  void add(std::vector<std::string> theirs, std::vector<std::string> ours, bool transposed = false);
  /// Adds NAME.weight and NAME.bias of a linear layer, whose weight may be transposed, or of a
  /// norm.
  void add_weight_and_bias(const std::string& theirs, const std::vector<std::string>& ours,
                           bool has_bias, bool transposed = false);

  // If names are missing or unknown, both functions below throw an Error that lists them. They
  // throw a ShapeError if tensors to be joined differ in shape or dtype, or if a tensor cannot be
  // split into equal parts.

  /// Converts a file's tensors to the state dict of a GPT.
  ///
  /// Throws:
  ///   Error - the head is tied, but the file's weight for it differs from the token embedding
  nn::StateDict import_state(const nn::StateDict& tensors) const;
  /// Converts the state dict of a GPT to a file's tensors.
  ///
  /// Throws:
  ///   Error - the head is tied, but its weight, which would be lost, differs from the token
  ///           embedding
  nn::StateDict export_state(const nn::StateDict& state) const;

 private:
  nn::StateDict converted(const nn::StateDict& state, bool importing) const;
  nn::StateDict without_tied_head(const nn::StateDict& tensors) const;

  const char* model_;
  bool has_tied_head_;
  std::vector<Correspondence> parts_;
};

/// Removes `prefix` from the names that begin with it. Other names stay.
nn::StateDict without_prefix(const nn::StateDict& tensors, std::string_view prefix);

/// The tensors whose name does not satisfy `is_extra`.
nn::StateDict without_extras(const nn::StateDict& tensors,
                             const std::function<bool(std::string_view)>& is_extra);

}  // namespace tend::attention
