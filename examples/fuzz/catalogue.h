// The operations that random programs are made of.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "program.h"

namespace fuzz {

/// Adds one step to a program, or gives up (false) where nothing fits.
struct Entry {
  std::string name;
  std::function<bool(Program&)> add;
};

std::vector<Entry> pointwise_entries();
std::vector<Entry> shape_entries();
std::vector<Entry> reduction_entries();
std::vector<Entry> product_entries();
std::vector<Entry> indexing_entries();
std::vector<Entry> network_entries();
std::vector<Entry> in_place_entries();

/// All of them.
const std::vector<Entry>& catalogue();

}  // namespace fuzz
