// Iteration over the cases of the operation table.
#pragma once

#include <cstddef>

#include "tests/catch.h"
#include "tests/op_table/op_gradients.h"

namespace tend::test {

/// Calls f(op, sample, layout) for every row, each sample of the row and each layout that the row
/// supports.
template <class F>
void for_each_case(F f) {
  for (const Op& op : op_table()) {
    for (std::size_t k = 0; k < op.samples.size(); ++k) {
      for (const Layout layout : layouts_of(op)) {
        INFO(describe(op, k, layout));
        f(op, op.samples[k], layout);
      }
    }
  }
}

}  // namespace tend::test
