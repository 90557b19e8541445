// Every operation on tensors, by family. Each stands in autograd/ops/ with its derivative directly
// beneath it.
#pragma once

#include <tend/autograd/ops/arithmetic.h>
#include <tend/autograd/ops/creation.h>
#include <tend/autograd/ops/linalg.h>
#include <tend/autograd/ops/reduce.h>
#include <tend/autograd/ops/views.h>
