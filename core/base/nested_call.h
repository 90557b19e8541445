// A limit on calls that nest within one another.
#pragma once

#include <tend/core/base/error.h>

namespace tend {

/// Counts the calls of user code that are nested on this thread: backward within backward, modules
/// within modules. One exists for the duration of each such call.
///
/// Throws:
///   Error  - more than kMaxDepth calls are nested; an ordinary stack of 8 MiB holds that many
class NestedCall {
 public:
  static constexpr int kMaxDepth = 250;

  explicit NestedCall(const char* operation) {
    if (depth_ == kMaxDepth)
      fail(operation, "more than ", kMaxDepth, " calls are nested within one another");
    ++depth_;
  }
  ~NestedCall() { --depth_; }
  NestedCall(const NestedCall&) = delete;
  NestedCall& operator=(const NestedCall&) = delete;

 private:
  inline static constinit thread_local int depth_ = 0;
};

}  // namespace tend
