// Rows for autograd/ops/einsum.h.
#include "tests/op_table/op_table.h"

namespace tend::test {
namespace {

using T = const Tensor&;
using Tensors = std::vector<Tensor>;

// A row for einsum with this equation.
Op& equation(Rows& rows, const std::string& text) {
  return rows.op("einsum", "torch.einsum('" + text + "', *x)",
                 [text](const Tensors& x) { return einsum(text, x); });
}

void one_operand_rows(Rows& rows) {
  equation(rows, "ij->ji").on({{real({2, 3})}, {real({0, 3})}, {integers({2, 2}, 0, 9)}});
  equation(rows, "ij->ij").on({{real({2, 3})}, {bools({2, 2})}});
  equation(rows, "ij->i").on({{real({2, 3})}, {real({2, 0})}, {integers({2, 2}, 0, 9)}});
  equation(rows, "ij->").on({{real({2, 3})}, {real({1, 1})}, {bools({2, 2})}});
  equation(rows, "ba").on({{real({2, 3})}});
  equation(rows, "bA").on({{real({2, 3})}});
  equation(rows, "zZaA->AaZz").on({{real({2, 3, 1, 2})}});
  equation(rows, "").on({{real({})}});
  equation(rows, "->").on({{real({})}, {integers({}, 0, 9)}});
  equation(rows, "ii->i").on({{real({3, 3})}, {real({1, 1})}, {real({0, 0})}});
  equation(rows, "ii")
      .on({{real({3, 3})}, {integers({2, 2}, 0, 9)}})
      .refuses("[einsum] \"ii\": subscript i is 2 and 3 in operand 0", {real({2, 3})})
      .refuses("[einsum] \"ii\": subscript i is 3 and 1 in operand 0", {real({3, 1})});
  equation(rows, "iji->ij").on({{real({2, 3, 2})}});
  equation(rows, "jii->ij").on({{real({3, 2, 2})}});
  equation(rows, "iii->i").on({{real({2, 2, 2})}});
  equation(rows, "ijij->ji").on({{real({2, 3, 2, 3})}});
  equation(rows, "...").on({{real({2, 3})}, {real({})}});
  equation(rows, "...->").on({{real({2, 3})}, {real({})}});
  equation(rows, "i...->...").on({{real({2, 3, 2})}, {real({3})}});
  equation(rows, "...ij->...ji").on({{real({2, 3})}, {real({2, 2, 3})}, {real({2, 1, 2, 3})}});
  equation(rows, "...ii->...i").on({{real({2, 3, 3})}, {real({2, 2})}});
  equation(rows, "i...i->...").on({{real({2, 3, 2})}});
  equation(rows, "i...j->ij").on({{real({2, 3, 2, 2})}, {real({2, 3})}});
  equation(rows, "ij->...ij").on({{real({2, 3})}});
  equation(rows, "ij...")
      .on({{real({2, 3, 2})}})
      .refuses(
          "[einsum] \"ij...\": 2 subscripts and an ellipsis do not fit operand 0 of shape (3,)",
          {real({3})});
}

void two_operand_rows(Rows& rows) {
  rows.op("einsum", "torch.einsum('ij,kj->ik', a, b)",
          [](T a, T b) { return einsum("ij,kj->ik", a, b); })
      .on({{real({2, 3}), real({4, 3})}})
      .refuses("[einsum] \"ij,kj->ik\": subscript j is 3 in operand 0 and 2 in operand 1",
               {real({2, 3}), real({2, 2})});
  equation(rows, "ij,jk->ik")
      .on({{real({2, 3}), real({3, 4})},
           {real({2, 0}), real({0, 4})},
           {real({0, 3}), real({3, 4})},
           {real({2, 1}), real({5, 3})},  // size 1 broadcasts
           {real({2, 3}), real({1, 3})},
           {real({2, 1}), real({1, 3})},
           {integers({2, 3}, -4, 5), integers({3, 2}, -4, 5)}})
      .refuses("[einsum] \"ij,jk->ik\": subscript j is 3 in operand 0 and 2 in operand 1",
               {real({2, 3}), real({2, 3})})
      .refuses("[einsum] \"ij,jk->ik\": 2 subscripts do not fit operand 1 of shape (3,)",
               {real({2, 3}), real({3})})
      .refuses("[einsum] the dtypes differ: float64 and float32",
               {real({2, 3}), real({3, 2}).as(float32)})
      .refuses("[einsum] does not sum products of bool", {bools({2, 3}), bools({3, 2})})
      .refuses("[einsum] \"ij,jk->ik\": is for 2 operands, got 1", {real({2, 3})});
  equation(rows, "ij,jk").on({{real({2, 3}), real({3, 4})}});
  equation(rows, "ik, kj -> ji").on({{real({2, 3}), real({3, 4})}});
  equation(rows, "i,i").on({{real({3}), real({3})}, {real({1}), real({3})}});
  equation(rows, "i,i->i").on({{real({3}), real({3})}, {real({3}), integers({3}, 0, 9)}});
  equation(rows, "i,j->ij").on({{real({2}), real({3})}}).fixed_size();
  equation(rows, "i,j").on({{real({2}), real({3})}}).fixed_size();
  equation(rows, "i,j->").on({{real({2}), real({3})}});
  equation(rows, "ij,").on({{real({2, 3}), real({})}});
  equation(rows, ",->").on({{real({}), real({})}});
  equation(rows, "ij,ij->").on({{real({2, 3}), real({2, 3})}, {real({1, 3}), real({2, 1})}});
  equation(rows, "ij,ji->").on({{real({2, 3}), real({3, 2})}});
  equation(rows, "ij,j->i").on({{real({2, 3}), real({3})}});
  equation(rows, "ij,ij->ij").on({{real({2, 1}), real({1, 3})}});
  equation(rows, "ijk,k->j").on({{real({2, 3, 2}), real({2})}});
  equation(rows, "ij,k->i").on({{real({2, 3}), real({2})}});
  equation(rows, "bij,bjk->bik")
      .on({{real({2, 2, 3}), real({2, 3, 2})},
           {real({1, 2, 3}), real({2, 3, 2})},
           {real({0, 2, 3}), real({0, 3, 2})}});
  equation(rows, "bthd,bshd->bhts").on({{real({2, 3, 2, 2}), real({2, 2, 2, 2})}});
  equation(rows, "bhts,bshd->bthd").on({{real({2, 2, 3, 2}), real({2, 2, 2, 2})}});
  equation(rows, "bthd,hde->bte").on({{real({2, 2, 2, 2}), real({2, 2, 3})}});
  equation(rows, "abcd,cdef->abef").on({{real({2, 2, 3, 2}), real({3, 2, 2, 2})}});
  equation(rows, "bijk,bjil->lbk").on({{real({2, 3, 2, 2}), real({2, 2, 3, 2})}});
  equation(rows, "AaB,aBb->bA").on({{real({2, 3, 2}), real({3, 2, 2})}});
  equation(rows, "ii,ij->j").on({{real({2, 2}), real({2, 3})}});
  equation(rows, "ii,i->i").on({{real({3, 3}), real({3})}, {real({1, 1}), real({3})}});
  equation(rows, "iij,jk->ik").on({{real({2, 2, 3}), real({3, 2})}});
  equation(rows, "...ij,...jk->...ik")
      .on({{real({2, 3}), real({3, 2})},
           {real({2, 2, 3}), real({3, 2})},
           {real({2, 1, 2, 3}), real({3, 3, 2})}})
      .refuses(
          "[einsum] \"...ij,...jk->...ik\": dimension -1 of the ellipsis is 2 in operand 0 "
          "and 3 in operand 1",
          {real({2, 2, 3}), real({3, 3, 2})});
  equation(rows, "...i,...i").on({{real({2, 3}), real({2, 3})}, {real({3}), real({2, 3})}});
  equation(rows, "...i,i...->...").on({{real({2, 3}), real({3, 2})}});
  equation(rows, "i...,j...->...ji").on({{real({2, 3}), real({3, 2, 1})}});
  equation(rows, "...i,...j->ij").on({{real({2, 3}), real({2, 2})}, {real({3}), real({2, 2})}});
  equation(rows, "b...ij,...jk->b...ik").on({{real({2, 3, 2, 2}), real({3, 2, 2})}});
  equation(rows, "...,...").on({{real({2, 3}), real({3})}});
  equation(rows, "i...,...").on({{real({2, 3}), real({3})}}).fixed_size();
}

void many_operand_rows(Rows& rows) {
  equation(rows, "ij,jk,kl->il").on({{real({2, 3}), real({3, 2}), real({2, 2})}});
  equation(rows, "i,j,k->ijk").on({{real({2}), real({3}), real({2})}}).fixed_size();
  equation(rows, "i,i,i->i").on({{real({3}), real({3}), real({3})}});
  equation(rows, "i,i,i")
      .on({{real({3}), real({3}), real({3})}, {real({3}), real({1}), real({3})}});
  equation(rows, "i,ijk,j->k").on({{real({2}), real({2, 3, 2}), real({3})}});
  equation(rows, "bn,anm,bm->ba").on({{real({2, 2}), real({3, 2, 2}), real({2, 2})}});
  equation(rows, "ij,k,kl->il").on({{real({2, 3}), real({2}), real({2, 2})}});
  equation(rows, "i,j,k->").on({{real({2}), real({3}), real({2})}});
  equation(rows, "...i,...ij,...j->...").on({{real({2}), real({2, 2, 3}), real({1, 3})}});
  equation(rows, "ab,bc,cd,da->")
      .within(48)  // a sum of many products of four numbers that nearly cancels
      .on({{real({2, 2}), real({2, 3}), real({3, 2}), real({2, 2})}});
  equation(rows, "ab,ac,ad,ae->bcde")
      .on({{real({2, 2}), real({2, 2}), real({2, 1}), real({2, 2})}})
      .fixed_size();
}

void tensordot_rows(Rows& rows) {
  rows.op("tensordot", "torch.tensordot(a, b)", [](T a, T b) { return tensordot(a, b); })
      .on({{real({2, 3}), real({2, 3})}, {real({2, 3, 2}), real({3, 2, 2})}})
      .refuses("[tensordot] cannot sum over 2 dimensions of (3,) and (3,)", {real({3}), real({3})})
      .refuses(
          "[tensordot] (2, 3) and (3, 3): dimension 0 of the first is 2, dimension 0 of the "
          "second is 3",
          {real({2, 3}), real({3, 3})})
      .refuses("[tensordot] the dtypes differ: float64 and float32",
               {real({2, 3}), real({2, 3}).as(float32)});
  rows.op("tensordot", "torch.tensordot(a, b, 0)", [](T a, T b) { return tensordot(a, b, 0); })
      .on({{real({2}), real({3})}, {real({}), real({2, 2})}, {real({}), real({})}})
      .fixed_size();
  rows.op("tensordot", "torch.tensordot(a, b, ([2, 0], [0, -1]))",
          [](T a, T b) {
            return tensordot(a, b, {2, 0}, {0, -1});
          })
      .on({{real({2, 3, 4}), real({4, 2, 2})},
           {real({2, 3, 1}), real({4, 2, 2})},  // size 1 broadcasts
           {real({2, 3, 0}), real({0, 2, 2})},
           {integers({2, 2, 2}, 0, 5), integers({2, 2}, 0, 5)}})
      .refuses("[tensordot] dimension 0 appears more than once in (0, -1)",
               {real({2, 3, 4}), real({4})})
      .refuses("[tensordot] a 0-d tensor has no dimension 0", {real({2, 3, 4}), real({})});
}

}  // namespace

std::vector<Op> einsum_rows() {
  Rows rows;
  one_operand_rows(rows);
  two_operand_rows(rows);
  many_operand_rows(rows);
  tensordot_rows(rows);
  return rows.take();
}

}  // namespace tend::test
