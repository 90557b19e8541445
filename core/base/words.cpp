#include <tend/core/base/words.h>

#include <string>

#include <tend/core/base/error.h>

namespace tend::detail {

std::int64_t place_among(std::string_view words, std::string_view word) {
  const std::size_t colon = words.find(':');
  const std::string_view parameter = words.substr(0, colon);
  std::string known;
  std::int64_t place = 0;
  for (std::string_view rest = words.substr(colon + 1); !rest.empty(); ++place) {
    rest.remove_prefix(1);  // a space
    const std::string_view each = rest.substr(0, rest.find(' '));
    if (each == word) return place;
    known.append(place == 0 ? "" : ", ").append(each);
    rest.remove_prefix(each.size());
  }
  fail(parameter, '"', word, "\" is unknown; known are ", known);
}

}  // namespace tend::detail
