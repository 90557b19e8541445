#include <tend/core/base/words.h>

#include <tend/core/base/error.h>

namespace tend::detail {

std::int64_t index_of_word(std::string_view words, std::string_view word) {
  const std::size_t colon = words.find(':');
  const std::string_view all = words.substr(colon + 2);  // a space follows the colon
  std::int64_t index = 0;
  for (std::string_view rest = all;; ++index) {
    const std::size_t space = rest.find(' ');
    if (rest.substr(0, space) == word) return index;
    if (space == std::string_view::npos) break;
    rest.remove_prefix(space + 1);
  }
  fail(words.substr(0, colon), '"', word, "\" is unknown; the words are ", all);
}

}  // namespace tend::detail
