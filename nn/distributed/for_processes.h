/// \file
/// nn::Trainer on several processes.
#pragma once

#include <tend/nn/distributed/context.h>
#include <tend/nn/training/trainer.h>

namespace tend::distributed {

/// Adapts a Trainer's options to several processes that use DataParallel::backward:
/// - only the first process writes checkpoints and logs and shows progress, if the options say so;
/// - process 0's evaluations count for all, also those that `after_step` sets;
/// - all end after the same step, when `ends` or Ctrl-C ends any of them.
///
/// Trainer::set_steps must be called alike on all.
///
///     nn::Trainer trainer(model, optimizer, gradients,
///                         distributed::for_processes(context, {.steps = 1000, .out = "run"}));
///
/// `evaluate` and `after_step` are called on all processes, so they may divide their work and call
/// what all must call, such as Context::gather. With `accumulate` the gradients of each micro-batch
/// are sent. A function that makes several backwards itself, all but the last under a
/// DataParallel::NoSync, sends them once.
///
/// With `resume`, each process reads the last checkpoint that process 0 finds in `out`; it must be
/// on every host. The context must live as long as the Trainer, which refers to it.
nn::TrainerOptions for_processes(const Context& context, nn::TrainerOptions options);

/// The signal that an nn::InterruptGuard of any process noted; 0 if there was none. All processes
/// note it then, so that each can end with the right status. All processes must call it.
int signal_of_any(const Context& context);

}  // namespace tend::distributed
