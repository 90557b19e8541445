#pragma once

/// Helpers for text that tests read from sources and pages.

#include <cstddef>
#include <string>

namespace tend::test {

/// The text without the spaces at both ends.
inline std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

}  // namespace tend::test
