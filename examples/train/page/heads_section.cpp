#include <cmath>
#include <optional>

#include "examples/train/page/charts.h"
#include "examples/train/page/format.h"

namespace train {

namespace {

std::size_t heads_a_layer(const Report& r) {
  return r.examples.front().weights.front().size();
}

/// The number of the finding that speaks of this head, or none.
std::optional<std::size_t> finding_of(const Report& r, std::size_t layer, std::size_t head) {
  for (std::size_t i = 0; i < r.findings.size(); ++i) {
    if (r.findings[i].layer == layer && r.findings[i].head == head) return i;
  }
  return std::nullopt;
}

std::string head_title(const Report& r, std::size_t layer, std::size_t head) {
  const std::optional<std::size_t> found = finding_of(r, layer, head);
  return place(layer, head) + (found ? ": " + r.findings[*found].pattern : "");
}

std::string cells_of(const Report& r, std::size_t layer, std::size_t head) {
  const AttentionExample& example = r.examples.front();
  const std::optional<std::size_t> found = finding_of(r, layer, head);
  return heat_cells(example.weights[layer - 1][head - 1], example.inputs.size(),
                    found ? example.links.at(*found) : std::vector<Link>{});
}

/// A small map that, when chosen, becomes the large one.
std::string head_button(const Report& r, std::size_t layer, std::size_t head, bool chosen) {
  const std::string size = std::to_string(r.examples.front().inputs.size());
  const std::optional<std::size_t> found = finding_of(r, layer, head);
  return std::string("<button type='button' aria-pressed='") + (chosen ? "true" : "false") +
         "' data-title='" + escape_html(head_title(r, layer, head)) + "' data-finding='" +
         (found ? std::to_string(*found) : "") + "'><svg viewBox='0 0 " + size + " " + size + "'>" +
         cells_of(r, layer, head) + "</svg><small>head " + std::to_string(head) +
         "</small></button>";
}

/// Labels side by side; none has a tab.
std::string joined(const std::vector<std::string>& labels) {
  std::string text;
  for (const std::string& label : labels) text += escape_html(label) + "\t";
  if (!text.empty()) text.pop_back();
  return text;
}

/// An example to choose, with all that the script draws it from.
std::string example_option(const AttentionExample& example) {
  std::string name;
  for (const std::string& label : example.inputs) name += label;
  std::string right;
  for (const bool correct : example.correct) right += correct ? '1' : '0';
  std::string weights;
  for (const auto& layer : example.weights) {
    for (const auto& head : layer) weights += packed_weights(head, example.inputs.size()) + " ";
  }
  if (!weights.empty()) weights.pop_back();
  std::string links;
  for (const std::vector<Link>& pattern : example.links) {
    if (!links.empty() || &pattern != &example.links.front()) links += ";";
    for (const Link& link : pattern)
      links += std::to_string(link.query) + "," + std::to_string(link.key) + " ";
  }
  return "<option data-inputs='" + joined(example.inputs) + "' data-said='" +
         joined(example.predictions) + "' data-right='" + right + "' data-links='" + links +
         "' data-weights='" + weights + "'>" + escape_html(name) + "</option>";
}

/// Beside the arcs and the maps, which both show the chosen one.
std::string example_choice(const Report& r) {
  std::string html = std::string("<p class='sequence'") + (r.examples.size() > 1 ? "" : " hidden") +
                     "><label for='sequence'>Held-out sequence, here and above:</label><select "
                     "id='sequence'>";
  for (const AttentionExample& example : r.examples) html += example_option(example);
  return html + "</select></p>";
}

std::string share_cell(double share, bool is_best) {
  if (std::isnan(share)) return "<td>–</td>";
  return "<td style='--w:" + fixed(share, 3) + "'" + (is_best ? " class='best'" : "") + ">" +
         fixed(share, 3) + "</td>";
}

std::string score_table(const Report& r) {
  if (r.scores.empty()) return "";
  std::string html =
      "<section><h2>What each head looks at</h2><p class='soft'>Shares of its attention, on "
      "average over held-out sequences, where the pattern has a place to look at; the highest of a "
      "column is bold. The entropy, in nats, is 0 for a head that looks at one place only.</p>"
      "<div class='scroll'><table class='scores'><tr><th>head</th>";
  for (const std::string& pattern : r.patterns) html += "<th>" + escape_html(pattern) + "</th>";
  html += "<th>entropy</th></tr>";
  std::vector<double> best(r.patterns.size(), -1.0);
  for (const HeadScore& score : r.scores) {
    for (std::size_t i = 0; i < best.size(); ++i) {
      if (score.shares[i] > best[i]) best[i] = score.shares[i];
    }
  }
  const std::size_t heads = heads_a_layer(r);
  for (std::size_t i = 0; i < r.scores.size(); ++i) {
    html +=
        "<tr><th>" + std::to_string(i / heads + 1) + "." + std::to_string(i % heads + 1) + "</th>";
    for (std::size_t p = 0; p < best.size(); ++p)
      html += share_cell(r.scores[i].shares[p], r.scores[i].shares[p] == best[p]);
    html += "<td>" + fixed(r.scores[i].entropy, 3) + "</td></tr>";
  }
  return html + "</table></div><p class='soft'>“2.1” is the first head of the second layer.</p>" +
         "</section>";
}

}  // namespace

std::string place(std::size_t layer, std::size_t head) {
  return "Layer " + std::to_string(layer) + ", head " + std::to_string(head);
}

std::string heads_section(const Report& r) {
  if (r.examples.empty() || r.examples.front().weights.empty()) return "";
  const std::size_t shown_layer = r.findings.empty() ? 1 : r.findings.front().layer;
  const std::size_t shown_head = r.findings.empty() ? 1 : r.findings.front().head;
  const std::size_t layers = r.examples.front().weights.size();
  const std::size_t heads = heads_a_layer(r);
  const bool alone = layers * heads == 1;
  std::string html =
      "<section><h2>Every head</h2><p class='soft'>Each row is one token asking, each column a "
      "token being looked at; a row adds up to 1. 0<span class='ramp'></span>1"
      "<span class='mark-key'><span class='box'></span>the pattern's places</span></p>" +
      example_choice(r) + "<div class='heads'><div class='grid-of-heads'" +
      std::string(alone ? " hidden" : "") + ">";
  for (std::size_t layer = 1; layer <= layers; ++layer) {
    html += "<h4>Layer " + std::to_string(layer) + "</h4><div class='layer'>";
    for (std::size_t head = 1; head <= heads; ++head) {
      html += head_button(r, layer, head, layer == shown_layer && head == shown_head);
    }
    html += "</div>";
  }
  return html + "</div><div class='large'><h3>" +
         escape_html(head_title(r, shown_layer, shown_head)) + "</h3>" +
         heat_map(r.examples.front(), cells_of(r, shown_layer, shown_head)) +
         "<p class='readout soft'>Point at a square to read its weight" +
         (alone ? "." : "; choose another head from the small maps.") +
         "</p></div></div></section>" + score_table(r);
}

}  // namespace train
