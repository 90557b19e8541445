#include <tend/nn/text/added_tokens.h>

#include <algorithm>

namespace tend::nn {

AddedTokens::AddedTokens(const std::vector<AddedToken>& added, bool with_special) {
  for (const AddedToken& token : added) {
    if (token.is_special && !with_special) continue;
    (token.is_normalized ? normalized_ : as_written_).add(token);
  }
  as_written_.sort();
  normalized_.sort();
}

void AddedTokenSet::add(const AddedToken& token) {
  sorted_.push_back(&token);
  begins_[static_cast<unsigned char>(token.content[0])] = true;
}

void AddedTokenSet::sort() {
  std::sort(sorted_.begin(), sorted_.end(),
            [](const AddedToken* a, const AddedToken* b) { return a->content < b->content; });
}

std::optional<AddedTokenSet::Match> AddedTokenSet::match_at(std::string_view text,
                                                            std::size_t at) const noexcept {
  std::optional<Match> longest;
  auto begin = sorted_.begin(), end = sorted_.end();
  // The tokens from `begin` to `end` have their first `length` bytes in common with the text.
  for (std::size_t length = 0; begin != end; ++length) {
    if ((*begin)->content.size() == length) {
      longest = {at, at + length, (*begin)->id};
      ++begin;
    }
    if (at + length == text.size()) break;
    const auto next = static_cast<unsigned char>(text[at + length]);
    const auto byte = [&](const AddedToken* token) {
      return static_cast<unsigned char>(token->content[length]);
    };
    begin = std::lower_bound(begin, end, next,
                             [&](const AddedToken* t, unsigned char b) { return byte(t) < b; });
    end = std::upper_bound(begin, end, next,
                           [&](unsigned char b, const AddedToken* t) { return b < byte(t); });
  }
  return longest;
}

std::optional<AddedTokenSet::Match> AddedTokenSet::find(std::string_view text,
                                                        std::size_t from) const noexcept {
  if (sorted_.empty()) return {};
  for (std::size_t at = from; at < text.size(); ++at) {
    if (!begins_[static_cast<unsigned char>(text[at])]) continue;
    if (const auto match = match_at(text, at)) return match;
  }
  return {};
}

}  // namespace tend::nn
