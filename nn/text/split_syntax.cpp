#include <tend/nn/text/split_syntax.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include <tend/core/base/error.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace tend::nn {
namespace {

// Oniguruma's character sets, as items between PCRE2's brackets. Each was compared with Oniguruma's
// set for all code points.
constexpr std::string_view kSpace = "\\p{White_Space}";
constexpr std::string_view kHex = "0-9A-Fa-f";
constexpr std::string_view kWord = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}";
// Outside of brackets, Oniguruma's \w also matches the numbers of Latin-1.
constexpr std::string_view kLoneWord =
    "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{B2}\\x{B3}\\x{B9}\\x{BC}-\\x{BE}";
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kPosixSets{{
    {"alnum", "\\p{Alphabetic}\\p{Nd}"},
    {"alpha", "\\p{Alphabetic}"},
    {"ascii", "\\x{00}-\\x{7F}"},
    {"blank", "\\p{Zs}\\t"},
    {"cntrl", "\\p{Cc}"},
    {"digit", "\\p{Nd}"},
    {"graph", "^\\p{White_Space}\\p{Cc}\\p{Cs}\\p{Cn}"},
    {"lower", "\\p{Lowercase}"},
    {"print", "^\\p{Cc}\\p{Cs}\\p{Cn}\\x{2028}\\x{2029}"},
    {"punct", "\\p{P}"},
    {"space", kSpace},
    {"upper", "\\p{Uppercase}"},
    {"word", kWord},
    {"xdigit", kHex},
}};

std::string bracketed(std::string_view items) {
  return as_text('[', items, ']');
}
std::string without(std::string_view items) {
  return items.starts_with('^') ? bracketed(items.substr(1)) : as_text("[^", items, ']');
}

// True if PCRE2 knows a script with this name.
bool is_script(std::string_view name) {
  const std::string text = as_text("\\p{sc:", name, '}');
  int error = 0;
  PCRE2_SIZE at = 0;
  const std::unique_ptr<pcre2_code, decltype(&pcre2_code_free)> code(
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), PCRE2_UTF, &error, &at,
                    nullptr),
      pcre2_code_free);
  return code != nullptr;
}

// A union of sets: characters and ranges (items), and expressions that match one character each
// (others).
struct Set {
  std::string items;
  std::vector<std::string> others;

  std::string expression() const {
    if (others.empty()) return items.empty() ? "(?!)" : bracketed(items);
    if (items.empty() && others.size() == 1) return others[0];
    std::string all = items.empty() ? "" : bracketed(items) + '|';
    for (const std::string& each : others) all += each + '|';
    all.pop_back();
    return "(?:" + all + ')';
  }
};

class Translator {
 public:
  explicit Translator(std::string_view pattern) : in_(pattern) {}

  std::string translate() {
    while (!is_end()) {
      const char c = in_[at_];
      if (c == '\\') {
        translate_escape();
      } else if (c == '[') {
        const Set set = read_class();
        out_ += set.expression();
      } else if (c == '{') {
        translate_brace();
      } else if (in_.substr(at_).starts_with("(?")) {
        translate_group();
      } else {
        out_ += take();
      }
    }
    return std::move(out_);
  }

 private:
  bool is_end() const { return at_ == in_.size(); }
  char take() {
    if (is_end()) fail("SplitPattern", "'", in_, "' ends in the middle of a construct");
    return in_[at_++];
  }
  bool takes(std::string_view text) {
    if (!in_.substr(at_).starts_with(text)) return false;
    at_ += text.size();
    return true;
  }
  [[noreturn]] void refuse(std::string_view construct, std::string_view why) const {
    fail("SplitPattern", "'", in_, "' has ", construct, ", which is not supported: ", why);
  }

  // --- escapes

  // Reads a text in braces or angle brackets, and returns it with them. Returns an empty text if
  // there are no brackets.
  std::string_view take_enclosed() {
    const std::size_t from = at_;
    if (is_end() || (in_[at_] != '{' && in_[at_] != '<')) return {};
    const std::size_t end = in_.find(in_[at_] == '{' ? '}' : '>', at_);
    at_ = end == std::string_view::npos ? in_.size() : end + 1;
    return in_.substr(from, at_ - from);
  }

  // Translates the escape at `at_`, which must mean the same inside and outside of brackets.
  std::string common_escape() {
    take();
    const char c = take();
    switch (c) {
      case 's': return std::string(kSpace);
      case 'v': return "\\x{0B}";
      case 'u': {
        const std::string_view digits = in_.substr(at_, 4);
        at_ += digits.size();
        return as_text("\\x{", digits, '}');
      }
      case 'p':
      case 'P': {
        const std::string_view braces = take_enclosed();
        std::string_view name = braces.substr(std::min<std::size_t>(1, braces.size()));
        if (name.empty()) return {'\\', c};
        name.remove_suffix(1);
        const bool is_negated = name.starts_with('^');
        if (is_negated) name.remove_prefix(1);
        // PCRE2's \p{Han} also matches characters that Han shares with other scripts.
        return as_text('\\', c, is_negated ? "{^" : "{", is_script(name) ? "sc:" : "", name, '}');
      }
      case 'x':
      case 'o': return as_text('\\', c, take_enclosed());
      case 'Q':
      case 'E':
      case 'V': refuse(as_text('\\', c), "PCRE2 gives it another meaning");
      default: return {'\\', c};
    }
  }

  void translate_escape() {
    const char c = at_ + 1 < in_.size() ? in_[at_ + 1] : '\\';
    const std::string word = bracketed(kLoneWord), other = without(kLoneWord);
    switch (c) {
      case 'S': return replace_escape(without(kSpace));
      case 'w': return replace_escape(word);
      case 'W': return replace_escape(other);
      case 'h': return replace_escape(bracketed(kHex));
      case 'H': return replace_escape(without(kHex));
      case 'b':
        return replace_escape(
            as_text("(?:(?<=", word, ")(?!", word, ")|(?<!", word, ")(?=", word, "))"));
      case 'B':
        return replace_escape(
            as_text("(?:(?<=", word, ")(?=", word, ")|(?<!", word, ")(?!", word, "))"));
      case 'k':
      case 'g':
        replace_escape(std::string{'\\', c});
        out_ += take_enclosed();
        return;
      case 'G':
      case 'X':
      case 'O':
      case 'y':
      case 'Y':
      case 'K':
      case 'C': refuse(as_text('\\', c), "Oniguruma gives it another meaning");
      default: out_ += common_escape();
    }
  }
  void replace_escape(const std::string& text) {
    at_ += 2;
    out_ += text;
  }

  // --- quantifiers and groups

  // {n}, {n,m}, {n,} and {,m} repeat; anything else in braces is literal text.
  void translate_brace() {
    const std::size_t end = in_.find('}', at_);
    const std::string_view inside =
        end == std::string_view::npos ? "" : in_.substr(at_ + 1, end - at_ - 1);
    const std::size_t comma = std::min(inside.find(','), inside.size());
    const std::string_view low = inside.substr(0, comma);
    const std::string_view high = inside.substr(std::min(comma + 1, inside.size()));
    const auto is_number = [](std::string_view text) {
      return text.find_first_not_of("0123456789") == std::string_view::npos;
    };
    if (!is_number(low) || !is_number(high) || (low.empty() && high.empty())) {
      take();
      out_ += "\\{";
      return;
    }
    at_ = end + 1;
    const std::string construct = as_text('{', inside, '}');
    if (takes("+")) refuse(construct + '+', "Oniguruma repeats the repetition");
    if (comma == inside.size() && takes("?"))
      refuse(construct + '?', "for Oniguruma the ? means optional");
    out_ += low.empty() ? as_text("{0,", high, '}') : construct;
  }

  void translate_group() {
    const bool is_first = out_.empty();
    takes("(?");
    out_ += "(?";
    if (takes("#")) {
      while (!is_end() && in_[at_] != ')') out_ += take();
      return;
    }
    if (takes("~")) refuse("(?~", "PCRE2 has no absence operator");
    // Options, as in (?i) or (?m:...). Ruby's m is PCRE2's s.
    const std::size_t end = std::min(in_.find_first_not_of("imxadsuyWDSP-", at_), in_.size());
    const std::string_view options = in_.substr(at_, end - at_);
    if (options.empty() || end == in_.size() || (in_[end] != ':' && in_[end] != ')')) return;
    if (options.find_first_not_of("im-") != std::string_view::npos)
      refuse(as_text("(?", options), "only the options i and m are supported");
    if (in_[end] == ')' && !is_first)
      refuse(as_text("(?", options, ')'), "Oniguruma reads a(?i)b|c as a(?i:b|c)");
    for (const char option : options) out_ += option == 'm' ? 's' : option;
    at_ = end;
  }

  // --- brackets

  // Reads from [ to its matching ]. The result for [^...] is a single expression in `others`. The
  // nesting of brackets has a limit, since each level takes space on the stack.
  Set read_class() {
    if (++depth_ > kMaxDepth) refuse("brackets in brackets", "they nest deeper than 64");
    Set set = read_inside_class();
    --depth_;
    return set;
  }
  Set read_inside_class() {
    take();
    const bool is_negated = takes("^");
    Set set = read_union(/*is_first=*/true);
    for (int count = 1; takes("&&"); ++count) {
      if (count > kMaxDepth) refuse("&&", "more than 64 sets are intersected");
      const Set right = read_union(/*is_first=*/false);
      set = {"", {as_text("(?:(?=", right.expression(), ')', set.expression(), ')')}};
    }
    take();
    if (!is_negated) return set;
    if (set.others.empty()) return {"", {without(set.items)}};
    return {"", {as_text("(?:(?!", set.expression(), ")(?s:.))")}};
  }

  // Reads up to ] or &&. A ] that comes first is one of the items.
  Set read_union(bool is_first) {
    Set set;
    if (is_first && takes("]")) set.items += "\\]";
    while (!is_end() && in_[at_] != ']' && !in_.substr(at_).starts_with("&&")) {
      if (in_[at_] == '[') {
        add(set, in_.substr(at_).starts_with("[:") ? read_posix() : read_class());
      } else if (in_[at_] == '\\') {
        add_escape(set);
      } else {
        set.items += take();
      }
    }
    return set;
  }

  static void add(Set& set, Set more) {
    set.items += more.items;
    for (std::string& each : more.others) set.others.push_back(std::move(each));
  }

  void add_escape(Set& set) {
    const char c = at_ + 1 < in_.size() ? in_[at_ + 1] : '\\';
    const auto skip = [this] { at_ += 2; };
    switch (c) {
      case 'S': return skip(), set.others.push_back(without(kSpace));
      case 'w': return skip(), void(set.items += kWord);
      case 'W': return skip(), set.others.push_back(without(kWord));
      case 'h': return skip(), void(set.items += kHex);
      case 'H': return skip(), set.others.push_back(without(kHex));
      case 'R':
      case 'X':
      case 'N':
      case 'O': refuse(as_text('\\', c, " in brackets"), "PCRE2 gives it another meaning");
      default: set.items += common_escape();
    }
  }

  // Reads [:alpha:] or [:^alpha:].
  Set read_posix() {
    const std::size_t end = in_.find(":]", at_);
    std::string_view name = in_.substr(at_ + 2, end == std::string_view::npos ? 0 : end - at_ - 2);
    const bool is_negated = name.starts_with('^');
    if (is_negated) name.remove_prefix(1);
    const auto found = std::find_if(kPosixSets.begin(), kPosixSets.end(),
                                    [&](const auto& each) { return each.first == name; });
    if (found == kPosixSets.end()) refuse(as_text("[:", name, ":]"), "there is no such set");
    at_ = end + 2;
    const std::string_view items = found->second;
    if (is_negated) return {"", {without(items)}};
    if (items.starts_with('^')) return {"", {bracketed(items)}};
    return {std::string(items), {}};
  }

  static constexpr int kMaxDepth = 64;

  std::string_view in_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::string out_;
};

}  // namespace

std::string to_pcre2(std::string_view pattern) {
  return Translator(pattern).translate();
}

}  // namespace tend::nn
