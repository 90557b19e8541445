/// \file
/// The names of activations.
#pragma once

#include <string>
#include <vector>

namespace tend::lens {

/// TransformerLens's name of an activation, given the path of modules that leads to it
/// ("blocks.0.attention.hook_q"), the name that its version 3 has ("blocks.0.attn.q.hook_out"), or
/// that name itself: "blocks.0.attn.hook_q". Other names stay as they are.
/// https://transformerlensorg.github.io/TransformerLens
std::string activation_name(const std::string& name);

/// The names that are most like `name`, the nearest first: at most three.
std::vector<std::string> nearest_names(const std::string& name,
                                       const std::vector<std::string>& names);

}  // namespace tend::lens
