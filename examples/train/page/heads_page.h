#pragma once

#include <string_view>

namespace train {

/// Style sheet and script of the pictures of heads on the page: arcs (`svg.arcs`), and what is in
/// the element `heads`, whose data they read.
std::string_view heads_style();
std::string_view heads_script();

}  // namespace train
