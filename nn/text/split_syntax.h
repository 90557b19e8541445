// Translates regular expressions of tokenizer.json files from Oniguruma's syntax to PCRE2's.
#pragma once

#include <string>
#include <string_view>

namespace tend::nn {

/// Translates a pattern from Oniguruma's syntax to PCRE2's.
///
/// One difference is not detected: with (?i), Oniguruma also matches two letters for one, for
/// example "ss" for U+00DF.
///
/// Throws: Error - a construct means something else in PCRE2 and is not translated; the message
///                 names it
///
/// Source: https://github.com/kkos/oniguruma/blob/v6.9.8/doc/RE, with Ruby's syntax.
std::string to_pcre2(std::string_view pattern);

}  // namespace tend::nn
