// Regular expressions of tokenizer.json files, which are Oniguruma's, in PCRE2's syntax.
#pragma once

#include <string>
#include <string_view>

namespace tend::nn {

/// The same pattern for PCRE2. Error that names a construct which would match something else there
/// and is not translated. (Not seen: with (?i), Oniguruma also takes two letters for one, as "ss"
/// for U+00DF.) Source: https://github.com/kkos/oniguruma/blob/v6.9.8/doc/RE, with Ruby's syntax.
std::string to_pcre2(std::string_view pattern);

}  // namespace tend::nn
