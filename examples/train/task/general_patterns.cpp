#include "examples/train/task/tasks.h"

#include <algorithm>
#include <utility>

namespace train {

namespace {

/// The links for which are_linked(query, key) is true. A key is never after its query. The first
/// query has no links.
template <class Pick>
std::vector<Link> links_where(const Tokens& sequence, Pick are_linked) {
  std::vector<Link> links;
  for (std::size_t query = 1; query + 1 < sequence.size(); ++query) {
    for (std::size_t key = 0; key <= query; ++key) {
      if (are_linked(query, key)) links.push_back({query, key});
    }
  }
  return links;
}

}  // namespace

std::vector<Pattern> general_patterns() {
  return {
      {"previous token", "Each token attends to the previous token.",
       [](const Tokens& s) {
         return links_where(s, [](std::size_t query, std::size_t key) { return key + 1 == query; });
       }},
      {"first token", "Each token attends to the first token.",
       [](const Tokens& s) {
         return links_where(s, [](std::size_t, std::size_t key) { return key == 0; });
       }},
      {"same token", "Each token attends to its own earlier copies.",
       [](const Tokens& s) {
         return links_where(s, [&s](std::size_t query, std::size_t key) {
           return key < query && s[key] == s[query];
         });
       }},
      {"induction", "Each token attends to the tokens that followed its own earlier copies.",
       [](const Tokens& s) {
         return links_where(s, [&s](std::size_t query, std::size_t key) {
           return key > 0 && s[key - 1] == s[query];
         });
       }},
  };
}

std::vector<Pattern> all_patterns(const Task& task) {
  std::vector<Pattern> patterns = task.patterns;
  for (Pattern& general : general_patterns()) {
    const auto has_name = [&](const Pattern& own) { return own.name == general.name; };
    if (std::none_of(patterns.begin(), patterns.end(), has_name))
      patterns.push_back(std::move(general));
  }
  return patterns;
}

}  // namespace train
