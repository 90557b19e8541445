#include <tend/nn/adamw.h>

#include <cmath>

namespace tend::optim {
namespace {

void check(const AdamWOptions& o) {
  if (!(o.lr >= 0) || !(o.eps >= 0) || !(o.weight_decay >= 0)) {
    fail("AdamW", "lr ", o.lr, ", eps ", o.eps, " and weight_decay ", o.weight_decay,
         " must not be negative");
  }
  if (!(o.beta1 >= 0 && o.beta1 < 1) || !(o.beta2 >= 0 && o.beta2 < 1)) {
    fail("AdamW", "beta1 ", o.beta1, " and beta2 ", o.beta2, " must lie in [0, 1)");
  }
}

// PyTorch's order of operations, in one pass over the elements.
template <class T>
void update_range(T* p, const T* g, T* m, T* v, std::int64_t begin, std::int64_t end,
                  const AdamWOptions& o, double step) {
  const T decay = static_cast<T>(1 - o.lr * o.weight_decay);
  const T m_weight = static_cast<T>(1 - o.beta1);
  const T beta2 = static_cast<T>(o.beta2);
  const T v_weight = static_cast<T>(1 - o.beta2);
  const T v_correction = static_cast<T>(std::sqrt(1 - std::pow(o.beta2, step)));
  const T rate = static_cast<T>(-o.lr / (1 - std::pow(o.beta1, step)));
  const T eps = static_cast<T>(o.eps);
  for (std::int64_t i = begin; i < end; ++i) {
    m[i] += m_weight * (g[i] - m[i]);
    v[i] = v[i] * beta2 + v_weight * g[i] * g[i];
    const T denominator = std::sqrt(v[i]) / v_correction + eps;
    p[i] = p[i] * decay + rate * m[i] / denominator;
  }
}

}  // namespace

AdamW::AdamW(const std::vector<Tensor>& parameters, const Options& options) {
  check(options);
  add_group(parameters, options);
}

void AdamW::step() {
  for (const Group& group : groups()) check(group.options);
  for_each_gradient("AdamW.step", [](const Array& p, const Array& g, const Options& options,
                                     AdamWState& state) {
    if (!state.exp_avg.defined()) {
      state.exp_avg = Array::zeros(p.shape(), p.dtype());
      state.exp_avg_sq = Array::zeros(p.shape(), p.dtype());
    }
    visit_floating("AdamW", p.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      for_elements(p, [&](std::int64_t begin, std::int64_t end) {
        update_range(p.data<T>(), g.data<T>(), state.exp_avg.data<T>(), state.exp_avg_sq.data<T>(),
                     begin, end, options, static_cast<double>(state.step));
      });
    });
  });
}

}  // namespace tend::optim
