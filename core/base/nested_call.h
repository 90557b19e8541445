// A limit on the depth of nested calls.
#pragma once

#include <tend/core/base/error.h>

namespace tend {

/// Counts the nested calls of user code on this thread: backward within backward, modules within
/// modules. One object exists for the duration of each such call.
///
/// An ordinary stack of 8 MiB is large enough for kMaxDepth nested calls.
///
/// Throws: Error - more than kMaxDepth calls are nested
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
