// Evaluation in the middle of training.
#pragma once

#include <tend/autograd/tensor/grad_mode.h>
#include <tend/nn/module/module.h>

namespace tend::nn {

/// While this object lives, the module is in evaluation mode and this thread records no graph.
///
/// Its destructor gives the module and all modules below it the mode that the module had before.
class EvaluationMode {
 public:
  explicit EvaluationMode(ModuleBase& module)
      : module_(module), was_training_(module.is_training()) {
    module_.eval();
  }
  EvaluationMode(const EvaluationMode&) = delete;
  EvaluationMode& operator=(const EvaluationMode&) = delete;
  ~EvaluationMode() { module_.train(was_training_); }

 private:
  ModuleBase& module_;
  bool was_training_;
  NoGradGuard no_grad_;
};

}  // namespace tend::nn
