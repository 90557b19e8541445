/// \file
/// nn::Trainer on several processes.
#pragma once

#include <tend/nn/distributed/context.h>
#include <tend/nn/training/trainer.h>

namespace tend::distributed {

/// Adapts a Trainer's options to several processes that use DataParallel::backward:
/// - only the first process writes checkpoints and logs and shows progress, if the options say so;
/// - all processes use the evaluations of process 0, even if `after_step` sets them;
/// - all processes end after the same step, if `ends` or Ctrl-C ends any of them.
///
/// Trainer::set_steps must be called with the same number on all processes.
///
///     nn::Trainer trainer(model, optimizer, gradients,
///                         distributed::for_processes(context, {.steps = 1000, .out = "run"}));
///
/// `evaluate` and `after_step` are called on all processes. So both may divide their work among the
/// processes, and call functions that all processes must call, such as Context::gather. With
/// `accumulate` the gradients of each micro-batch are sent. To send their sum once, make several
/// backwards yourself, all but the last under a DataParallel::NoSync.
///
/// With `resume`, each process reads the last checkpoint that process 0 finds in `out`. So this
/// checkpoint must be on every host. The context must live as long as the Trainer, which refers to
/// it.
nn::TrainerOptions for_processes(const Context& context, nn::TrainerOptions options);

/// Returns the signal that an nn::InterruptGuard of any process has recorded; 0 if there is none.
///
/// All processes must call this function. Afterwards all of them have recorded the signal, so that
/// each process can end with the right status.
int signal_of_any(const Context& context);

}  // namespace tend::distributed
