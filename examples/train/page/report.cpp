#include "examples/train/page/report.h"

#include <cmath>

#include "examples/train/page/charts.h"
#include "examples/train/page/format.h"
#include "examples/train/page/report_page.h"

namespace train {

namespace {

std::string place(std::size_t layer, std::size_t head) {
  return "Layer " + std::to_string(layer) + ", head " + std::to_string(head);
}

std::string tile(const std::string& value, const std::string& meaning) {
  return "<div><b>" + escape_html(value) + "</b><span>" + escape_html(meaning) + "</span></div>";
}

std::string header(const Report& r) {
  const std::string title = r.task.empty() ? "train" : r.task;
  std::string html = "<header><p class='above'>tend · train</p><h1>" + escape_html(title) +
                     "</h1><p class='goal'>" + escape_html(r.goal) +
                     "</p><button id='theme' type='button' title='light or dark' "
                     "aria-label='light or dark'>◐</button></header>";
  if (!r.failure.empty()) {
    html += "<p class='note'>Ended after " + grouped(static_cast<double>(r.losses.size())) +
            " of " + grouped(static_cast<double>(r.steps_planned)) +
            " steps: " + escape_html(r.failure) +
            ". The loss is shown up to there, the model as it was after " + "step " +
            grouped(static_cast<double>(r.steps_done)) + ".</p>";
  } else if (r.steps_done < r.steps_planned) {
    html += "<p class='note'>Stopped after " + grouped(static_cast<double>(r.steps_done)) + " of " +
            grouped(static_cast<double>(r.steps_planned)) +
            " steps: this page shows a model in the middle of its training.</p>";
  } else if (!r.verdict.empty()) {
    html += "<p class='note'>The task was " + escape_html(r.verdict) + ".</p>";
  }
  return html;
}

std::string tiles(const Report& r) {
  const bool open_ended = r.task == "text";
  std::string html = "<div class='tiles'>";
  if (open_ended) {
    html += tile(fixed(r.validation_loss, 3), "loss on held-out text, in nats a byte");
  }
  html += tile(percent(r.exact_match),
               (open_ended ? "of " : "exact match of ") + grouped(static_cast<double>(r.held_out)) +
                   (open_ended ? " held-out bytes guessed at first try" : " held-out answers"));
  if (!r.findings.empty()) {
    html += tile(fixed(r.findings.front().mean_weight, 3),
                 "of the best head's attention on the " + r.findings.front().pattern);
  }
  html += tile(grouped(static_cast<double>(r.steps_done)), "steps in " + duration(r.seconds));
  html += tile(grouped(r.tokens_per_second), "tokens a second");
  return html + tile(grouped(static_cast<double>(r.parameters)), "parameters") + "</div>";
}

std::string finding(const Report& r, const HeadFinding& f) {
  const std::size_t heads = r.example.weights.size() * r.example.weights.front().size();
  std::string html = "<div class='finding'><h3>" + place(f.layer, f.head) + ": " +
                     escape_html(f.pattern) + "</h3><p>" + escape_html(f.words) + " ";
  html += heads == 1
              ? "The model's only head"
              : "Of the model's " + std::to_string(heads) + " heads this one does it most: it";
  html += " puts <span class='weight'>" + percent(f.mean_weight) +
          "</span> of its attention there, on average over held-out sequences";
  html += f.mean_weight < 0.5 ? ", so no single head does it alone.</p>" : ".</p>";
  return html + arc_diagram(r.example, f) + "</div>";
}

std::string findings(const Report& r) {
  if (r.findings.empty()) {
    return "";
  }
  std::string html =
      "<section><h2>What the best head does</h2><p class='soft'>Arcs lead from a token to those "
      "it looks at; the thicker, the more. Dashed arcs lie outside "
      "the pattern. Beneath: what the model says next. Point at a token to see its arcs alone.</p>";
  for (const HeadFinding& f : r.findings) {
    html += finding(r, f);
  }
  return html + "</section>";
}

const HeadFinding* finding_of(const Report& r, std::size_t layer, std::size_t head) {
  for (const HeadFinding& f : r.findings) {
    if (f.layer == layer && f.head == head) {
      return &f;
    }
  }
  return nullptr;
}

std::string head_title(const Report& r, std::size_t layer, std::size_t head) {
  const HeadFinding* found = finding_of(r, layer, head);
  return place(layer, head) + (found != nullptr ? ": " + found->pattern : "");
}

std::string cells_of(const Report& r, std::size_t layer, std::size_t head) {
  const HeadFinding* found = finding_of(r, layer, head);
  return heat_cells(r.example.weights[layer - 1][head - 1], r.example.inputs.size(),
                    found != nullptr ? found->links : std::vector<Link>{});
}

/// A small map that, when chosen, becomes the large one; it also carries the weights to read.
std::string head_button(const Report& r, std::size_t layer, std::size_t head, bool chosen) {
  const std::string size = std::to_string(r.example.inputs.size());
  return std::string("<button type='button' aria-pressed='") + (chosen ? "true" : "false") +
         "' data-title='" + escape_html(head_title(r, layer, head)) + "' data-weights='" +
         packed_weights(r.example.weights[layer - 1][head - 1], r.example.inputs.size()) +
         "'><svg viewBox='0 0 " + size + " " + size + "'>" + cells_of(r, layer, head) +
         "</svg><small>layer " + std::to_string(layer) + " · head " + std::to_string(head) +
         "</small></button>";
}

std::string heads(const Report& r) {
  if (r.example.weights.empty() || r.example.weights.front().empty()) {
    return "";
  }
  const std::size_t shown_layer = r.findings.empty() ? 1 : r.findings.front().layer;
  const std::size_t shown_head = r.findings.empty() ? 1 : r.findings.front().head;
  const std::size_t layers = r.example.weights.size();
  const std::size_t columns = r.example.weights.front().size();
  const bool alone = layers * columns == 1;
  std::string html =
      "<section><h2>Every head</h2><p class='soft'>Each row is one token asking, each column a "
      "token being looked at; a row adds up to 1. 0<span class='ramp'></span>1"
      "<span class='mark-key'><span class='box'></span>the pattern's places</span></p>"
      "<div class='heads'><div class='grid-of-heads'" +
      std::string(alone ? " hidden" : "") + " style='grid-template-columns:repeat(" +
      std::to_string(columns) + ",minmax(72px,110px))'>";
  for (std::size_t layer = 1; layer <= layers; ++layer) {
    for (std::size_t head = 1; head <= columns; ++head) {
      html += head_button(r, layer, head, layer == shown_layer && head == shown_head);
    }
  }
  return html + "</div><div class='large'><h3>" +
         escape_html(head_title(r, shown_layer, shown_head)) + "</h3>" +
         heat_map(r.example, cells_of(r, shown_layer, shown_head)) +
         "<p class='readout soft'>Point at a square to read its weight" +
         (alone ? "." : "; choose another head from the small maps.") +
         "</p></div></div></section>";
}

std::string samples(const Report& r) {
  if (r.samples.empty()) {
    return "";
  }
  std::string html =
      "<section><h2>Samples</h2><p class='soft'>Beginnings, continued by the model " +
      escape_html(r.decoding) + ".</p>";
  const bool open_ended = r.samples.front().expected.empty();
  if (!open_ended) {
    html += "<table>";
  }
  for (const Sample& s : r.samples) {
    if (open_ended) {
      html += "<pre>" + escape_html(s.question) + "<b>" + escape_html(s.answer) + "</b></pre>";
    } else if (s.answer == s.expected) {
      html += "<tr><td><code>" + escape_html(s.question) + "</code></td><td><code><b>" +
              escape_html(s.answer) + "</b></code></td><td>✓</td></tr>";
    } else {
      html += "<tr><td><code>" + escape_html(s.question) + "</code></td><td><code><del>" +
              escape_html(s.answer) + "</del> " + escape_html(s.expected) +
              "</code></td><td>✗</td></tr>";
    }
  }
  return html + (open_ended ? "" : "</table>") + "</section>";
}

std::string options(const Report& r) {
  std::string html = "<section><h2>Settings</h2><dl class='settings'>";
  for (const auto& [name, value] : r.options) {
    html += "<div><dt>" + escape_html(name) + "</dt><dd>" + escape_html(value) + "</dd></div>";
  }
  return html + "</dl></section>";
}

}  // namespace

std::string render_html(const Report& r) {
  std::string html =
      "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'><meta name='viewport' "
      "content='width=device-width,initial-scale=1'>"
      "<meta name='color-scheme' content='light dark'><title>" +
      escape_html(r.task) + " · tend</title><style>";
  html += page_style();
  html +=
      "</style></head>\n<body>" + header(r) + tiles(r) + findings(r) + "<section><h2>Loss</h2>" +
      loss_chart(r) + "</section>" + heads(r) + samples(r) + options(r) +
      "<footer>Made by tend's <code>train</code>; this file needs no network.</footer>\n<script>";
  html += page_script();
  return html + "</script></body></html>\n";
}

}  // namespace train
