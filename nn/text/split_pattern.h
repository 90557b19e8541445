// Splits texts by regular expressions.
#pragma once

#include <memory>
#include <string_view>

#include <tend/core/base/function_ref.h>

struct pcre2_real_code_8;  // PCRE2's compiled pattern

namespace tend::nn {

/// A regular expression that cuts texts into pieces.
class SplitPattern {
 public:
  /// Compiles a pattern in Oniguruma's syntax, as in tokenizer.json files.
  ///
  /// Throws:
  ///   Error - the pattern is not a valid regular expression
  ///   Error - the pattern has a construct that means something else in PCRE2, and that to_pcre2
  ///           does not translate
  explicit SplitPattern(std::string_view pattern);

  /// Calls piece(text, is_match) for each match and each part between matches, in their order.
  /// Together the pieces are the whole text.
  ///
  /// Each run of bytes that are not UTF-8 is a separate piece. The pattern is applied separately to
  /// the text before it and the text after it.
  ///
  /// Throws: Error - a match takes more steps or memory than PCRE2 allows by default
  void split(std::string_view text, FunctionRef<void(std::string_view, bool)> piece) const;

 private:
  struct Free {
    void operator()(pcre2_real_code_8* code) const noexcept;
  };
  std::unique_ptr<pcre2_real_code_8, Free> code_;
};

}  // namespace tend::nn
