// The cases of the operation table, for tests that go through them all.
#pragma once

#include <cstddef>

#include "tests/catch.h"
#include "tests/op_table/op_gradients.h"

namespace tend::test {

/// Calls f(op, sample, layout) for every row, sample and layout that the row can take.
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
