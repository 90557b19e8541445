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
  /// The pattern is Oniguruma's, as in tokenizer.json files. Error for one that cannot be read, or
  /// that has a construct which PCRE2 would read otherwise and to_pcre2 does not translate.
  explicit SplitPattern(std::string_view pattern);

  /// Calls piece(text, is_match) for the pieces of `text`, from the first to the last; together
  /// they are the text. Pieces are what the pattern matches and what lies between two matches.
  /// Bytes that are no UTF-8 are pieces of their own: each run of them is one, and the pattern sees
  /// the texts before and after it as texts by themselves. Error when a match takes more steps or
  /// memory than PCRE2 allows by default.
  void split(std::string_view text, FunctionRef<void(std::string_view, bool)> piece) const;

 private:
  struct Free {
    void operator()(pcre2_real_code_8* code) const noexcept;
  };
  std::unique_ptr<pcre2_real_code_8, Free> code_;
};

}  // namespace tend::nn
