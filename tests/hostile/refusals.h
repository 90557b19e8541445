// What a call leaves behind when memory is refused to it, for one request after the other.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <tend/tend.h>

#include "tests/hostile/guard.h"
#include "tests/snapshot.h"

namespace tend::test {

using Tensors = std::vector<Tensor>;

/// A call that is ready to be made.
struct Prepared {
  /// The call; it puts the tensors that it gives into `results`, which has room for some. What the
  /// test itself allocates here counts for nothing.
  std::function<void(Tensors& results)> run;
  /// The tensors that must stay as they were when the call fails.
  Tensors watched = {};
  /// Other state, as text: files, the state of an optimizer.
  std::function<std::string()> state = [] { return std::string(); };
  /// Tensors that show afterwards whether the call did all it should, gradients for example.
  std::function<Tensors()> after = [] { return Tensors(); };
  /// Where it is documented that `.grad` may have been added to in part: these are set to zero
  /// before the call is made again.
  bool grads_may_change = false;
  /// Where it is documented that a disk that fails in the midst may leave fewer files.
  bool files_may_go = false;
};

struct Scenario {
  std::string name;
  std::function<Prepared()> prepare;  // the same each time
};

std::vector<Scenario> row_scenarios();
std::vector<Scenario> engine_scenarios();
std::vector<Scenario> module_scenarios();
std::vector<Scenario> attention_scenarios();
std::vector<Scenario> file_scenarios();
#ifdef TEND_HAS_TEXT
std::vector<Scenario> text_scenarios();
#endif

#ifdef TEND_HAS_ARCHIVES
std::vector<Scenario> archive_scenarios();
#endif

/// Room for the results of a call, which is none of its requests for memory.
Tensors room_for_results();
/// Everything that a call came to, bit for bit.
std::string digest(const Prepared& prepared, const Tensors& results);

/// What a disturbed call has to keep.
class Kept {
 public:
  explicit Kept(const Prepared& prepared);

  /// After an error: nothing that the call may not change has changed, and made again it comes to
  /// `expected`.
  void check_after_error(Prepared& prepared, const std::string& expected, CallLog& log,
                         bool files_may_go = false) const;

 private:
  Snapshot before_;
  std::string state_;
  Generator random_;
};

/// Makes the call of the scenario with the n-th request refused, for n = 1, 2, ... until it
/// succeeds without (or for about `most` of these n). Each must throw OutOfMemoryError, or give the
/// right result, and leave everything as it was; made again it gives the bits of a call that was
/// not disturbed. Returns how many requests were refused.
std::int64_t refuse_each(const Scenario& scenario, bool once, std::int64_t most, CallLog& log);

}  // namespace tend::test
