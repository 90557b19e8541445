// All operations on tensors, by family. autograd/ops/ defines each one, followed by its derivative
// and its in-place form.
#pragma once

#include <tend/autograd/ops/activation.h>
#include <tend/autograd/ops/advanced_indexing.h>
#include <tend/autograd/ops/arithmetic.h>
#include <tend/autograd/ops/binary_loss.h>
#include <tend/autograd/ops/combine.h>
#include <tend/autograd/ops/compare.h>
#include <tend/autograd/ops/composed_loss.h>
#include <tend/autograd/ops/conv.h>
#include <tend/autograd/ops/creation.h>
#include <tend/autograd/ops/decompositions.h>
#include <tend/autograd/ops/distances.h>
#include <tend/autograd/ops/dropout.h>
#include <tend/autograd/ops/einsum.h>
#include <tend/autograd/ops/elementwise_loss.h>
#include <tend/autograd/ops/extremes.h>
#include <tend/autograd/ops/indexing.h>
#include <tend/autograd/ops/joining.h>
#include <tend/autograd/ops/linalg.h>
#include <tend/autograd/ops/loss.h>
#include <tend/autograd/ops/masking.h>
#include <tend/autograd/ops/math.h>
#include <tend/autograd/ops/norm.h>
#include <tend/autograd/ops/normalization.h>
#include <tend/autograd/ops/ordering.h>
#include <tend/autograd/ops/pieces.h>
#include <tend/autograd/ops/pow.h>
#include <tend/autograd/ops/quantile.h>
#include <tend/autograd/ops/random.h>
#include <tend/autograd/ops/rearrange.h>
#include <tend/autograd/ops/reduce.h>
#include <tend/autograd/ops/scan.h>
#include <tend/autograd/ops/views.h>
