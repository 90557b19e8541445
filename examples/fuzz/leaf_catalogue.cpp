#include "leaf_catalogue.h"

namespace fuzz {

const std::vector<LeafEntry>& leaf_catalogue() {
  static const std::vector<LeafEntry> entries = [] {
    std::vector<LeafEntry> all;
    for (const auto& family :
         {forward_entries(), backward_entries(), leaf_entries(), hook_entries(),
          optimizer_entries(), write_entries(), mistake_entries()}) {
      all.insert(all.end(), family.begin(), family.end());
    }
    return all;
  }();
  return entries;
}

}  // namespace fuzz
