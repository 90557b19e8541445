// Texts that are split by regular expressions.
#pragma once

#include <memory>
#include <string_view>

#include <tend/core/base/function_ref.h>

struct pcre2_real_code_8;  // PCRE2's compiled pattern

namespace tend::nn {

/// A regular expression that cuts texts into pieces.
class SplitPattern {
 public:
  /// Error for a pattern that PCRE2 cannot compile. `\s` and `\S` mean Unicode's White_Space, as
  /// where these patterns come from; PCRE2's own `\s` is another set.
  explicit SplitPattern(std::string_view pattern);

  /// Calls `piece` for the pieces of `text`, from the first to the last; together they are the
  /// text. Pieces are what the pattern matches and what lies between two matches. Bytes that are no
  /// UTF-8 are pieces of their own: each run of them is one, and the pattern sees the texts before
  /// and after it as texts by themselves. Error when a match takes more steps or memory than PCRE2
  /// allows by default.
  void split(std::string_view text, FunctionRef<void(std::string_view)> piece) const;

 private:
  struct Free {
    void operator()(pcre2_real_code_8* code) const noexcept;
  };
  std::unique_ptr<pcre2_real_code_8, Free> code_;
};

}  // namespace tend::nn
