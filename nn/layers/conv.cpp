#include <tend/nn/layers/conv.h>

#include <cmath>

#include <tend/autograd/ops/ops.h>
#include <tend/nn/layers/init.h>

namespace tend::nn {

Conv1d::Conv1d(std::int64_t in_channels, std::int64_t out_channels, std::int64_t kernel_size,
               const Conv1dLayerOptions& settings)
    : options{settings.stride, settings.padding, settings.dilation, settings.groups} {
  const std::int64_t groups = options.groups;
  if (in_channels < 1 || out_channels < 1 || kernel_size < 1 || groups < 1 ||
      in_channels % groups != 0 || out_channels % groups != 0) {
    fail<ShapeError>("Conv1d",
                     "all sizes must be at least 1, and groups must divide the channels, got ",
                     in_channels, " and ", out_channels, " channels in ", groups,
                     " groups, with a kernel of size ", kernel_size);
  }
  if (options.padding.is_same() && options.stride != 1) {
    fail<ShapeError>("Conv1d", "the padding \"same\" needs a stride of 1, got ", options.stride);
  }
  weight = Parameter(empty({out_channels, in_channels / groups, kernel_size}));
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  if (!settings.bias) return;
  bias = Parameter(empty({out_channels}));
  const double bound = 1 / std::sqrt(static_cast<double>(weight[0].numel()));
  init::uniform_(bias, -bound, bound);
}

Tensor Conv1d::forward(const Tensor& x) const {
  return conv1d(x, weight, bias, options);
}

std::string Conv1d::extra_repr() const {
  std::string text =
      as_text(weight.size(1) * options.groups, ", ", weight.size(0), ", kernel_size=(",
              weight.size(2), ",), stride=(", options.stride, ",)");
  if (const std::string padding = options.padding.text(); padding != "(0,)")
    text += ", padding=" + padding;
  if (options.dilation != 1) text += as_text(", dilation=(", options.dilation, ",)");
  if (options.groups != 1) text += as_text(", groups=", options.groups);
  return bias.defined() ? text : text + ", bias=False";
}

}  // namespace tend::nn
