#include <tend/nn/text/added_tokens.h>

#include <algorithm>

namespace tend::nn {

void AddedTokenSet::add(const AddedToken& token) {
  auto& tokens = by_first_byte_[static_cast<unsigned char>(token.content[0])];
  const auto is_longer = [](const AddedToken* a, const AddedToken* b) {
    return a->content.size() > b->content.size();
  };
  tokens.insert(std::upper_bound(tokens.begin(), tokens.end(), &token, is_longer), &token);
  is_empty_ = false;
}

AddedTokens::AddedTokens(const std::vector<AddedToken>& added, bool with_special) {
  for (const AddedToken& token : added) {
    if (token.is_special && !with_special) continue;
    (token.is_normalized ? normalized_ : as_written_).add(token);
  }
}

}  // namespace tend::nn
