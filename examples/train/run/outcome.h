#pragma once

#include <string>

#include "examples/train/page/report.h"
#include "examples/train/run/sampling.h"
#include "examples/train/run/training.h"

namespace train {

// What a person is told about a training.

/// Before: the task and the model.
std::string introduction(const Training& training);

/// After: looks at a thousand held-out sequences (of a text, at all that is held out), the heads
/// and some samples.
Report make_report(Training& training, const Course& course, const Sampling& sampling);

/// The report in a few lines for the terminal.
std::string summary(const Report& report);

}  // namespace train
