// Steps that move elements: views, copies, joins.
#include "catalogue.h"

using namespace tend;

namespace fuzz {
namespace {

bool add_transpose(Program& p) {
  const Value x = p.any();
  if (x.tensor.dim() == 0) return false;
  const std::int64_t a = p.dim(x), b = p.dim(x);
  p.step(as_text(x.name, ".transpose(", a, ", ", b, ")"), x.tensor.transpose(a, b), x.exact);
  return true;
}

bool add_permute(Program& p) {
  const Value x = p.any();
  Shape dims;
  for (std::int64_t d = 0; d < x.tensor.dim(); ++d) dims.push_back(d);
  for (std::int64_t d = dims.rank() - 1; d > 0; --d) std::swap(dims[d], dims[p.dice.between(0, d)]);
  p.step(as_text(x.name, ".permute(", tuple(dims), ")"), x.tensor.permute(dims), x.exact);
  return true;
}

bool add_reshape(Program& p) {
  const Value x = p.any();
  const std::int64_t n = x.tensor.numel();
  std::vector<Shape> shapes{{n}, {1, n}};
  for (const std::int64_t rows : {2, 3, 4}) {
    if (n > 0 && n % rows == 0) shapes.push_back({rows, n / rows});
  }
  const Shape shape = p.dice.of(shapes);
  p.step(as_text(x.name, ".reshape(", tuple(shape), ")"), x.tensor.reshape(shape), x.exact);
  return true;
}

bool add_unsqueeze(Program& p) {
  const Value x = p.any();
  if (x.tensor.dim() > 3) return false;
  const std::int64_t d = p.dice.between(-x.tensor.dim() - 1, x.tensor.dim());
  p.step(as_text(x.name, ".unsqueeze(", d, ")"), x.tensor.unsqueeze(d), x.exact);
  return true;
}

bool add_squeeze(Program& p) {
  const Value x = p.any();
  p.step(as_text(x.name, ".squeeze()"), x.tensor.squeeze(), x.exact);
  return true;
}

bool add_expand(Program& p) {
  const Value x = p.any();
  if (x.tensor.dim() > 3) return false;
  Shape shape = x.tensor.shape();
  for (std::int64_t& size : shape) {
    if (size == 1) size = p.dice.between(1, 3);
  }
  Shape sizes{p.dice.between(1, 2)};
  for (const std::int64_t size : shape) sizes.push_back(size);
  p.step(as_text(x.name, ".expand(", tuple(sizes), ")"), x.tensor.expand(sizes), x.exact);
  return true;
}

bool add_select(Program& p) {
  const Value x = p.any();
  if (x.tensor.dim() == 0) return false;
  const std::int64_t d = p.dim(x);
  const std::int64_t size = x.tensor.size(d);
  if (size == 0) return false;
  const std::int64_t at = p.dice.between(-size, size - 1);
  p.step(as_text(x.name, ".select(", d, ", ", at, ")"), x.tensor.select(d, at), x.exact);
  return true;
}

bool add_slice(Program& p) {
  const Value x = p.any();
  if (x.tensor.dim() == 0 || x.tensor.size(0) == 0) return false;
  const std::int64_t start = p.dice.between(0, x.tensor.size(0) - 1);
  const std::int64_t step = p.dice.between(1, 2);
  p.step(as_text(x.name, "[", start, "::", step, "]"), x.tensor[Slice{start, std::nullopt, step}],
         x.exact);
  return true;
}

bool add_narrow(Program& p) {
  const Value x = p.any();
  if (x.tensor.dim() == 0) return false;
  const std::int64_t d = p.dim(x);
  const std::int64_t start = p.dice.between(0, x.tensor.size(d));
  const std::int64_t length = p.dice.between(0, x.tensor.size(d) - start);
  p.step(as_text(x.name, ".narrow(", d, ", ", start, ", ", length, ")"),
         x.tensor.narrow(d, start, length), x.exact);
  return true;
}

bool add_diagonal(Program& p) {
  const Value x = p.any();
  if (x.tensor.dim() < 2) return false;
  const std::int64_t offset = p.dice.between(-1, 1);
  p.step(as_text(x.name, ".diagonal(", offset, ", -2, -1)"), x.tensor.diagonal(offset, -2, -1),
         x.exact);
  return true;
}

bool add_triangle(Program& p) {
  const Value x = p.real();
  if (x.tensor.dim() < 2) return false;
  const std::int64_t k = p.dice.between(-2, 2);
  const bool lower = p.dice.chance(0.5);
  p.step(as_text("torch.", lower ? "tril" : "triu", "(", x.name, ", ", k, ")"),
         lower ? tril(x.tensor, k) : triu(x.tensor, k), x.exact);
  return true;
}

bool add_cat(Program& p) {
  const Value x = p.real();
  if (x.tensor.dim() == 0) return false;
  const std::int64_t d = p.dim(x);
  p.step(as_text("torch.cat([", x.name, ", -", x.name, "], ", d, ")"),
         cat({x.tensor, -x.tensor}, d), x.exact);
  return true;
}

bool add_stack(Program& p) {
  const Value x = p.real(), y = p.partner(x);
  if (x.tensor.dim() > 3 || y.tensor.shape() != x.tensor.shape()) return false;
  const std::int64_t d = p.dice.between(-x.tensor.dim() - 1, x.tensor.dim());
  p.step(as_text("torch.stack([", x.name, ", ", y.name, "], ", d, ")"),
         stack({x.tensor, y.tensor}, d), x.exact && y.exact);
  return true;
}

bool add_chunk(Program& p) {
  const Value x = p.any();
  if (x.tensor.dim() == 0) return false;
  const std::int64_t d = p.dim(x);
  const std::int64_t pieces = p.dice.between(1, 3);
  const std::vector<Tensor> all = x.tensor.chunk(pieces, d);
  const std::int64_t which = p.dice.between(0, static_cast<std::int64_t>(all.size()) - 1);
  p.step(as_text(x.name, ".chunk(", pieces, ", ", d, ")[", which, "]"),
         all[static_cast<std::size_t>(which)], x.exact);
  return true;
}

bool add_flip(Program& p) {
  const Value x = p.any();
  if (x.tensor.dim() == 0) return false;
  const std::int64_t d = p.dim(x);
  p.step(as_text(x.name, ".flip(", d, ")"), flip(x.tensor, {d}), x.exact);
  return true;
}

bool add_roll(Program& p) {
  const Value x = p.any();
  if (x.tensor.dim() == 0) return false;
  const std::int64_t d = p.dim(x), by = p.dice.between(-3, 3);
  p.step(as_text(x.name, ".roll(", by, ", ", d, ")"), roll(x.tensor, by, d), x.exact);
  return true;
}

bool add_pad(Program& p) {
  const Value x = p.real();
  if (x.tensor.dim() == 0) return false;
  const std::int64_t before = p.dice.between(0, 2), after = p.dice.between(0, 2);
  p.step(as_text("F.pad(", x.name, ", (", before, ", ", after, "), value=0.5)"),
         pad(x.tensor, {before, after}, PadMode::constant, 0.5), x.exact);
  return true;
}

bool add_unfold(Program& p) {
  const Value x = p.any();
  if (x.tensor.dim() == 0 || x.tensor.dim() > 3) return false;
  const std::int64_t d = p.dim(x);
  if (x.tensor.size(d) < 2) return false;
  const std::int64_t size = p.dice.between(1, x.tensor.size(d)), step = p.dice.between(1, 2);
  p.step(as_text(x.name, ".unfold(", d, ", ", size, ", ", step, ")"),
         x.tensor.unfold(d, size, step), x.exact);
  return true;
}

bool add_repeat(Program& p) {
  const Value x = p.any();
  if (x.tensor.dim() > 2) return false;
  Shape times{p.dice.between(1, 2)};
  for (std::int64_t d = 0; d < x.tensor.dim(); ++d) times.push_back(p.dice.between(1, 2));
  p.step(as_text(x.name, ".repeat(", tuple(times), ")"), x.tensor.repeat(times), x.exact);
  return true;
}

bool add_repeat_interleave(Program& p) {
  const Value x = p.any();
  if (x.tensor.dim() == 0) return false;
  const std::int64_t d = p.dim(x), times = p.dice.between(0, 3);
  p.step(as_text(x.name, ".repeat_interleave(", times, ", ", d, ")"),
         repeat_interleave(x.tensor, times, d), x.exact);
  return true;
}

bool add_movedim(Program& p) {
  const Value x = p.any();
  if (x.tensor.dim() == 0) return false;
  const std::int64_t from = p.dim(x), to = p.dim(x);
  p.step(as_text(x.name, ".movedim(", from, ", ", to, ")"), movedim(x.tensor, from, to), x.exact);
  return true;
}

bool add_contiguous(Program& p) {
  const Value x = p.any();
  p.step(as_text(x.name, ".contiguous()"), x.tensor.contiguous(), x.exact);
  return true;
}

bool add_clone(Program& p) {
  const Value x = p.any();
  p.step(as_text(x.name, ".clone()"), x.tensor.clone(), x.exact);
  return true;
}

}  // namespace

std::vector<Entry> shape_entries() {
  return {{"transpose", add_transpose},
          {"permute", add_permute},
          {"reshape", add_reshape},
          {"unsqueeze", add_unsqueeze},
          {"squeeze", add_squeeze},
          {"expand", add_expand},
          {"select", add_select},
          {"slice", add_slice},
          {"narrow", add_narrow},
          {"diagonal", add_diagonal},
          {"tril and triu", add_triangle},
          {"cat", add_cat},
          {"stack", add_stack},
          {"chunk", add_chunk},
          {"flip", add_flip},
          {"roll", add_roll},
          {"pad", add_pad},
          {"unfold", add_unfold},
          {"repeat", add_repeat},
          {"repeat_interleave", add_repeat_interleave},
          {"movedim", add_movedim},
          {"contiguous", add_contiguous},
          {"clone", add_clone}};
}

}  // namespace fuzz
