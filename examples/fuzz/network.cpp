// Steps of networks: normalisation, losses, convolution, attention.
#include "catalogue.h"

using namespace tend;

namespace fuzz {
namespace {

bool add_layer_norm(Program& p) {
  const Value x = p.real();
  if (x.tensor.dim() == 0 || x.tensor.size(-1) < 2) return false;
  const Value w = p.leaf({x.tensor.size(-1)}, x.tensor.dtype());
  // A row of equal elements would divide by a rounding error.
  p.step(as_text("F.layer_norm(", x.name, ", (", x.tensor.size(-1), ",), ", w.name, ", ", w.name,
                 ", 0.1)"),
         layer_norm(x.tensor, {x.tensor.size(-1)}, w.tensor, w.tensor, 0.1));
  return true;
}

bool add_cross_entropy(Program& p) {
  const Value x = p.real();
  if (x.tensor.dim() != 2 || x.tensor.numel() == 0) return false;
  const Value target = p.leaf({x.tensor.size(0)}, int64, 0, static_cast<double>(x.tensor.size(1)));
  p.step(as_text("F.cross_entropy(", x.name, ", ", target.name, ", label_smoothing=0.1)"),
         cross_entropy(x.tensor, target.tensor, {.label_smoothing = 0.1}));
  return true;
}

using Loss = Tensor (*)(const Tensor&, const Tensor&);

Entry loss(const std::string& name, const std::string& options, Loss f) {
  return {name, [=](Program& p) {
            const Value x = p.real(), y = p.partner(x);
            if (x.tensor.shape() != y.tensor.shape() || x.tensor.numel() == 0) return false;
            if (x.tensor.dtype() != y.tensor.dtype()) return false;
            p.step(as_text("F.", name, "(", x.name, ", ", y.name, options, ")"),
                   f(x.tensor, y.tensor));
            return true;
          }};
}

bool add_cosine(Program& p) {
  const Value x = p.real(), y = p.partner(x);
  if (x.tensor.dim() == 0 || x.tensor.shape() != y.tensor.shape()) return false;
  if (x.tensor.dtype() != y.tensor.dtype() || x.tensor.size(-1) < 2) return false;
  // Away from the origin, where it has no derivative.
  p.step(as_text("F.cosine_similarity(", x.name, " * ", x.name, " + 0.5, ", y.name, " * ", y.name,
                 " + 1.0, dim=-1)"),
         cosine_similarity(x.tensor * x.tensor + 0.5, y.tensor * y.tensor + 1.0, -1));
  return true;
}

bool add_conv1d(Program& p) {
  const Value x = p.real();
  if (x.tensor.dim() != 3 || x.tensor.numel() == 0 || x.tensor.size(2) < 2) return false;
  const Value w = p.leaf({2, x.tensor.size(1), 2}, x.tensor.dtype(), -1, 1);
  const Value b = p.leaf({2}, x.tensor.dtype());
  p.step(as_text("F.conv1d(", x.name, ", ", w.name, ", ", b.name, ", padding=1)"),
         conv1d(x.tensor, w.tensor, b.tensor, {.padding = 1}));
  return true;
}

bool add_attention(Program& p) {
  const Value x = p.real();
  if (x.tensor.dim() < 2 || x.tensor.numel() == 0) return false;
  p.step(
      as_text("F.scaled_dot_product_attention(", x.name, ", ", x.name, ", ", x.name,
              ", is_causal=True)"),
      attention::scaled_dot_product_attention(x.tensor, x.tensor, x.tensor, {.is_causal = true}));
  return true;
}

}  // namespace

std::vector<Entry> network_entries() {
  using T = const Tensor&;
  return {{"layer_norm", add_layer_norm},
          {"cross_entropy", add_cross_entropy},
          loss("mse_loss", "", [](T x, T y) { return mse_loss(x, y); }),
          loss("smooth_l1_loss", "", [](T x, T y) { return smooth_l1_loss(x, y); }),
          loss("huber_loss", ", delta=0.7",
               [](T x, T y) { return huber_loss(x, y, Reduction::mean, 0.7); }),
          {"cosine_similarity", add_cosine},
          {"conv1d", add_conv1d},
          {"scaled_dot_product_attention", add_attention}};
}

}  // namespace fuzz
