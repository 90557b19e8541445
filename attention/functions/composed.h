// Attention composed of public operations. Internal: callers have checked the arguments.
#pragma once

#include <tend/attention/functions/options.h>

namespace tend::attention {

/// The context, and the weights after dropout; gradients of any order are those of the operations.
AttentionOutput composed_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                   const AttentionOptions& options);

}  // namespace tend::attention
