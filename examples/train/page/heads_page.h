#pragma once

#include <string_view>

namespace train {

/// The style sheet and the script for the pictures of attention heads on the page. The script reads
/// the data in the element with the id `heads`. It draws the maps in this element, and the arcs in
/// each `svg.arcs`.
std::string_view heads_style();
std::string_view heads_script();

}  // namespace train
