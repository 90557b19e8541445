#include <tend/autograd/ops/conv.h>

#include <utility>

#include <tend/autograd/ops/helpers.h>
#include <tend/core/base/words.h>

namespace tend {
namespace {

void check_shapes(const Tensor& input, const Tensor& weight, const Tensor& bias,
                  const Conv1dOptions& o) {
  if (o.stride < 1 || o.padding.zeros() < 0 || o.dilation < 1 || o.groups < 1) {
    fail<ShapeError>("conv1d", "stride ", o.stride, ", padding ", o.padding.zeros(), ", dilation ",
                     o.dilation, " and groups ", o.groups, " must be positive, padding may be 0");
  }
  if (o.padding.is_same() && o.stride != 1) {
    fail<ShapeError>("conv1d", "the padding \"same\" needs a stride of 1, got ", o.stride);
  }
  if ((input.dim() != 2 && input.dim() != 3) || weight.dim() != 3) {
    fail<ShapeError>("conv1d", "needs an input (N, C, L) or (C, L) and a weight (O, C, K), got ",
                     input.shape(), " and ", weight.shape());
  }
  const std::int64_t channels = weight.size(0);
  if (channels < 1 || channels % o.groups != 0) {
    fail<ShapeError>("conv1d", "the ", channels, " output channels of the weight ", weight.shape(),
                     " cannot be divided into ", o.groups, " groups");
  }
  if (input.size(-2) % o.groups != 0 || input.size(-2) / o.groups != weight.size(1)) {
    fail<ShapeError>("conv1d", "the input ", input.shape(), " has ", input.size(-2),
                     " channels, but the weight ", weight.shape(), " needs ", o.groups,
                     " groups of ", weight.size(1));
  }
  if (bias.defined() && bias.shape() != Shape{channels}) {
    fail<ShapeError>("conv1d", "the bias has shape ", bias.shape(), ", not (", channels, ",)");
  }
}

// The distance from the first to the last element under the dilated kernel.
//
// Throws: ShapeError - the kernel does not fit the padded input
std::int64_t kernel_reach(const Tensor& input, const Tensor& weight, const Conv1dOptions& o) {
  const std::int64_t size = weight.size(2), zeros = o.padding.zeros();
  std::int64_t reach = 0, length = 0;
  if (size < 1 || __builtin_mul_overflow(o.dilation, size - 1, &reach) ||
      __builtin_add_overflow(zeros, o.padding.is_same() ? reach : zeros, &length) ||
      __builtin_add_overflow(length, input.size(-1), &length) || reach >= length) {
    fail<ShapeError>("conv1d", "a kernel of ", size, " elements with dilation ", o.dilation,
                     " does not fit an input of ", input.size(-1), " elements with padding ",
                     o.padding.is_same() ? "same" : std::to_string(zeros));
  }
  return reach;
}

// The number of zeros before and after the input.
std::pair<std::int64_t, std::int64_t> zeros_of(const Conv1dPadding& padding, std::int64_t reach) {
  if (padding.is_same()) return {reach / 2, reach - reach / 2};
  return {padding.zeros(), padding.zeros()};
}

}  // namespace

bool Conv1dPadding::is_word_valid(std::string_view word) {
  return detail::index_of_word("padding: valid same", word) == 0;
}

std::string Conv1dPadding::text() const {
  if (is_valid_ || is_same_) return is_same_ ? "same" : "valid";
  return as_text("(", zeros_, ",)");
}

Tensor conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias,
              const Conv1dOptions& options) {
  check_shapes(input, weight, bias, options);
  check_one_dtype("conv1d", input, weight);
  if (bias.defined()) check_one_dtype("conv1d", input, bias);
  const std::int64_t reach = kernel_reach(input, weight, options);
  const std::int64_t groups = options.groups;

  Tensor x = input.dim() == 3 ? input : unsqueeze(input, 0);
  const auto [first, last] = zeros_of(options.padding, reach);
  if (first > 0 || last > 0) x = pad(x, {first, last});
  // (N, C, T, K): the elements under the kernel at each of its T positions.
  Tensor under = unfold(x, 2, reach + 1, options.stride);
  if (options.dilation > 1) under = slice(under, 3, {}, {}, options.dilation);
  const std::int64_t batch = under.size(0), positions = under.size(2);
  const std::int64_t depth = weight.size(1) * weight.size(2);
  const Tensor columns = reshape(transpose(under, 2, 3), {batch, groups, depth, positions});
  const Tensor rows = reshape(weight, {groups, weight.size(0) / groups, depth});
  Tensor out = reshape(matmul(rows, columns), {batch, weight.size(0), positions});
  if (bias.defined()) out = out + unsqueeze(bias, 1);
  return input.dim() == 3 ? out : squeeze(out, 0);
}

}  // namespace tend
