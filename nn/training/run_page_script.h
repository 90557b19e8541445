// The style sheet and the script of RunPage's pages.
#pragma once

#include <string_view>

namespace tend::nn::detail {

std::string_view run_page_style();
std::string_view run_page_script();

}  // namespace tend::nn::detail
