// Programs that write in place. Their values and gradients must equal PyTorch's.
#include <fstream>
#include <functional>

#include <tend/autograd/tools/gradcheck.h>
#include <nlohmann/json.hpp>

#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;
using nlohmann::json;

namespace {

using V = std::vector<double>;
using T = const Tensor&;

// A program gets the leaves x (3, 4) and w (4), and y = 2 x.
struct Program {
  const char* name;  // the same as in tests/data/make_inplace.py
  std::function<Tensor(T x, T w, Tensor y)> run;
};

Slice from(std::int64_t start) {
  return {start, {}};
}
Slice upto(std::int64_t stop) {
  return {{}, stop};
}
constexpr Slice kAll{};

const Program kPrograms[] = {
    {"mul_whole", [](T, T w, T y) { return y.mul_(w); }},
    {"add_to_row",
     [](T, T w, Tensor y) {
       y[0].add_(w);
       return y;
     }},
    {"subtract_then_divide",
     [](T, T w, T y) {
       y -= w;
       y /= w;
       return y * w;
     }},
    {"assign_row",
     [](T, T w, Tensor y) {
       y[1] = w;
       return y;
     }},
    {"assign_element",
     [](T, T w, T y) {
       y[{0, 1}] = w[2];
       return y * y;
     }},
    {"assign_number",
     [](T, T, T y) {
       y[{2, 3}] = 7.0;
       return y * y;
     }},
    {"assign_block",
     [](T, T w, Tensor y) {
       y[{kAll, Slice{1, 3}}] = w[upto(2)];
       return y;
     }},
    {"assign_strided",
     [](T, T w, T y) {
       y[{Slice{{}, {}, 2}, Slice{{}, {}, 2}}] = w[1];
       return y * w;
     }},
    {"column_of_transposed",
     [](T, T w, Tensor y) {
       y.t()[1].mul_(w[upto(3)]);
       return y;
     }},
    {"view_of_view",
     [](T, T w, Tensor y) {
       y[from(1)][{kAll, 2}].add_(w[upto(2)]);
       return y;
     }},
    {"old_view_after_write_to_base",
     [](T, T w, T y) {
       const Tensor v = y[0];
       y.mul_(3);
       return v * w;
     }},
    {"old_view_after_write_to_other",
     [](T, T w, T y) {
       const Tensor column = y[{kAll, 0}];
       y[0].mul_(w);
       return column * column;
     }},
    {"view_and_base_after_write",
     [](T, T w, T y) {
       const Tensor v = y[0];
       v.mul_(w);
       return y * v;
     }},
    {"twice",
     [](T x, T w, T y) {
       y[0].mul_(w);
       y[0].add_(w);
       return y.add_(x);
     }},
    {"row_added_to_row",
     [](T, T w, T y) {
       y[0].add_(y[1]);
       return y * w;
     }},
    {"shift_rows",
     [](T, T w, T y) {
       y[from(1)] = y[upto(-1)].clone();
       return y * w;
     }},
    {"diagonal",
     [](T, T w, Tensor y) {
       y[{kAll, upto(3)}].diagonal().mul_(w[upto(3)]);
       return y;
     }},
    {"flat_view",
     [](T, T w, Tensor y) {
       y.view({-1})[Slice{5, 9}].mul_(w);
       return y;
     }},
    {"constant_base",
     [](T x, T w, T) {
       const Tensor z = zeros({3, 4}, float64);
       z[1] = w;
       z[2] = x[0];
       return z * z;
     }},
    {"zero_and_fill",
     [](T, T w, T y) {
       y[0].zero_();
       y[{kAll, 0}].fill_(5);
       return y * w;
     }},
    {"masked_fill_row",
     [](T, T w, T y) {
       y[1].masked_fill_(tensor({true, false, true, false}), -1.0);
       return y * w;
     }},
    {"read_before_and_after",
     [](T, T, T y) {
       const Tensor before = y.sum();
       y[0].mul_(2);
       return before * y.sum();
     }},
    {"accumulate_rows",
     [](T, T w, T y) {
       Tensor out = zeros({4}, float64);
       for (const Tensor row : y) out += row * w;
       return out;
     }},
    {"through_permuted_view",
     [](T, T w, T y) {
       y.unsqueeze(0).permute({1, 0, 2})[{1, 0}].add_(w);
       return y * y;
     }},
    {"without_grad_mode",
     [](T, T w, T y) {
       {
         const NoGradGuard no_grad;
         y[0] = 1.0;
       }
       return y * w;
     }},
    {"through_detached",
     [](T, T w, T y) {
       y.detach()[0] = 5.0;
       return y * w;
     }},
    {"saved_output_in_slice",
     [](T, T w, T y) {
       y[{kAll, from(1)}].sigmoid_();
       return y * w;
     }},
    {"chained", [](T, T w, T y) { return y.add_(0.5).mul_(w).relu_(); }},
    {"broadcast_source",
     [](T x, T w, T y) {
       y.copy_(w);
       return y * x;
     }},
    {"overlapping_view_of_written_base",
     [](T, T w, T y) {
       const Tensor windows = y.unfold(1, 2, 1);
       y.mul_(w);
       return windows * windows;
     }},
    {"overlapping_view_over_rows",
     [](T, T w, T y) {
       const Tensor windows = y.view({-1}).unfold(0, 5, 3);
       y[1].add_(w);
       return windows * windows;
     }},
    {"expanded_overlapping_view",
     [](T, T w, T y) {
       const Tensor windows = y.unfold(1, 3, 1).expand({2, -1, -1, -1});
       y.mul_(w);
       return windows * windows;
     }},
    {"view_that_overlaps_twice",
     [](T, T w, T y) {
       const Tensor windows = y.unfold(0, 2, 1).unfold(1, 3, 1);
       y[{kAll, from(2)}] = w[{upto(2)}];
       return windows * windows;
     }},
    {"transposed_base_of_overlapping_view",
     [](T, T w, T y) {
       const Tensor windows = y.t().unfold(0, 2, 1);
       y.t()[0].mul_(w[1]);
       return windows * windows;
     }},
    {"write_to_windows_that_only_touch",
     [](T, T w, T y) {
       const Tensor windows = y.unfold(1, 2, 1);
       windows[{kAll, Slice{{}, {}, 2}}].mul_(w[{upto(2)}]);
       return windows * windows;
     }},
    {"old_history_counts_for_nothing", [](T, T w, T y) { return y.copy_(w[0]); }},
};

Tensor weights_for(const Tensor& out) {
  return ((arange(out.numel(), float64) + 1) / 8).reshape(out.shape());
}

// PyTorch does the same operations in the same order. Only sigmoid may differ, in the last bit.
void check_values(const Tensor& found, const V& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(values(found)[i] == Approx(expected[i]).epsilon(1e-15).margin(0));
  }
}

void check_gradient(const Tensor& leaf, const json& expected) {
  if (expected.is_null()) {
    CHECK_FALSE(leaf.grad().defined());
  } else if (leaf.grad().defined()) {
    check_values(leaf.grad(), expected.get<V>());
  } else {
    // PyTorch sends zeros to overwritten elements. tend sends no gradient.
    CHECK(expected.get<V>() == V(expected.size(), 0));
  }
}

}  // namespace

TEST_CASE("in-place programs have PyTorch's values and gradients") {
  std::ifstream file(std::string(TEND_TEST_DATA) + "/inplace.json");
  const json fixtures = json::parse(file);
  CHECK(fixtures.size() == std::size(kPrograms));
  for (const Program& program : kPrograms) {
    INFO(program.name);
    const json& fixture = fixtures.at(program.name);
    const Tensor x = irregular_leaf({3, 4});
    const Tensor w = irregular_leaf({4});
    const Tensor out = program.run(x, w, x * 2);
    check_values(out, fixture["out"].get<V>());
    (out * weights_for(out)).sum().backward();
    check_gradient(x, fixture["x"]);
    check_gradient(w, fixture["w"]);
  }
}

TEST_CASE("in-place programs have right first and second derivatives") {
  for (const Program& program : kPrograms) {
    const std::string name = program.name;
    // The graph does not know of the writes in these programs.
    if (name == "without_grad_mode" || name == "through_detached") continue;
    INFO(name);
    const auto f = [&](T x, T w) { return program.run(x, w, x * 2); };
    const Tensor x = irregular_leaf({3, 4});
    const Tensor w = irregular_leaf({4});
    const GradcheckReport first = gradcheck(f, {x, w});
    const GradcheckReport second = gradgradcheck(f, {x, w});
    INFO(first.message << '\n' << second.message);
    CHECK(first.passed);
    CHECK(second.passed);
  }
}
