#include <tend/nn/text/split_pattern.h>

#include <array>
#include <cstdint>
#include <string>

#include <tend/core/base/error.h>
#include <tend/nn/text/split_syntax.h>
#include <tend/nn/text/utf8.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace tend::nn {
namespace {

constexpr const char* kSplitPattern = "SplitPattern";

std::string message_of(int error) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(error, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

// The number of bytes before the first valid code point in `text`.
std::size_t broken_prefix(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && utf8::length_at(text.substr(at)) == 0) ++at;
  return at;
}

// Applies one compiled pattern to texts that are UTF-8.
class Matcher {
 public:
  explicit Matcher(const pcre2_code* code)
      : code_(code), match_(pcre2_match_data_create(1, nullptr), pcre2_match_data_free) {
    if (match_ == nullptr) fail(kSplitPattern, "there is no memory for a match");
    std::size_t compiled = 0;
    pcre2_pattern_info(code, PCRE2_INFO_JITSIZE, &compiled);
    if (compiled > 0) find_ = pcre2_jit_match;  // faster, since it checks less
  }

  void split(std::string_view text, FunctionRef<void(std::string_view, bool)> piece) const {
    std::size_t done = 0;
    while (done < text.size() && find(text, done)) {
      const PCRE2_SIZE* place = pcre2_get_ovector_pointer(match_.get());
      const std::size_t begin = place[0], end = place[1];
      if (begin < done || end <= begin)
        fail(kSplitPattern, "\\K must not move the beginning of a match");
      if (begin > done) piece(text.substr(done, begin - done), false);
      piece(text.substr(begin, end - begin), true);
      done = end;
    }
    if (done < text.size()) piece(text.substr(done), false);
  }

 private:
  // True if there is a match, which is not empty, at `from` or after it.
  bool find(std::string_view text, std::size_t from) const {
    constexpr std::uint32_t kOptions = PCRE2_NOTEMPTY | PCRE2_NO_UTF_CHECK;
    const auto* const subject = reinterpret_cast<PCRE2_SPTR>(text.data());
    const int result = find_(code_, subject, text.size(), from, kOptions, match_.get(), nullptr);
    if (result < 0 && result != PCRE2_ERROR_NOMATCH) {
      fail(kSplitPattern, "at byte ", from, " of a text of ", text.size(), ": ",
           message_of(result));
    }
    return result != PCRE2_ERROR_NOMATCH;
  }

  const pcre2_code* code_;
  decltype(&pcre2_match) find_ = pcre2_match;
  std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> match_;
};

}  // namespace

void SplitPattern::Free::operator()(pcre2_real_code_8* code) const noexcept {
  pcre2_code_free(code);
}

SplitPattern::SplitPattern(std::string_view pattern) {
  const std::string text = to_pcre2(pattern);
  int error = 0;
  PCRE2_SIZE at = 0;
  // MULTILINE, because Oniguruma's ^ and $ match at each line. NEVER_BACKSLASH_C, because \C would
  // match a single byte of a character.
  code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                            PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C,
                            &error, &at, nullptr));
  if (code_ == nullptr) {
    fail(kSplitPattern, "'", pattern.substr(0, 200), "': ", message_of(error));
  }
  pcre2_jit_compile(code_.get(), PCRE2_JIT_COMPLETE);  // if it fails, matches are slower
}

void SplitPattern::split(std::string_view text,
                         FunctionRef<void(std::string_view, bool)> piece) const {
  const Matcher matcher(code_.get());
  while (!text.empty()) {
    const std::size_t valid = utf8::valid_prefix(text);
    matcher.split(text.substr(0, valid), piece);
    text.remove_prefix(valid);
    const std::size_t broken = broken_prefix(text);
    if (broken > 0) piece(text.substr(0, broken), false);
    text.remove_prefix(broken);
  }
}

}  // namespace tend::nn
