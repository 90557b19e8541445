#pragma once

#include <string_view>

namespace train {

/// The style sheet and the script of the pictures of heads on the page. The script draws the arcs
/// (`svg.arcs`) and the maps in the element `heads`. It reads the data in `heads`.
std::string_view heads_style();
std::string_view heads_script();

}  // namespace train
