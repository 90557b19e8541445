#pragma once

#include <string>

#include "examples/train/page/report.h"
#include "examples/train/run/sampling.h"
#include "examples/train/run/training.h"

namespace train {

// Texts for people about a training.

/// The text before a training: the task and the model.
std::string introduction(const Training& training);

/// Makes the report after a training. It evaluates a thousand held-out sequences, or for a text all
/// of them, and it has the scores of the heads and some samples.
Report make_report(Training& training, const Course& course, const Sampling& sampling);

/// The report in a few lines, for the terminal.
std::string summary(const Report& report);

}  // namespace train
