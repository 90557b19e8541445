#pragma once

#include <string>

#include "examples/train/page/report.h"
#include "examples/train/run/course.h"
#include "examples/train/run/progress.h"
#include "examples/train/run/training.h"

namespace train {

// What a person is told about a training.

/// Before: the task and the model.
std::string introduction(const Training& training);

/// During.
Standing standing(const Training& training);

/// After: looks at a thousand held-out sequences, the heads and some samples.
Report make_report(Training& training, const Course& course);

/// The report in a few lines for the terminal.
std::string summary(const Report& report);

}  // namespace train
