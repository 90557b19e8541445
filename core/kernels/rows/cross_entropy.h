// Cross-entropy of logits with classes, and its gradient, without storing the log-probabilities of
// all classes.
#pragma once

#include <tend/core/array/array.h>

namespace tend::kernels {

// Logits are a row-major matrix (items, classes) of 16 or more classes, float32 or float64; other
// dtypes are a DTypeError. Each item has a label, which is int64 and one of the classes, and a bool
// that is true if the item is ignored. Arrays with one number per item are contiguous. All arrays
// have the dtype of the logits, except labels and ignored.
//
// The bounds on errors use u, half an ulp of 1, and d, the difference between the largest and the
// smallest logit. For n classes, s is n / 4 + 7 (float64: n + 7).

/// losses = -on * log p[label] - off * sum(log p) with p = softmax(logits), or 0 where ignored.
///
/// `largest` and `sums` receive the largest logit of each item and sum(exp(logits - largest)),
/// which the gradient needs. The error is at most u s (1 + d + log(n)) (on + n off).
void cross_entropy(const Array& losses, const Array& largest, const Array& sums,
                   const Array& logits, const Array& labels, const Array& ignored, double on,
                   double off);

/// out = scale * (p - off), minus scale * on at each label.
///
/// `scale` contains the gradients of the losses, and 0 where ignored. The error is at most
/// u |scale| (p (2 d + s + 1) + 3 off), and at labels u |scale| (p (2 d + s + 1) + 3 off + 3 on).
/// Where p is subnormal or smaller, the error may also be as large as p.
void cross_entropy_backward(const Array& out, const Array& scale, const Array& logits,
                            const Array& labels, const Array& largest, const Array& sums, double on,
                            double off);

}  // namespace tend::kernels
