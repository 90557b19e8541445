/// \file
/// The names of activations.
#pragma once

#include <string>
#include <vector>

namespace tend::lens {

/// TransformerLens's name of an activation, such as "blocks.0.attn.hook_q".
///
/// `name` may be the path of modules that leads to it ("blocks.0.attention.hook_q"), the name in
/// TransformerLens 3 ("blocks.0.attn.q.hook_out"), or already the name that is returned. Other
/// names are returned unchanged.
///
/// https://transformerlensorg.github.io/TransformerLens
std::string activation_name(const std::string& name);

/// At most three names that are most like `name`, the nearest one first.
std::vector<std::string> nearest_names(const std::string& name,
                                       const std::vector<std::string>& names);

}  // namespace tend::lens
