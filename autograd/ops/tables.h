// The tables of all families (row_forms.h), for the methods that follow from them.
#include <tend/autograd/ops/activation_table.h>
#include <tend/autograd/ops/arithmetic_table.h>
#include <tend/autograd/ops/compare_table.h>
#include <tend/autograd/ops/math_table.h>
