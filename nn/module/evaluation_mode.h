// What belongs around an evaluation in the middle of a training.
#pragma once

#include <tend/autograd/tensor/grad_mode.h>
#include <tend/nn/module/module.h>

namespace tend::nn {

/// While it lives, the module is in evaluation mode and this thread records no graph. Afterwards
/// the module and all below it are as the module was before, also after an exception; but some stay
/// in evaluation mode where memory has run out or an AnyModule among them was moved from meanwhile.
class EvaluationMode {
 public:
  explicit EvaluationMode(ModuleBase& module)
      : module_(module), was_training_(module.is_training()) {
    module_.eval();
  }
  EvaluationMode(const EvaluationMode&) = delete;
  EvaluationMode& operator=(const EvaluationMode&) = delete;
  ~EvaluationMode() {
    try {
      module_.train(was_training_);
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): a destructor cannot tell
    }
  }

 private:
  ModuleBase& module_;
  bool was_training_;
  NoGradGuard no_grad_;
};

}  // namespace tend::nn
