// The choice between the paths of attention. Internal.
#pragma once

#include <tend/attention/functions/call.h>

namespace tend::attention {

/// Computes the context on the path that is asked for (Error where that cannot be taken), or on the
/// faster one. Dropout keeps what `kept` says (draw_kept), or draws that where it is undefined.
Tensor attend(const AttentionCall& call, AttentionPath path, const Tensor& query, const Tensor& key,
              const Tensor& value, const Tensor& kept = Tensor());

}  // namespace tend::attention
