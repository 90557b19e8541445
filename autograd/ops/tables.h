// The tables of all families, for the methods that row_forms.h makes from them.
#include <tend/autograd/ops/activation_table.h>
#include <tend/autograd/ops/arithmetic_table.h>
#include <tend/autograd/ops/compare_table.h>
#include <tend/autograd/ops/math_table.h>
