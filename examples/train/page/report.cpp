#include "examples/train/page/report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include <tend/nn/training/run_page.h>

#include "examples/train/page/format.h"
#include "examples/train/page/heads_page.h"

namespace train {

using tend::nn::ChartView;
using tend::nn::Curve;
using tend::nn::RunPage;

namespace {

using Json = nlohmann::json;

std::string escaped(const std::string& text) {
  return RunPage::escaped(text);
}

std::size_t heads_a_layer(const Report& r) {
  return r.examples.front().weights.front().size();
}

void add_notes(RunPage& page, const Report& r) {
  const std::string steps = grouped(r.steps_done), planned = grouped(r.steps_planned);
  if (!r.failure.empty()) {
    page.add_note(
        "Ended after " + grouped(r.losses.size()) + " of " + planned + " steps: " + r.failure +
        ". The losses are shown up to there. The model is from after step " + steps + ".");
  } else if (r.steps_done < r.steps_planned) {
    page.add_note("Stopped after " + steps + " of " + planned +
                  " steps. This page shows a model in the middle of its training.");
  } else if (!r.verdict.empty()) {
    page.add_note("The task was " + r.verdict + ".");
  }
  for (const std::string& line : check_lines(r)) page.add_text(line + ".");
}

void add_figures(RunPage& page, const Report& r) {
  const bool is_text = r.task == "text";
  std::vector<std::pair<std::string, std::string>> figures;
  if (is_text)
    figures.emplace_back(fixed(r.validation_loss, 3), "loss on held-out text, in nats per byte");
  figures.emplace_back(percent(r.exact_match),
                       is_text ? "of " + grouped(r.held_out) + " held-out bytes predicted right"
                               : "exact match of " + grouped(r.held_out) + " held-out answers");
  if (!r.findings.empty()) {
    figures.emplace_back(fixed(r.findings.front().mean_weight, 3),
                         "of the best head's attention on the " + r.findings.front().pattern);
  }
  figures.emplace_back(grouped(r.steps_done), "steps in " + duration(r.seconds));
  figures.emplace_back(grouped(r.tokens_per_second), "tokens per second");
  figures.emplace_back(grouped(r.parameters), "parameters");
  page.add_figures(figures);
}

std::string finding(const Report& r, std::size_t number) {
  const HeadFinding& f = r.findings[number];
  const std::size_t heads = r.scores.size();
  return "<div class='finding'><h3>Layer " + std::to_string(f.layer) + ", head " +
         std::to_string(f.head) + ": " + escaped(f.pattern) + "</h3><p>" + escaped(f.words) + " " +
         (heads == 1
              ? "The model's only head"
              : "Of the model's " + std::to_string(heads) + " heads, this one does it most: it") +
         " puts <span class='weight'>" + percent(f.mean_weight) +
         "</span> of its attention there, on average over held-out sequences" +
         (f.mean_weight < 0.5 ? ", so several heads share the work" : "") +
         ".</p><div class='scroll'><svg class='arcs' role='img' aria-label='" + escaped(f.pattern) +
         "' data-finding='" + std::to_string(number) + "'></svg></div></div>";
}

void add_findings(RunPage& page, const Report& r) {
  if (r.findings.empty() || r.examples.empty()) return;
  std::string html =
      "<p class='soft'>Arcs lead from a token to the tokens that it attends to. A thicker arc is a "
      "larger weight. Dashed arcs are not part of the pattern. Below each token is the model's "
      "prediction of the next token. Point at a token to see only its arcs.</p>";
  for (std::size_t i = 0; i < r.findings.size(); ++i) html += finding(r, i);
  page.add_section("What the best heads do", html);
}

/// The validations' exact matches, from the first to the last.
std::string exact_match_strip(const Report& r) {
  if (r.validations.empty()) return "";
  std::string html = "<div class='strip' role='img' aria-label='exact match by step'>";
  for (const Validation& v : r.validations) {
    html += "<i style='--w:" + fixed(v.exact_match, 4) + "' title='step " + grouped(v.step) + ": " +
            percent(v.exact_match) + "'></i>";
  }
  return html + "</div><p class='under'><span>Exact match on held-out sequences, from first to " +
         "last validation</span><span>" + percent(r.validations.front().exact_match) + " → " +
         percent(r.validations.back().exact_match) + "</span></p>";
}

void add_losses(RunPage& page, const Report& r) {
  if (r.losses.empty()) return page.add_section("Loss", "<p>There are no steps yet.</p>");
  Curve training{.name = "training", .x = {}, .y = r.losses, .is_smoothed = true};
  Curve held_out{.name = "held out", .x = {}, .y = {}, .is_marked = true};
  for (std::size_t i = 0; i < r.losses.size(); ++i)
    training.x.push_back(static_cast<double>(i + 1));
  for (const Validation& v : r.validations) {
    held_out.x.push_back(static_cast<double>(v.step));
    held_out.y.push_back(v.loss);
  }
  page.add_chart("Loss", {.views = {{"", {training, held_out}}}, .has_log_scale = true},
                 exact_match_strip(r));
}

/// A weight in thousandths; NaN is 0.
int thousandths(float weight) {
  return weight > 0 ? static_cast<int>(std::lround(1000 * std::min(weight, 1.0F))) : 0;
}

Json json_of(const AttentionExample& example) {
  const std::size_t size = example.inputs.size();
  Json heads = Json::array(), links = Json::array();
  for (const auto& layer : example.weights) {
    for (const std::vector<float>& weights : layer) {
      Json& seen = heads.emplace_back(Json::array());
      for (std::size_t query = 0; query < size; ++query) {
        for (std::size_t key = 0; key <= query; ++key)
          seen.push_back(thousandths(weights[query * size + key]));
      }
    }
  }
  for (const std::vector<Link>& pattern : example.links) {
    Json& places = links.emplace_back(Json::array());
    for (const Link& link : pattern) places.push_back({link.query, link.key});
  }
  return {{"inputs", example.inputs},
          {"said", example.predictions},
          {"right", example.correct},
          {"links", links},
          {"weights", heads}};
}

/// The data from which the script draws the heads. Heads are numbered layer by layer.
std::string heads_json(const Report& r) {
  const std::size_t heads = heads_a_layer(r);
  Json findings = Json::array(), examples = Json::array();
  for (const HeadFinding& f : r.findings)
    findings.push_back({{"pattern", f.pattern}, {"head", (f.layer - 1) * heads + f.head - 1}});
  for (const AttentionExample& each : r.examples) examples.push_back(json_of(each));
  const Json all{{"layers", std::vector<std::size_t>(r.examples.front().weights.size(), heads)},
                 {"findings", findings},
                 {"examples", examples}};
  return all.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void add_heads(RunPage& page, const Report& r) {
  if (r.examples.empty()) return;
  page.add_section(
      "Every head",
      "<p class='soft'>Each row is a query, each column a key. The weights of a row add up to 1. "
      "0<span class='ramp'></span>1<span class='mark-key'><span class='box'></span>"
      "the pattern's positions</span></p><div id='heads'><p class='choice'><label>Held-out "
      "sequence, here and above: <select></select></label></p><div class='heads'>"
      "<div class='grid-of-heads'></div><div class='large'><h3></h3><div class='scroll'>"
      "<svg class='heat' role='img' aria-label='attention weights'></svg></div>"
      "<p class='readout soft'>Point at a square to read its weight" +
          std::string(r.scores.size() == 1 ? "." : "; choose another head from the small maps.") +
          "</p></div></div>" + RunPage::data(heads_json(r)) + "</div>");
}

/// "2.1" for the first head of the second layer.
std::string short_name(const Report& r, std::size_t head) {
  const std::size_t heads = heads_a_layer(r);
  return std::to_string(head / heads + 1) + "." + std::to_string(head % heads + 1);
}

void add_scores(RunPage& page, const Report& r) {
  if (r.scores.empty() || r.examples.empty()) return;
  std::string html =
      "<p class='soft'>The share of each head's attention on a pattern, on average over all "
      "queries of the pattern in held-out sequences. The highest share of a column is bold. The "
      "entropy, in nats, is 0 for a head that attends to only one position. “2.1” is the first "
      "head of the second layer.</p>"
      "<div class='scroll'><table class='scores'><tr><th>head</th>";
  std::vector<double> best;
  for (std::size_t p = 0; p < r.patterns.size(); ++p) {
    html += "<th>" + escaped(r.patterns[p]) + "</th>";
    double& highest = best.emplace_back(-1);
    for (const HeadScore& score : r.scores) highest = std::fmax(highest, score.shares[p]);
  }
  html += "<th>entropy</th></tr>";
  for (std::size_t i = 0; i < r.scores.size(); ++i) {
    html += "<tr><th>" + short_name(r, i) + "</th>";
    for (std::size_t p = 0; p < best.size(); ++p) {
      const double share = r.scores[i].shares[p];
      html += std::isnan(share)
                  ? "<td>–</td>"
                  : "<td style='--w:" + fixed(share, 3) + "'" +
                        (share == best[p] ? " class='best'>" : ">") + fixed(share, 3) + "</td>";
    }
    html += "<td>" + fixed(r.scores[i].entropy, 3) + "</td></tr>";
  }
  page.add_section("What each head attends to", html + "</table></div>");
}

/// The curves of all heads: the shares of a pattern or, after the last pattern, the entropies.
ChartView curves_of(const Report& r, std::size_t pattern) {
  const bool is_entropy = pattern == r.patterns.size();
  ChartView view{is_entropy ? "no pattern (entropy in nats)" : r.patterns[pattern], {}};
  for (std::size_t head = 0; head < r.scores.size(); ++head) {
    Curve& curve = view.curves.emplace_back(Curve{short_name(r, head), {}, {}});
    for (const HeadsAtStep& time : r.over_time) {
      const HeadScore& score = time.heads.at(head);
      curve.x.push_back(static_cast<double>(time.step));
      curve.y.push_back(is_entropy ? score.entropy : score.shares.at(pattern));
    }
  }
  return view;
}

void add_heads_over_time(RunPage& page, const Report& r) {
  if (r.scores.empty() || r.over_time.empty() || r.examples.empty()) return;
  tend::nn::Chart chart{.views = {}, .choice = "Each head's attention on:"};
  for (std::size_t i = 0; i <= r.patterns.size(); ++i) chart.views.push_back(curves_of(r, i));
  page.add_chart("Heads over the steps", chart);
}

void add_samples(RunPage& page, const Report& r) {
  if (r.samples.empty()) return;
  std::string text, table;
  for (const Sample& s : r.samples) {
    const std::string question = escaped(s.question), answer = escaped(s.answer);
    if (s.expected.empty()) {
      text += "<pre>" + question + "<b>" + answer + "</b></pre>";
    } else if (s.answer == s.expected) {
      table += "<tr><td><code>" + question + "</code></td><td><code><b>" + answer +
               "</b></code></td><td>✓</td></tr>";
    } else {
      table += "<tr><td><code>" + question + "</code></td><td><code><del>" + answer + "</del> " +
               escaped(s.expected) + "</code></td><td>✗</td></tr>";
    }
  }
  if (!table.empty()) table = "<table>" + table + "</table>";
  page.add_section("Samples", "<p class='soft'>Beginnings of sequences, continued by the model " +
                                  escaped(r.decoding) + ".</p>" + text + table);
}

}  // namespace

std::vector<std::string> check_lines(const Report& r) {
  std::vector<std::string> lines;
  for (const Check& c : r.checks) {
    const bool went_on = c.exact_match < 1 && r.steps_planned > c.step;
    lines.push_back("check after step " + std::to_string(c.step) + ": " + percent(c.exact_match) +
                    " of other held-out answers right" + (went_on ? ", so the run continued" : ""));
  }
  return lines;
}

std::string render_html(const Report& r) {
  RunPage page(r.task, r.goal);
  page.add_style(heads_style());
  page.add_script(heads_script());
  add_notes(page, r);
  add_figures(page, r);
  add_findings(page, r);
  add_losses(page, r);
  add_heads(page, r);
  add_scores(page, r);
  add_heads_over_time(page, r);
  add_samples(page, r);
  page.add_list("Settings", r.options);
  return page.html();
}

}  // namespace train
