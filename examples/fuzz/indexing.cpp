// Steps that read or write at places that other tensors name.
#include "catalogue.h"

using namespace tend;

namespace fuzz {
namespace {

bool add_index_select(Program& p) {
  const Value x = p.any();
  if (x.tensor.dim() == 0) return false;
  const std::int64_t d = p.dim(x);
  if (x.tensor.size(d) == 0) return false;
  const Value at = p.leaf({p.dice.between(0, 4)}, int64, 0, static_cast<double>(x.tensor.size(d)));
  p.step(as_text("torch.index_select(", x.name, ", ", d, ", ", at.name, ")"),
         index_select(x.tensor, d, at.tensor), x.exact);
  return true;
}

bool add_gather(Program& p) {
  const Value x = p.any();
  if (x.tensor.dim() == 0) return false;
  const std::int64_t d = p.dim(x);
  if (x.tensor.size(d) == 0) return false;
  Shape shape = x.tensor.shape();
  shape[wrap_dim("fuzz", d, shape.rank())] = p.dice.between(1, 3);
  const Value at = p.leaf(shape, int64, 0, static_cast<double>(x.tensor.size(d)));
  p.step(as_text("torch.gather(", x.name, ", ", d, ", ", at.name, ")"),
         gather(x.tensor, d, at.tensor), x.exact);
  return true;
}

bool add_scatter_add(Program& p) {
  const Value x = p.real();
  if (x.tensor.dim() == 0) return false;
  const std::int64_t d = p.dim(x);
  if (x.tensor.size(d) == 0) return false;
  const Value at = p.leaf(x.tensor.shape(), int64, 0, static_cast<double>(x.tensor.size(d)));
  p.step(as_text("torch.scatter_add(", x.name, ", ", d, ", ", at.name, ", ", x.name, " * 2)"),
         scatter_add(x.tensor, d, at.tensor, x.tensor * 2));
  return true;
}

bool add_index_add(Program& p) {
  const Value x = p.real();
  if (x.tensor.dim() == 0) return false;
  const std::int64_t d = p.dim(x);
  if (x.tensor.size(d) == 0) return false;
  const Value at = p.leaf({x.tensor.size(d)}, int64, 0, static_cast<double>(x.tensor.size(d)));
  p.step(
      as_text("torch.index_add(", x.name, ", ", d, ", ", at.name, ", ", x.name, " * ", x.name, ")"),
      index_add(x.tensor, d, at.tensor, x.tensor * x.tensor));
  return true;
}

bool add_rows(Program& p) {
  const Value x = p.any();
  if (x.tensor.dim() == 0 || x.tensor.dim() > 3 || x.tensor.size(0) == 0) return false;
  const auto n = static_cast<double>(x.tensor.size(0));
  const Value at = p.leaf({p.dice.between(1, 2), 2}, int64, -n, n);
  p.step(as_text(x.name, "[", at.name, "]"), x.tensor[{at.tensor}], x.exact);
  return true;
}

bool add_pairs(Program& p) {
  const Value x = p.any();
  if (x.tensor.dim() != 3 || x.tensor.numel() == 0) return false;
  const Value i = p.leaf({3}, int64, 0, static_cast<double>(x.tensor.size(0)));
  const Value j = p.leaf({2, 1}, int64, 0, static_cast<double>(x.tensor.size(2)));
  p.step(as_text(x.name, "[", i.name, ", :, ", j.name, "]"),
         x.tensor[{i.tensor, Slice{}, j.tensor}], x.exact);
  return true;
}

bool add_mask(Program& p) {
  const std::optional<Value> x = p.exact();
  if (!x || x->tensor.dim() == 0) return false;
  p.step(as_text(x->name, "[", x->name, " > 0]"), x->tensor[{x->tensor > 0}], true);
  return true;
}

bool add_masked_select(Program& p) {
  const std::optional<Value> x = p.exact();
  if (!x) return false;
  p.step(as_text("torch.masked_select(", x->name, ", ", x->name, " < 0.5)"),
         masked_select(x->tensor, x->tensor < 0.5), true);
  return true;
}

bool add_index_put(Program& p) {
  const Value x = p.real();
  if (x.tensor.dim() == 0 || x.tensor.size(0) == 0) return false;
  const Value at = p.leaf({3}, int64, 0, static_cast<double>(x.tensor.size(0)));
  p.step(as_text("torch.index_put(", x.name, ", (", at.name, ",), ", x.name, "[", at.name,
                 "] * 0.5, accumulate=True)"),
         index_put(x.tensor, {at.tensor}, x.tensor[{at.tensor}] * 0.5, true));
  return true;
}

bool add_take_along(Program& p) {
  const std::optional<Value> x = p.exact();
  if (!x || x->tensor.dim() == 0) return false;
  p.step(as_text("torch.take_along_dim(", x->name, ", torch.argsort(", x->name,
                 ", dim=-1, stable=True), -1)"),
         take_along_dim(x->tensor, argsort(x->tensor, -1), -1), true);
  return true;
}

bool add_embedding(Program& p) {
  const Value x = p.real();
  if (x.tensor.dim() != 2 || x.tensor.size(0) == 0) return false;
  const Value at = p.leaf({2, 2}, int64, 0, static_cast<double>(x.tensor.size(0)));
  p.step(as_text("F.embedding(", at.name, ", ", x.name, ")"), embedding(at.tensor, x.tensor),
         x.exact);
  return true;
}

}  // namespace

std::vector<Entry> indexing_entries() {
  return {{"index_select", add_index_select},
          {"gather", add_gather},
          {"scatter_add", add_scatter_add},
          {"index_add", add_index_add},
          {"rows by a tensor", add_rows},
          {"two tensors around a slice", add_pairs},
          {"mask", add_mask},
          {"masked_select", add_masked_select},
          {"index_put", add_index_put},
          {"take_along_dim", add_take_along},
          {"embedding", add_embedding}};
}

}  // namespace fuzz
