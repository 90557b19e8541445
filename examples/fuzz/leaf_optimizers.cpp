// Statements with optimizers.
#include <cmath>

#include "leaf_catalogue.h"

using namespace tend;

namespace fuzz {
namespace {

// Different leaves, some of them.
std::vector<Named> some_leaves(LeafProgram& p) {
  std::vector<Named> leaves;
  for (const Named& each : p.all()) {
    if (each.role == Role::leaf && p.dice.chance(0.7)) leaves.push_back(each);
  }
  return leaves;
}

std::string list(const std::vector<Named>& tensors) {
  std::string text = "[";
  for (const Named& each : tensors) text += each.name + ", ";
  return text + "]";
}

std::vector<Tensor> handles(const std::vector<Named>& tensors) {
  std::vector<Tensor> all;
  for (const Named& each : tensors) all.push_back(each.tensor);
  return all;
}

// "0.0", since PyTorch takes no integer for some of them.
std::string python(double x) {
  return x == std::floor(x) ? as_text(x, ".0") : as_text(x);
}

std::string text_of(const optim::SGDOptions& o) {
  return as_text("dict(lr=", python(o.lr), ", momentum=", python(o.momentum),
                 ", dampening=", python(o.dampening), ", weight_decay=", python(o.weight_decay),
                 ", nesterov=", o.nesterov ? "True" : "False", ")");
}

std::string text_of(const optim::AdamWOptions& o) {
  return as_text("dict(lr=", python(o.lr), ", betas=(", python(o.betas.first), ", ",
                 python(o.betas.second), "), eps=", python(o.eps),
                 ", weight_decay=", python(o.weight_decay), ")");
}

optim::SGDOptions sgd_options(Dice& dice) {
  const bool moving = dice.chance(0.6), nesterov = moving && dice.chance(0.3);
  return {.lr = dice.chance(0.5) ? 0.1 : 0.03,
          .momentum = moving ? 0.9 : 0,
          .dampening = moving && !nesterov && dice.chance(0.3) ? 0.5 : 0,
          .weight_decay = dice.chance(0.3) ? 0.1 : 0,
          .nesterov = nesterov};
}

// With the usual eps a gradient of zero but for rounding would make a step of full length.
optim::AdamWOptions adamw_options(Dice& dice) {
  return {.lr = dice.chance(0.5) ? 0.1 : 0.03,
          .betas = {dice.chance(0.2) ? 0 : 0.9, dice.chance(0.2) ? 0.5 : 0.999},
          .eps = 1e-3,
          .weight_decay = dice.chance(0.5) ? 0.01 : 0};
}

template <class Optimizer>
bool add_optimizer(LeafProgram& p, const std::string& kind,
                   typename Optimizer::Options (*options)(Dice&)) {
  if (p.trainers.size() == 2) return false;
  std::vector<Named> first = some_leaves(p), second;
  if (first.empty()) return false;
  if (first.size() > 1 && p.dice.chance(0.5)) {
    second.push_back(first.back());
    first.pop_back();
  }
  const auto settings = options(p.dice), others = options(p.dice);
  const std::string name = p.fresh('o');
  const std::string more =
      second.empty() ? "" : as_text(", (", list(second), ", ", text_of(others), ")");
  return p.act(as_text(name, " = optimizer('", kind, "', [(", list(first), ", ", text_of(settings),
                       ")", more, "])"),
               [&] {
                 Optimizer optimizer(handles(first), settings);
                 if (!second.empty()) optimizer.add_group(handles(second), others);
                 p.trainers.push_back({name, std::move(optimizer)});
               });
}

bool add_sgd(LeafProgram& p) {
  return add_optimizer<optim::SGD>(p, "SGD", sgd_options);
}

bool add_adamw(LeafProgram& p) {
  return add_optimizer<optim::AdamW>(p, "AdamW", adamw_options);
}

// One of the optimizers, nullptr when there is none.
Trainer* some_trainer(LeafProgram& p) {
  if (p.trainers.empty()) return nullptr;
  return &p.trainers[static_cast<std::size_t>(
      p.dice.between(0, static_cast<std::int64_t>(p.trainers.size()) - 1))];
}

bool add_step(LeafProgram& p) {
  Trainer* trainer = some_trainer(p);
  if (trainer == nullptr) return false;
  p.act(
      as_text("step(", trainer->name, ")"),
      [&] { std::visit([](auto& each) { each.step(); }, trainer->optimizer); },
      p.dice.chance(0.1) ? Modes{Mode::no_grad} : Modes{});
  return true;
}

bool add_optimizer_zero_grad(LeafProgram& p) {
  Trainer* trainer = some_trainer(p);
  if (trainer == nullptr) return false;
  return p.act(trainer->name + ".zero_grad()",
               [&] { std::visit([](auto& each) { each.zero_grad(); }, trainer->optimizer); });
}

bool add_set_lr(LeafProgram& p) {
  Trainer* trainer = some_trainer(p);
  if (trainer == nullptr) return false;
  return p.act(as_text("set_lr(", trainer->name, ", 0.05)"),
               [&] { std::visit([](auto& each) { each.set_lr(0.05); }, trainer->optimizer); });
}

bool add_reload(LeafProgram& p) {
  Trainer* trainer = some_trainer(p);
  if (trainer == nullptr) return false;
  return p.act(as_text("reload(", trainer->name, ")"), [&] {
    std::visit([](auto& each) { each.load_state_dict(each.state_dict()); }, trainer->optimizer);
  });
}

bool add_clip(LeafProgram& p) {
  const std::vector<Named> leaves = some_leaves(p);
  if (leaves.empty()) return false;
  const double most = p.dice.chance(0.7) ? 0.5 : 50;
  p.define(Role::plain, as_text("clip(", list(leaves), ", ", most, ")"),
           [&] { return tensor(nn::clip_grad_norm_(handles(leaves), most), float64); });
  return true;
}

// Forward, backward and step, as they come in training.
bool add_iteration(LeafProgram& p) {
  Trainer* trainer = some_trainer(p);
  if (trainer == nullptr || p.has_acting_hooks()) return false;
  const Named x = p.leaf();
  const std::string loss = p.fresh('v');
  p.act(as_text(loss, " = torch.tanh(", x.name, ").sum()"),
        [&] { p.bind(loss, tanh(x.tensor).sum(), Role::value); });
  if (!p.find(loss).requires_grad()) return true;
  const bool done = p.act(as_text("backward([", loss, "], [None], False, False)"),
                          [&] { p.find(loss).backward(); });
  if (!done) p.forget_graphs();
  return add_step(p);
}

}  // namespace

std::vector<LeafEntry> optimizer_entries() {
  return {{"SGD", add_sgd, 2},
          {"AdamW", add_adamw, 2},
          {"step", add_step, 5},
          {"zero_grad of an optimizer", add_optimizer_zero_grad, 2},
          {"learning rate changed", add_set_lr},
          {"load_state_dict of an optimizer", add_reload},
          {"clip_grad_norm_", add_clip, 2},
          {"iteration of training", add_iteration, 5}};
}

}  // namespace fuzz
