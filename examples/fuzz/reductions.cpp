// Steps that reduce or scan.
#include "catalogue.h"

using namespace tend;

namespace fuzz {
namespace {

struct Choice {
  Dims dims;
  bool keepdim;
  std::string python;  // ", (0, -1), keepdim=True)"
  std::int64_t count;  // of elements that make one
};

// Dimensions to reduce over; all of them now and then.
Choice choose_dims(Program& p, const Tensor& x) {
  Choice choice{{}, false, ")", x.numel()};
  if (x.dim() == 0 || p.dice.chance(0.2)) return choice;
  choice.keepdim = p.dice.chance(0.5);
  choice.count = 1;
  for (std::int64_t d = 0; d < x.dim(); ++d) {
    if (!p.dice.chance(0.5)) continue;
    choice.count *= x.size(d);
    choice.dims.push_back(p.dice.chance(0.5) ? d : d - x.dim());
  }
  if (choice.dims.empty()) {
    choice.dims.push_back(0);
    choice.count = x.size(0);
  }
  choice.python =
      as_text(", ", tuple(choice.dims), ", keepdim=", choice.keepdim ? "True" : "False", ")");
  return choice;
}

using Reduce = Tensor (*)(const Tensor&, const Dims&, Flag);

Entry reduction(const std::string& name, Reduce f, std::int64_t least) {
  return {name, [=](Program& p) {
            const Value x = p.real();
            const Choice choice = choose_dims(p, x.tensor);
            if (choice.count < least) return false;
            p.step(as_text("torch.", name, "(", x.name, choice.python),
                   f(x.tensor, choice.dims, choice.keepdim));
            return true;
          }};
}

// The largest or smallest, of exact elements: the gradient goes where they are.
Entry extreme(const std::string& name, Reduce f) {
  return {
      name, [=](Program& p) {
        const std::optional<Value> x = p.exact();
        if (!x || x->tensor.dim() == 0) return false;
        const Choice choice = choose_dims(p, x->tensor);
        p.step(as_text("torch.", name, "(", x->name, choice.dims.empty() ? ", ())" : choice.python),
               f(x->tensor, choice.dims, choice.keepdim), true);
        return true;
      }};
}

bool add_max_along(Program& p) {
  const std::optional<Value> x = p.exact();
  if (!x || x->tensor.dim() == 0) return false;
  const std::int64_t d = p.dim(*x);
  p.step(as_text(x->name, ".max(", d, ")[0]"), max(x->tensor, d).values, true);
  return true;
}

bool add_prod(Program& p) {
  const Value x = p.real();
  if (x.tensor.dim() == 0) return false;
  const std::int64_t d = p.dim(x);
  p.step(as_text("torch.prod(", x.name, ", ", d, ")"), prod(x.tensor, d));
  return true;
}

bool add_scan(Program& p) {
  const Value x = p.real();
  const std::int64_t d = p.dim(x);
  const bool sum = p.dice.chance(0.5);
  p.step(as_text("torch.", sum ? "cumsum" : "cumprod", "(", x.name, ", ", d, ")"),
         sum ? cumsum(x.tensor, d) : cumprod(x.tensor, d));
  return true;
}

bool add_logsumexp(Program& p) {
  const Value x = p.real();
  if (x.tensor.dim() == 0 || x.tensor.numel() == 0) return false;
  const std::int64_t d = p.dim(x);
  p.step(as_text("torch.logsumexp(", x.name, ", ", d, ")"), logsumexp(x.tensor, d));
  return true;
}

bool add_norm(Program& p) {
  const Value x = p.real();
  if (x.tensor.numel() == 0) return false;
  // The origin is a kink.
  p.step(as_text("torch.norm(", x.name, " * ", x.name, " + 0.5, p=2)"),
         norm(x.tensor * x.tensor + 0.5, 2));
  return true;
}

bool add_softmax(Program& p) {
  const Value x = p.real();
  const std::int64_t d = p.dim(x);
  const bool log = p.dice.chance(0.5);
  p.step(as_text("torch.", log ? "log_softmax" : "softmax", "(", x.name, ", ", d, ")"),
         log ? log_softmax(x.tensor, d) : softmax(x.tensor, d));
  return true;
}

bool add_sort(Program& p) {
  const std::optional<Value> x = p.exact();
  if (!x || x->tensor.dim() == 0) return false;
  const std::int64_t d = p.dim(*x);
  const bool down = p.dice.chance(0.5);
  // Stable, since equal elements take their gradients with them.
  p.step(as_text("torch.sort(", x->name, ", dim=", d, ", descending=", down ? "True" : "False",
                 ", stable=True)[0]"),
         sort(x->tensor, d, down).values, true);
  return true;
}

}  // namespace

std::vector<Entry> reduction_entries() {
  using T = const Tensor&;
  const auto total = [](T x, const Dims& dims, Flag keep) { return sum(x, dims, keep); };
  const auto average = [](T x, const Dims& dims, Flag keep) { return mean(x, dims, keep); };
  const auto variance = [](T x, const Dims& dims, Flag keep) { return var(x, dims, 1, keep); };
  return {reduction("sum", total, 0),
          reduction("mean", average, 1),
          reduction("var", variance, 2),
          extreme("amax", amax),
          extreme("amin", amin),
          {"max", add_max_along},
          {"prod", add_prod},
          {"cumsum and cumprod", add_scan},
          {"logsumexp", add_logsumexp},
          {"norm", add_norm},
          {"softmax", add_softmax},
          {"sort", add_sort}};
}

}  // namespace fuzz
