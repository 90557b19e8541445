// Everything: tensors, gradients, modules, optimizers, attention.
#pragma once

#include <tend/attention/causal_attention.h>
#include <tend/attention/mask.h>
#include <tend/attention/multi_head_attention.h>
#include <tend/attention/scaled_dot_product.h>
#include <tend/attention/self_attention.h>
#include <tend/attention/simple.h>
#include <tend/autograd/engine.h>
#include <tend/autograd/grad_mode.h>
#include <tend/autograd/tensor.h>
#include <tend/core/parallel.h>
#include <tend/core/print.h>
#include <tend/core/random.h>
#include <tend/nn/activation.h>
#include <tend/nn/adamw.h>
#include <tend/nn/clip.h>
#include <tend/nn/dropout.h>
#include <tend/nn/embedding.h>
#include <tend/nn/init.h>
#include <tend/nn/linear.h>
#include <tend/nn/module.h>
#include <tend/nn/module_list.h>
#include <tend/nn/sequential.h>
#include <tend/nn/sgd.h>
