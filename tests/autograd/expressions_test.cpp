// Expressions that users of PyTorch are likely to type first.
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <tend/tend.h>

#include "tests/catch.h"

using namespace tend;
using Catch::Matchers::ContainsSubstring;

namespace {

std::vector<double> numbers_of(const Tensor& x) {
  return x.detach().to(float64).to_vector<double>();
}

using Numbers = std::vector<double>;

}  // namespace

TEST_CASE("methods accept numbers and every operator has a method") {
  const Tensor x = tensor({1.0, 2.0, 3.0});
  CHECK(numbers_of(x.mul(2)) == Numbers{2, 4, 6});
  CHECK(numbers_of(x.add(1)) == Numbers{2, 3, 4});
  CHECK(numbers_of(x.add(1, 2)) == Numbers{3, 4, 5});
  CHECK(numbers_of(x.sub(0.5)) == Numbers{0.5, 1.5, 2.5});
  CHECK(numbers_of(x.div(2)) == Numbers{0.5, 1, 1.5});
  CHECK(numbers_of(x.div(2, RoundingMode::floor)) == Numbers{0, 1, 1});
  CHECK(numbers_of(x % 2) == Numbers{1, 0, 1});
  CHECK(numbers_of(x.clip(1.5, 2.5)) == Numbers{1.5, 2, 2.5});
  CHECK(numbers_of(x.gelu()) == numbers_of(gelu(x)));
  CHECK(numbers_of(x.max(tensor({2.0, 2.0, 2.0}))) == Numbers{2, 2, 3});
  CHECK(numbers_of(max(x, 4 - x)) == Numbers{3, 2, 3});
  CHECK(numbers_of(min(x, 4 - x)) == Numbers{1, 2, 1});
  CHECK(numbers_of(linear(x, eye(3))) == numbers_of(x));
  CHECK(allclose(layer_norm(x, {3}), layer_norm(x, {3}, {}, {}, 1e-5)));
  Tensor y = tensor({5, 6});
  y %= 4;
  CHECK(numbers_of(y) == Numbers{1, 2});
}

TEST_CASE("a known number of pieces can be unpacked by structured bindings") {
  const Tensor x = arange(12).view({2, 6});
  const auto [q, k, v] = x.chunk<3>(-1);
  CHECK(numbers_of(v) == Numbers{4, 5, 10, 11});
  const auto [left, right] = x.split<2>(4, 1);
  CHECK(right.shape() == Shape{2, 2});
  const auto [one, five] = x.split<2>({1, 5}, 1);
  CHECK(numbers_of(one) == Numbers{0, 6});
  CHECK(five.shape() == Shape{2, 5});
  const auto [first, second] = x.unbind<2>();
  CHECK(numbers_of(second) == Numbers{6, 7, 8, 9, 10, 11});
  CHECK(first.shape() == Shape{6});
  CHECK_THROWS_WITH(x.unbind<3>(), ContainsSubstring("[unbind] there are 2 pieces, not 3"));
  CHECK_THROWS_AS(x.chunk<4>(0), ShapeError);
}

TEST_CASE("grad returns the gradients of one output with respect to several inputs") {
  const Tensor w = tensor({2., 3.}).requires_grad_(), b = tensor({1., 1.}).requires_grad_();
  const std::vector<Tensor> grads = autograd::grad((w * w + b).sum(), {w, b});
  CHECK(numbers_of(grads[0]) == Numbers{4, 6});
  CHECK(numbers_of(grads[1]) == Numbers{1, 1});
}

TEST_CASE("tensors report their sizes, strides and dtype under PyTorch's names") {
  const Tensor x = zeros({2, 3});
  CHECK(x.sizes() == Shape{2, 3});
  const auto [rows, columns] = x.sizes<2>();
  CHECK(rows == 2);
  CHECK(columns == 3);
  CHECK_THROWS_WITH(x.sizes<3>(),
                    ContainsSubstring("[sizes] the tensor of shape (2, 3) does not have 3"));
  CHECK(x.stride(0) == 3);
  CHECK(x.stride(-1) == 1);
  CHECK_THROWS_AS(x.stride(2), IndexError);
  CHECK_THROWS_AS(tensor(1).stride(0), IndexError);
  CHECK(x.T().shape() == Shape{3, 2});
  CHECK(zeros({2, 3, 4}).mT().shape() == Shape{2, 4, 3});
  CHECK_THROWS_WITH(zeros({3}).mT(),
                    ContainsSubstring("[mT] needs at least 2 dimensions, got (3,)"));
  CHECK(x.is_floating_point());
  CHECK_FALSE(x.to(int64).is_floating_point());
  CHECK(x.to(tensor(1)).dtype() == int64);
  CHECK(x.type_as(tensor(true)).dtype() == boolean);
}

TEST_CASE("a shape can be an integer, a vector, an array or a span") {
  const Tensor x = arange(6);
  CHECK(x.view({2, 3}).view(-1).shape() == Shape{6});
  CHECK(zeros(4).shape() == Shape{4});
  const int n = 3;
  CHECK(rand(n).shape() == Shape{3});
  const std::vector<std::int64_t> sizes{2, 3};
  CHECK(x.view(sizes).shape() == Shape{2, 3});
  CHECK(zeros(std::vector<int>{3, 1}).shape() == Shape{3, 1});
  CHECK(zeros(std::span(sizes)).shape() == Shape{2, 3});
  std::vector<std::int64_t> changing{3, 2};
  CHECK(x.view(std::span(changing)).shape() == Shape{3, 2});
  CHECK(zeros(std::span<std::int64_t, 2>(changing)).shape() == Shape{3, 2});
  const std::array<std::int64_t, 2> fixed{6, 1};
  CHECK(x.view(fixed).shape() == Shape{6, 1});
  CHECK(x.view(x.view(fixed).sizes<2>()).shape() == Shape{6, 1});
  CHECK(x.view({2, 3}).permute(std::array{1, 0}).shape() == Shape{3, 2});
  CHECK(x.view({2, 3}).squeeze(1).shape() == Shape{2, 3});  // a dimension, not a shape
  CHECK_THROWS_AS(zeros(SIZE_MAX), IndexError);
  CHECK_THROWS_AS(zeros(std::array{SIZE_MAX}), IndexError);
  // ({5}) still means the shape (5,), and not a copy of a module that is made from the integer 5.
  const nn::LayerNorm norm({5});
  CHECK(norm.normalized_shape == Shape{5});
  const nn::RMSNorm root({5});
  CHECK(root.normalized_shape == Shape{5});
}

TEST_CASE("the dimensions of a reduction can be a vector, a span or an array") {
  const Tensor x = arange(24).view({2, 3, 4});
  std::vector<std::int64_t> dims{0, -1};
  const Tensor expected = x.sum({0, 2});
  CHECK(equal(x.sum(dims), expected));
  CHECK(equal(sum(x, std::span(dims)), expected));
  CHECK(equal(x.sum(std::array{0, 2}, false), expected));
  CHECK(x.amax(dims, true).shape() == Shape{1, 3, 1});
  CHECK(equal(x.flip(dims), x.flip({0, 2})));
  CHECK(x.sum(std::vector<int>{}).shape() == Shape{});
  CHECK_THROWS_AS(x.sum(std::vector<int>{3}), IndexError);
}

TEST_CASE("sum, mean and prod accept a dtype as their only argument") {
  const Tensor x = tensor({{1.0, 2.0}, {3.0, 4.0}});
  CHECK(x.sum(float64).dtype() == float64);
  CHECK(sum(x, float64).item() == 10);
  CHECK(x.sum(boolean).item() == 1);
  CHECK(x.to(int64).mean(float64).item() == 2.5);
  CHECK(mean(x, float64).dtype() == float64);
  CHECK(x.prod(int64).dtype() == int64);
  CHECK(prod(x, int64).item() == 24);
  CHECK(x.sum({}).dtype() == float32);  // {} means all dimensions, not a dtype
}

TEST_CASE("tensors from vectors have the dtype that torch::tensor gives them") {
  const Tensor floats = tensor(std::vector<double>{0.5, 1.5});
  CHECK(floats.dtype() == float32);
  CHECK(numbers_of(floats) == Numbers{0.5, 1.5});
  CHECK(tensor(std::vector<float>{1}, float64).dtype() == float64);
  const Tensor integers = tensor(std::vector<int>{1, 2, 3, 4, 5, 6}, {2, 3});
  CHECK(integers.dtype() == int64);
  CHECK(integers.shape() == Shape{2, 3});
  CHECK(numbers_of(integers[1]) == Numbers{4, 5, 6});
  CHECK(tensor(std::vector<bool>{true, false}).dtype() == boolean);
  CHECK(tensor(std::vector<double>{}).shape() == Shape{0});
  CHECK_THROWS_WITH(tensor(std::vector<int>{1, 2, 3}, {2, 2}),
                    ContainsSubstring("[tensor] 3 numbers do not fill the shape (2, 2)"));
  CHECK_THROWS_AS(tensor(std::vector<double>{1e300}), DTypeError);
  CHECK_THROWS_AS(tensor(std::vector<std::size_t>{SIZE_MAX}), IndexError);
}

TEST_CASE("vectors, None and Slice are indices as in Python") {
  const Tensor x = arange(12).view({3, 4});
  const std::vector<std::int64_t> rows{2, 0};
  CHECK(numbers_of(x[{rows, 1}]) == Numbers{9, 1});
  CHECK(numbers_of(x[{std::vector<int>{1}}]) == Numbers{4, 5, 6, 7});
  CHECK(numbers_of(x[{0, Slice(1, None, 2)}]) == Numbers{1, 3});
  CHECK(numbers_of(x[{0, Slice(None, -2)}]) == Numbers{0, 1});
  CHECK(numbers_of(x[{0, Slice(None, None, 3)}]) == Numbers{0, 3});
  CHECK(x[{None, 0}].shape() == Shape{1, 4});
  CHECK(x[{ellipsis, None}].shape() == Shape{3, 4, 1});
  CHECK_THROWS_AS((x[{std::vector<int>{3}}]), IndexError);
  CHECK(numbers_of(x[std::array{2, 0}][1]) == Numbers{0, 1, 2, 3});
  const std::vector<bool> mask{true, false, true};
  CHECK(numbers_of(x[mask][1]) == Numbers{8, 9, 10, 11});
  CHECK(numbers_of(x[{mask, 1}]) == Numbers{1, 9});
  Tensor y = zeros({3});
  y[mask] = 1;
  CHECK(numbers_of(y) == Numbers{1, 0, 1});
  CHECK_THROWS_AS(x[std::vector<bool>(4)], IndexError);
}

TEST_CASE("the _like functions, tril_indices and triu_indices work as in PyTorch") {
  const Tensor like = zeros({2, 3}, float64);
  CHECK(empty_like(like).shape() == Shape{2, 3});
  CHECK(empty_like(like, int64).dtype() == int64);
  manual_seed(1);
  const Tensor first = rand_like(like);
  const Tensor second = randn_like(like, float32);
  manual_seed(1);
  CHECK(equal(first, rand({2, 3}, float64)));
  CHECK(equal(second, randn({2, 3})));
  // torch.tril_indices(2, 3, 1), torch.triu_indices(3, 2)
  CHECK(equal(tril_indices(2, 3, 1), tensor({{0, 0, 1, 1, 1}, {0, 1, 0, 1, 2}})));
  CHECK(equal(triu_indices(3, 2), tensor({{0, 0, 1}, {0, 1, 1}})));
  CHECK(tril_indices(0, 3).shape() == Shape{2, 0});
  CHECK_THROWS_WITH(tril_indices(-1, 2), ContainsSubstring("[tril_indices]"));
  CHECK(eye(2, 3).shape() == Shape{2, 3});
}

namespace {

enum { kBatch = 4, kFeatures = 10 };

template <class T>
concept SortsByFlag = requires(T x) {
  x.sort(true);
};
template <class T>
concept ArgsortsByFlag = requires(T x) {
  x.argsort(true);
};
template <class T>
concept HasFlagAsDim = requires(T x) {
  x.topk(1, false);
};
template <class T>
concept IsSlicedByBraces = requires(T x) {
  x[{{0, 2}}];
};
template <class T>
concept IsSize = requires(T size) {
  zeros({std::size_t{3}, size});
};

}  // namespace

TEST_CASE("braces mean sizes, positions or options and ambiguous braces do not compile") {
  CHECK(zeros({kBatch, kFeatures}).shape() == Shape{4, 10});
  CHECK(ones({3}).expand({kBatch, 3}).shape() == Shape{4, 3});
  static_assert(IsSize<int> && !IsSize<bool> && !IsSize<double>);
  static_assert(!IsSlicedByBraces<Tensor>);  // x[[0, 2]] is not a slice in Python
  static_assert(!SortsByFlag<Tensor> && !ArgsortsByFlag<Tensor> && !HasFlagAsDim<Tensor>);
  CHECK(tensor({1, 2, 3}, {}).dtype() == int64);
  CHECK(zeros({2}, {}).dtype() == float32);
  CHECK(randn({2}, {}).dtype() == float32);
  CHECK_THROWS_AS(ones({2}).to({}), AutogradError);
}

TEST_CASE("None means a missing bound or a missing tensor") {
  const Tensor x = tensor({1.0, 2.0, 3.0});
  CHECK(numbers_of(x.clamp(None, 2)) == Numbers{1, 2, 2});
  CHECK(numbers_of(clamp(x, 1.5, None)) == Numbers{1.5, 2, 3});
  CHECK(numbers_of(x.clip(None, 2)) == Numbers{1, 2, 2});
  CHECK(numbers_of(x.clamp(None, tensor({0.0, 5.0, 1.0}))) == Numbers{0, 2, 1});
  CHECK(numbers_of(x.clone().clamp_(None, 2)) == Numbers{1, 2, 2});
  const Tensor w = tensor({2.0, 2.0, 2.0});
  CHECK(equal(layer_norm(x, {3}, None, w), layer_norm(x, {3}, {}, w)));
  CHECK_FALSE(Tensor(None).defined());
}

TEST_CASE("None means the default value of an option") {
  const Tensor x = tensor({{7.0, -3.0}, {2.0, 8.0}}), y = tensor({2.0, 4.0});
  CHECK(numbers_of(div(x, y, None)) == Numbers{3.5, -0.75, 1, 2});
  CHECK(numbers_of(x.div(2, None)) == Numbers{3.5, -1.5, 1, 4});
  CHECK(numbers_of(x.clone().div_(y, None)) == Numbers{3.5, -0.75, 1, 2});
  CHECK(numbers_of(x.div(y, "floor")) == Numbers{3, -1, 1, 2});
  CHECK(numbers_of(tensor({NAN, 1.0}).nan_to_num(None)) == Numbers{0, 1});
  CHECK(equal(x.norm(None, 0), x.norm(2, 0)));
  CHECK(equal(pad(x, {1, 1}, "constant", None), pad(x, {1, 1})));
  CHECK(equal(pad(x, {1, 1}, "reflect", None), pad(x, {1, 1}, "reflect")));
  CHECK(equal(x.var(0, None), x.var(0, 1)));
  CHECK(equal(tend::std(x, 0, None), tend::std(x, 0, 1)));
  CHECK(equal(var_mean(x, 0, None).first, x.var(0, 1)));
  CHECK(numbers_of(x[{0, Slice(None, 1, None)}]) == Numbers{7});
}

TEST_CASE("None as the gradients of outputs means gradients of 1") {
  const Tensor x = tensor({2.0, 3.0}).requires_grad_(), w = tensor(5.0).requires_grad_();
  const Tensor y = (x * w).sum();
  CHECK(numbers_of(autograd::grad({y}, {x}, None, {.retain_graph = true})[0]) == Numbers{5, 5});
  CHECK(numbers_of(autograd::grad(y, {w}, None, {.retain_graph = true})[0]) == Numbers{5});
  CHECK(numbers_of(autograd::grad(y, x, None)) == Numbers{5, 5});
}

TEST_CASE("attention accepts its options by position in PyTorch's order") {
  manual_seed(3);
  const Tensor q = randn({2, 4, 5, 3}), k = randn({2, 2, 5, 3}), v = randn({2, 2, 5, 3});
  const Tensor mask = randn({5, 5});
  const Tensor full = k.repeat_interleave(2, 1), values = v.repeat_interleave(2, 1);
  CHECK(equal(scaled_dot_product_attention(q, full, values, mask),
              scaled_dot_product_attention(q, full, values, {.attn_mask = mask})));
  CHECK(equal(scaled_dot_product_attention(q, full, values, None, 0.0, true),
              scaled_dot_product_attention(q, full, values, {.is_causal = true})));
  CHECK(equal(scaled_dot_product_attention(q, k, v, None, 0, false, 0.3, true),
              scaled_dot_product_attention(q, k, v, {.scale = 0.3, .enable_gqa = true})));
}

TEST_CASE("None means a loss without weights and the default epsilon of RMSNorm") {
  manual_seed(4);
  const Tensor x = randn({3, 4}), target = tensor({0, 3, 1}), p = rand({3, 4});
  CHECK(equal(nn::CrossEntropyLoss(None)(x, target), cross_entropy(x, target)));
  CHECK(equal(nn::NLLLoss(None)(x, target), nll_loss(x, target)));
  CHECK(equal(nn::BCELoss(None)(p, p), binary_cross_entropy(p, p)));
  CHECK(equal(nn::BCEWithLogitsLoss(None)(x, p), binary_cross_entropy_with_logits(x, p)));
  CHECK(equal(nn::RMSNorm(4, None)(x), nn::RMSNorm(4)(x)));
}

TEST_CASE("None and nullopt mean all dimensions where PyTorch accepts None") {
  const Tensor x = tensor({{1.0, 4.0}, {2.0, 8.0}});
  // torch.tensor([[1., 4.], [2., 8.]]), its .argmax(None), .sum(None, True), ...
  CHECK(x.argmax(None).item<std::int64_t>() == 3);
  CHECK(argmin(x, None, true).shape() == Shape{1, 1});
  CHECK(numbers_of(x.sum(None)) == Numbers{15});
  CHECK(x.sum(None, true).shape() == Shape{1, 1});
  CHECK(sum(x, std::nullopt, false, float32).dtype() == float32);
  CHECK(numbers_of(x.mean(std::nullopt)) == Numbers{3.75});
  CHECK(x.std(None).item() == Approx(3.095695972442627));
  CHECK(numbers_of(x.var(None, 0)) == Numbers{7.1875});
  CHECK(norm(x, 2, None).item() == Approx(9.219544410705566));
  CHECK(numbers_of(x.amax(None)) == Numbers{8});
  CHECK(numbers_of(x.quantile(0.5, None)) == Numbers{3});
  CHECK(x.any(None).item<bool>());
  CHECK(equal(roll(x, 1, None), tensor({{8.0, 1.0}, {4.0, 2.0}})));
}

TEST_CASE("options can also be given by position in PyTorch's order") {
  manual_seed(1);
  const Tensor x = randn({2, 4, 9}), w = randn({6, 2, 3}), b = randn({6});
  const Tensor y = rand({3, 4}), z = rand({3, 4}), v = rand({3, 4});
  CHECK(equal(conv1d(x, w, b, 2, 1, 3, 2),
              conv1d(x, w, b, {.stride = 2, .padding = 1, .dilation = 3, .groups = 2})));
  CHECK(conv1d(x, randn({6, 4, 3}), {}, {2}).shape() == Shape{2, 6, 4});
  CHECK(conv1d(x, randn({6, 4, 3}), {}, {}).shape() == Shape{2, 6, 7});
  const Tensor mean = zeros({4}), var = ones({4}), same_mean = zeros({4}), same_var = ones({4});
  CHECK(equal(
      batch_norm(x, mean, var, None, None, true, 0.5, 0.1),
      batch_norm(x, same_mean, same_var, {}, {}, {.training = true, .momentum = 0.5, .eps = 0.1})));
  CHECK(equal(mean, same_mean));
  CHECK(equal(triplet_margin_loss(y, z, v, 0.5, 1, 0.01, true, "sum"),
              triplet_margin_loss(y, z, v, {0.5, 1, 0.01, true, Reduction::sum})));
  CHECK(equal(triplet_margin_loss(y, z, v, {}), triplet_margin_loss(y, z, v, 1)));
  CHECK(equal(poisson_nll_loss(y, z, false, true, 0.01, "none"),
              poisson_nll_loss(y, z, {false, true, 0.01, Reduction::none})));
  CHECK(equal(gaussian_nll_loss(y, z, v, true, 0.6, Reduction::sum),
              gaussian_nll_loss(y, z, v, {true, 0.6, Reduction::sum})));
  CHECK(equal(kl_div(y, z, KlReduction::sum, true), kl_div(y, z, {KlReduction::sum, true})));
  CHECK(equal(kl_div(y, z, Reduction::sum), kl_div(y, z, {.reduction = "sum"})));
  CHECK(equal(kl_div(y, z, {.reduction = Reduction::none}), kl_div(y, z, "none")));
  CHECK(equal(kl_div(y, z, Reduction::mean), kl_div(y, z)));
  CHECK(equal(kl_div(y, z, "batchmean"), kl_div(y, z, {.reduction = KlReduction::batchmean})));
}

TEST_CASE("options can be strings where PyTorch has strings") {
  const Tensor x = tensor({-1.0, 0.5, 2.5}), y = tensor({0.0, 1.0, 2.0});
  CHECK(equal(gelu(x, "tanh"), gelu(x, GeluKind::tanh)));
  CHECK(equal(x.gelu("none"), gelu(x)));
  CHECK(equal(nn::GELU("tanh")(x), gelu(x, GeluKind::tanh)));
  CHECK(numbers_of(div(x, 2, "floor")) == Numbers{-1, 0, 1});
  CHECK(numbers_of(x.div(2, "trunc")) == Numbers{0, 0, 1});
  CHECK(numbers_of(x.clone().div_(2, "floor")) == Numbers{-1, 0, 1});
  CHECK(equal(mse_loss(x, y, "none"), mse_loss(x, y, Reduction::none)));
  CHECK(equal(nn::MSELoss("sum")(x, y), mse_loss(x, y, Reduction::sum)));
  CHECK(equal(cross_entropy(x, tensor(1), {.reduction = "sum"}), cross_entropy(x, tensor(1))));
  const Tensor row = y.view({1, 3});
  CHECK(numbers_of(pad(row, {1, 1}, "reflect")) == Numbers{1, 0, 1, 2, 1});
  CHECK(numbers_of(pad(row, {0, 1}, "circular")) == Numbers{0, 1, 2, 0});
  CHECK(meshgrid({x, tensor({1.0})}, "xy")[0].shape() == Shape{1, 3});
  CHECK(quantile(x, 0.4, std::nullopt, false, "higher").item() == 0.5);
  CHECK(numbers_of(y.scatter_reduce(0, tensor({0, 0, 2}), x, "amax")) == Numbers{0.5, 1, 2.5});
  manual_seed(1);
  const Tensor drawn = nn::init::kaiming_uniform_(empty({2, 3}), 0, "fan_out", "relu");
  manual_seed(1);
  CHECK(equal(drawn, nn::init::kaiming_uniform_(empty({2, 3}), 0, nn::init::Fan::out,
                                                nn::init::Nonlinearity::relu)));
  CHECK(optim::PlateauOptions{.mode = "max", .threshold_mode = "abs"}.mode ==
        optim::PlateauMode::max);
  CHECK(optim::LBFGSOptions{.line_search_fn = "strong_wolfe"}.line_search_fn ==
        optim::LineSearch::strong_wolfe);
  CHECK(optim::OneCycleLROptions{.anneal_strategy = "linear"}.anneal_strategy ==
        optim::AnnealStrategy::linear);
  CHECK_THROWS_WITH(mse_loss(x, y, "summ"),
                    "[reduction] \"summ\" is unknown; the words are none mean sum");
  CHECK_THROWS_WITH(pad(y, {1, 1}, "edge"), ContainsSubstring("[mode] \"edge\" is unknown"));
}

TEST_CASE("PyTorch's second names of operations work") {
  const Tensor x = tensor({1.0, 2.0, 4.0});
  CHECK(numbers_of(x.multiply(2)) == Numbers{2, 4, 8});
  CHECK(numbers_of(x.subtract(x, 2)) == Numbers{-1, -2, -4});
  CHECK(numbers_of(x.subtract(1, 2)) == Numbers{-1, 0, 2});
  CHECK(numbers_of(x.true_divide(x)) == Numbers{1, 1, 1});
  CHECK(numbers_of(x.true_divide(2)) == Numbers{0.5, 1, 2});
  CHECK(numbers_of(x.multiply(x)) == Numbers{1, 4, 16});
}

TEST_CASE("tensor_split reads a number in braces as a position and not as a number of sections") {
  const Tensor x = arange(5);
  CHECK(tensor_split(x, {2})[0].shape() == Shape{2});
  CHECK(x.tensor_split({2})[1].shape() == Shape{3});
  CHECK(x.tensor_split(2)[0].shape() == Shape{3});
  CHECK(x.tensor_split(tensor(2))[0].shape() == Shape{3});
  CHECK(x.tensor_split(tensor({2}))[0].shape() == Shape{2});
}

TEST_CASE("a loop over a tensor visits its rows") {
  Tensor x = tensor({{1., 2.}, {3., 4.}, {5., 6.}});
  std::vector<double> sums;
  for (auto row : x) sums.push_back(row.sum().item());
  for (const auto& row : x * 2) sums.push_back(row.sum().item());
  CHECK(sums == std::vector<double>{3, 7, 11, 6, 14, 22});
  // As in Python, the loop may assign another tensor to the variable.
  int rows = 0;
  for (const auto& row : x) {
    CHECK(row.shape() == Shape{2});
    x = tensor({1.});
    ++rows;
  }
  CHECK(rows == 3);
  const Tensor y = arange(6).view({3, 2});
  for (const Tensor& row : y) row.add_(1);
  CHECK(y.equal(arange(1, 7).view({3, 2})));
  const std::vector<Tensor> list(y.begin(), y.end());
  CHECK(list[2].equal(tensor({5, 6})));
  CHECK(std::ranges::distance(y) == 3);
  CHECK_THROWS_AS(tensor(1.).begin() == tensor(1.).end(), IndexError);
}

TEST_CASE("ndim is the number of dimensions and cpu returns the tensor itself") {
  const Tensor x = ones({2, 3});
  CHECK(x.ndim() == 2);
  CHECK(tensor(1).ndim() == 0);
  CHECK(x.cpu().impl() == x.impl());
  CHECK_THROWS_AS(Tensor().cpu(), AutogradError);
}
