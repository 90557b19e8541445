#include "catalogue.h"

namespace fuzz {

const std::vector<Entry>& catalogue() {
  static const std::vector<Entry> entries = [] {
    std::vector<Entry> all;
    for (const auto& family :
         {pointwise_entries(), shape_entries(), reduction_entries(), product_entries(),
          indexing_entries(), network_entries(), in_place_entries()}) {
      all.insert(all.end(), family.begin(), family.end());
    }
    return all;
  }();
  return entries;
}

}  // namespace fuzz
