#include "examples/train/run/progress.h"

#include "examples/train/page/format.h"

namespace train {

std::string progress_line(const Standing& s) {
  return "step " + std::to_string(s.step) + "/" + std::to_string(s.steps) + "  " +
         duration(s.seconds_left) + " left  loss " + fixed(s.loss, 4) + "  held out " +
         fixed(s.held_out_loss, 4) + ", " + percent(s.exact_match) + " exact  " +
         fixed(s.tokens_per_second / 1000, 0) + "k tokens/s";
}

}  // namespace train
