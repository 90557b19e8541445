// Names of running modules, for messages.
#pragma once

#include <cstddef>
#include <string>

namespace tend {

/// Something that runs on this thread and has a name for messages, such as a module that was
/// called.
///
/// Scopes nest like calls, and can be made only on the stack.
class CallScope {
 public:
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;
  static void* operator new(std::size_t) = delete;

  /// Returns the path of the innermost scope, such as "GPT.blocks.0.attention.W_query". It is empty
  /// outside of all scopes.
  static std::string current_path() {
    return innermost_ != nullptr ? innermost_->path() : std::string();
  }

  /// Returns the names of the enclosing scopes, followed by the name of this scope.
  virtual std::string path() const = 0;

 protected:
  CallScope() noexcept : outer_(innermost_) { innermost_ = this; }
  ~CallScope() { innermost_ = outer_; }

  const CallScope* outer() const noexcept { return outer_; }
  static const CallScope* innermost() noexcept { return innermost_; }
  static const CallScope* outer_of(const CallScope& scope) noexcept { return scope.outer_; }

 private:
  inline static constinit thread_local const CallScope* innermost_ = nullptr;

  const CallScope* outer_;
};

}  // namespace tend
