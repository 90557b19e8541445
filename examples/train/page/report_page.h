#pragma once

#include <string_view>

namespace train {

/// The page's style sheet and script: text that never changes.
std::string_view page_style();
std::string_view page_script();

}  // namespace train
