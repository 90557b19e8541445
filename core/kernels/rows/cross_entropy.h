// Cross-entropy of logits with classes, and its gradient, without storing the log-probabilities of
// all classes.
#pragma once

#include <tend/core/array/array.h>

namespace tend::kernels {

// Logits are a row-major matrix (items, classes), float32 or float64 (DTypeError), of 16 or more
// classes. For each item there is a label, int64 and one of the classes, and a bool that says
// whether it is ignored. Arrays with one number per item are contiguous; all arrays but labels and
// ignored have the dtype of the logits.
//
// Errors are bounded in terms of u, half an ulp of 1, d, the difference of the largest logit and
// the smallest, and s = n / 4 + 7 (float64: n + 7) of n classes.

/// losses = -on * log p[label] - off * sum(log p) with p = softmax(logits); 0 where ignored. The
/// largest logit of each item and sum(exp(logits - largest)) are kept for the gradient. Off by at
/// most u s (1 + d + log(n)) (on + n off).
void cross_entropy(const Array& losses, const Array& largest, const Array& sums,
                   const Array& logits, const Array& labels, const Array& ignored, double on,
                   double off);

/// out = scale * (p - off), minus scale * on at each label; `scale` holds the gradients of the
/// losses, 0 where ignored. Off by at most u |scale| (p (2 d + s + 1) + 3 off), 3 on more at
/// labels, and by p where that is below the normal numbers.
void cross_entropy_backward(const Array& out, const Array& scale, const Array& logits,
                            const Array& labels, const Array& largest, const Array& sums, double on,
                            double off);

}  // namespace tend::kernels
