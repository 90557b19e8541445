#include "examples/train/page/report.h"

#include <cmath>

#include "examples/train/page/charts.h"
#include "examples/train/page/format.h"
#include "examples/train/page/report_page.h"

namespace train {

namespace {

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
  for (const std::string& line : check_lines(r)) html += "<p class='soft'>" + line + ".</p>";
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

std::string finding(const Report& r, std::size_t number) {
  const HeadFinding& f = r.findings[number];
  const auto& weights = r.examples.front().weights;
  const std::size_t heads = weights.size() * weights.front().size();
  std::string html = "<div class='finding'><h3>" + place(f.layer, f.head) + ": " +
                     escape_html(f.pattern) + "</h3><p>" + escape_html(f.words) + " ";
  html += heads == 1
              ? "The model's only head"
              : "Of the model's " + std::to_string(heads) + " heads this one does it most: it";
  html += " puts <span class='weight'>" + percent(f.mean_weight) +
          "</span> of its attention there, on average over held-out sequences";
  html += f.mean_weight < 0.5 ? ", so no single head does it alone.</p>" : ".</p>";
  return html + arc_diagram(r, number) + "</div>";
}

std::string findings(const Report& r) {
  if (r.findings.empty() || r.examples.empty()) {
    return "";
  }
  std::string html =
      "<section><h2>What the best head does</h2><p class='soft'>Arcs lead from a token to those "
      "it looks at; the thicker, the more. Dashed arcs lie outside "
      "the pattern. Beneath: what the model says next. Point at a token to see its arcs alone.</p>";
  for (std::size_t i = 0; i < r.findings.size(); ++i) html += finding(r, i);
  return html + "</section>";
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
  std::string html = "<section><h2>Settings</h2><dl class='options'>";
  for (const auto& [name, value] : r.options) {
    html += "<div><dt>" + escape_html(name) + "</dt><dd>" + escape_html(value) + "</dd></div>";
  }
  return html + "</dl></section>";
}

}  // namespace

std::vector<std::string> check_lines(const Report& r) {
  std::vector<std::string> lines;
  for (const Check& c : r.checks) {
    const bool is_passed = c.exact_match == 1;
    const bool went_on = r.steps_planned > c.step;
    lines.push_back("check after step " + std::to_string(c.step) + ": " + percent(c.exact_match) +
                    " of other held-out answers right" +
                    (is_passed ? ""
                     : went_on ? ", so the run went on"
                               : ""));
  }
  return lines;
}

std::string render_html(const Report& r) {
  std::string html =
      "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'><meta name='viewport' "
      "content='width=device-width,initial-scale=1'>"
      "<meta name='color-scheme' content='light dark'><title>" +
      escape_html(r.task) + " · tend</title><style>";
  html += page_style();
  html +=
      "</style></head>\n<body>" + header(r) + tiles(r) + findings(r) + "<section><h2>Loss</h2>" +
      loss_chart(r) + "</section>" + heads_section(r) + heads_over_time(r) + samples(r) +
      options(r) +
      "<footer>Made by tend's <code>train</code>; this file needs no network.</footer>\n<script>";
  html += page_script();
  return html + "</script></body></html>\n";
}

}  // namespace train
