#pragma once

#include <span>
#include <string>
#include <vector>

#include "examples/train/page/report.h"

namespace train {

// Parts of the page, each a piece of HTML or SVG that works without script; report_page.cpp styles
// them and adds what happens on hovering.

/// Training and validation loss by step, on a linear and on a logarithmic scale, one of them shown;
/// beneath it the exact match.
std::string loss_chart(const Report& report);

/// Round numbers from 0 to at most `high`, about five.
std::vector<double> linear_ticks(double high);

/// The example's tokens in a row; from each token that the finding of that number speaks of, arcs
/// to the tokens it looks at.
std::string arc_diagram(const Report& report, std::size_t number);

/// One head's weights as unit squares, a query a row, with the given links outlined. An SVG group.
std::string heat_cells(std::span<const float> weights, std::size_t size,
                       std::span<const Link> links);

/// A heat map with its tokens on the axes: inputs to the left and above, predictions to the right.
std::string heat_map(const AttentionExample& example, const std::string& cells);

/// All about the heads of the first example, the others to choose, and a table of what each head
/// does.
std::string heads_section(const Report& report);

/// Each head's scores by training step, pattern by pattern.
std::string heads_over_time(const Report& report);

/// "Layer 2, head 1".
std::string place(std::size_t layer, std::size_t head);

/// The lower triangle's weights in 4096 steps, two characters each, for the script that shows them.
std::string packed_weights(std::span<const float> weights, std::size_t size);

}  // namespace train
