#include <tend/nn/sgd.h>

namespace tend::optim {
namespace {

void check(const SGDOptions& o) {
  if (!(o.lr >= 0) || !(o.momentum >= 0) || !(o.weight_decay >= 0)) {
    fail("SGD", "lr ", o.lr, ", momentum ", o.momentum, " and weight_decay ", o.weight_decay,
         " must not be negative");
  }
  if (o.nesterov && (o.momentum <= 0 || o.dampening != 0)) {
    fail("SGD", "nesterov needs momentum, and no dampening");
  }
}

// `velocity` is null without momentum; in the first step it becomes the gradient itself.
template <class T>
void update_range(T* p, const T* g, T* velocity, bool first, std::int64_t begin, std::int64_t end,
                  const SGDOptions& o) {
  const T rate = static_cast<T>(-o.lr);
  const T decay = static_cast<T>(o.weight_decay);
  const T momentum = static_cast<T>(o.momentum);
  const T share = static_cast<T>(1 - o.dampening);
  for (std::int64_t i = begin; i < end; ++i) {
    T direction = g[i] + decay * p[i];
    if (velocity != nullptr) {
      velocity[i] = first ? direction : momentum * velocity[i] + share * direction;
      direction = o.nesterov ? direction + momentum * velocity[i] : velocity[i];
    }
    p[i] += rate * direction;
  }
}

}  // namespace

SGD::SGD(const std::vector<Tensor>& parameters, const Options& options) {
  check(options);
  add_group(parameters, options);
}

void SGD::step() {
  for (const Group& group : groups()) check(group.options);
  for_each_gradient(
      "SGD.step", [](const Array& p, const Array& g, const Options& options, SGDState& state) {
        const bool first = !state.momentum_buffer.defined();
        if (options.momentum > 0 && first)
          state.momentum_buffer = Array::empty(p.shape(), p.dtype());
        visit_floating("SGD", p.dtype(), [&](auto tag) {
          using T = typename decltype(tag)::type;
          T* velocity = options.momentum > 0 ? state.momentum_buffer.template data<T>() : nullptr;
          for_elements(p, [&](std::int64_t begin, std::int64_t end) {
            update_range(p.data<T>(), g.data<T>(), velocity, first, begin, end, options);
          });
        });
      });
}

}  // namespace tend::optim
