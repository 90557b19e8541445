// Compares the first and second derivatives of every row with central differences. Also tests that
// these checks fail if a derivative is wrong.
#include "tests/op_table/op_gradients.h"

#include "tests/autograd/support.h"
#include "tests/counts.h"
#include "tests/op_table/op_noise.h"

using namespace tend;
using namespace tend::test;

namespace {

std::int64_t check_all_rows(int order) {
  std::int64_t checks = 0;
  for (const Op& op : op_table()) {
    const GradientErrors found = check_gradients(op, order);
    INFO(found.message);
    CHECK(found.passed);
    checks += found.checks;
  }
  return checks;
}

using Names = std::set<std::string>;

}  // namespace

TEST_CASE("first derivatives are right on every layout", "[table]") {
  write_count("first_order_checks", check_all_rows(1));
}

TEST_CASE("second derivatives are right on every layout", "[table]") {
  write_count("second_order_checks", check_all_rows(2));
}

TEST_CASE("every backward node belongs to an operation and a composed operation has none",
          "[table]") {
  Names made, owned;
  for (const auto& [operation, nodes] : operation_nodes()) {
    made.insert(nodes.all.begin(), nodes.all.end());
    owned.insert(nodes.own.begin(), nodes.own.end());
  }
  CHECK(made == owned);
  const auto own = [](const char* operation) { return operation_nodes().at(operation).own; };
  CHECK(own("exp") == Names{"ExpBackward0"});
  CHECK(own("layer_norm") == Names{"NativeLayerNormBackward0"});
  CHECK(own("to") == Names{"ToCopyBackward0"});
  CHECK(own("rms_norm") == Names{"RmsNormBackward0"});
  CHECK(own("group_norm").empty());
  CHECK(own("scaled_dot_product_attention") ==
        Names{"MmBackward0", "ScaledDotProductFlashAttentionForCpuBackward0"});
  CHECK(operation_nodes().at("group_norm").all.count("NativeLayerNormBackward0") == 1);
}

TEST_CASE("the gradient check of an operation fails if one of its nodes is broken", "[table]") {
  std::map<std::string, std::vector<const Op*>> rows;
  for (const Op& op : op_table()) rows[op.name].push_back(&op);
  std::size_t broken = 0;
  for (const auto& [operation, nodes] : operation_nodes()) {
    for (const std::string& node : nodes.own) {
      INFO(operation << ", " << node);
      const GradientNoise noise(node);
      GradientErrors found;
      for (const Op* row : rows[operation]) {
        found.add(check_gradients(*row, 1));
        if (!found.passed) break;
      }
      CHECK(noise.count() > 0);
      CHECK_FALSE(found.passed);
      ++broken;
    }
  }
  CHECK(broken > 50);
}
