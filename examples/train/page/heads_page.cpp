#include "examples/train/page/heads_page.h"

namespace train {

std::string_view heads_style() {
  return R"css(
.scroll{overflow-x:auto;overflow-y:hidden}
.arcs text,.heat text{font:13px ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;fill:var(--ink);text-anchor:middle;dominant-baseline:central;unicode-bidi:isolate}
.finding+.finding{margin-top:26px;padding-top:20px;border-top:1px solid var(--line)}
.weight{font-variant-numeric:tabular-nums;color:var(--accent);font-weight:650}
.arcs rect{fill:var(--ground)}
.arcs .token{font-size:15px}
.arcs .said{font-size:15px;font-weight:700;fill:var(--accent)}
.arcs .query rect{fill:hsl(var(--h) 75% var(--arc)/.2)}
.arc{fill:none;stroke:hsl(var(--h) 75% var(--arc));stroke-linecap:round}
.arc.other{stroke-dasharray:2 4}
.arcs g{transition:opacity .15s}
.arcs:has(.query:hover) g:not(:hover){opacity:.22}
text.wrong{fill:var(--wrong)!important;text-decoration:line-through}
.heads{display:flex;gap:22px;align-items:flex-start;flex-wrap:wrap}
.large{flex:1 1 440px;min-width:0}
.grid-of-heads{flex:1 1 260px;max-width:440px;min-width:0}
.layer{display:grid;grid-template-columns:repeat(auto-fill,minmax(66px,1fr));gap:8px;margin:4px 0 12px}
.grid-of-heads h4{font-size:13px;font-weight:400;color:var(--soft);margin:0}
.grid-of-heads button{all:unset;min-width:0;max-width:110px;cursor:pointer;border:1.5px solid var(--line);border-radius:9px;padding:5px;background:var(--card)}
.grid-of-heads button:hover{border-color:var(--soft)}
.grid-of-heads button:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.grid-of-heads button[aria-pressed=true]{border-color:var(--accent);box-shadow:0 0 0 1px var(--accent)}
.grid-of-heads small{display:block;font-size:11px;letter-spacing:-.02em;color:var(--soft);text-align:center;white-space:nowrap}
.grid-of-heads svg{background:linear-gradient(to top right,var(--ground) 50%,transparent 50.5%);border-radius:3px}
.cells path,.grid-of-heads path{fill:var(--accent);shape-rendering:crispEdges}
.cells .mark{fill:none;stroke:var(--warm);stroke-width:1.4px;vector-effect:non-scaling-stroke}
.grid-of-heads .mark{display:none}
.heat .ground{fill:var(--ground)}
.heat .cross{fill:none;stroke:var(--ink);stroke-opacity:.4}
.heat .row{text-anchor:end;font-size:11.5px}
.heat .column{font-size:11.5px;fill:var(--soft)}
.heat .said{text-anchor:start;font-size:11.5px;font-weight:700;fill:var(--accent)}
.heat text.lit{font-weight:700;fill:var(--warm)}
.mark-key{white-space:nowrap}
.ramp{display:inline-block;width:90px;height:10px;border-radius:5px;vertical-align:middle;margin:0 6px;background:linear-gradient(to right,var(--ground),var(--accent))}
.box{display:inline-block;width:12px;height:12px;border:1.5px solid var(--warm);vertical-align:-1px;margin:0 3px 0 10px}
.readout{min-height:3em;font-size:14.5px;margin:8px 0 0}
.scores{font-size:14px;font-variant-numeric:tabular-nums;width:auto}
.scores th{color:var(--soft);padding:6px 10px 6px 0}
.scores tr:first-child th:not(:first-child){text-align:right;padding-right:10px}
.scores td{padding:6px 10px;text-align:right;background:color-mix(in srgb,var(--accent) calc(var(--w,0)*45%),transparent)}
.scores .best{font-weight:700}
.strip{display:flex;gap:2px;height:14px;margin:8px 12px 4px 48px}
.strip i{flex:1;border-radius:2px;background:color-mix(in srgb,var(--warm) calc(var(--w)*100%),var(--ground))}
.under{display:flex;justify-content:space-between;flex-wrap:wrap;gap:0 16px;font-size:13.5px;color:var(--soft);margin:0 12px 0 48px}
code,pre{font:15px/1.5 ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;unicode-bidi:isolate;overflow-wrap:anywhere}
pre{white-space:pre-wrap;background:var(--ground);border-radius:10px;padding:14px 16px;margin:10px 0;font-size:14px}
pre b,td b{color:var(--accent)}
del{color:var(--wrong)}
)css";
}

std::string_view heads_script() {
  return R"js(
const heads = document.getElementById("heads");
if (heads) {
  const {layers, findings, examples} = dataOf(heads), count = layers.length * layers[0], size = examples[0].inputs.length, cell = 16;
  const choice = heads.querySelector("select"), grid = heads.querySelector(".grid-of-heads"), figure = heads.querySelector(".large");
  const title = figure.querySelector("h3"), svg = figure.querySelector(".heat"), readout = figure.querySelector(".readout"), hint = readout.textContent;
  const arcs = [...document.querySelectorAll(".arcs")], perLayer = layers[0];
  let example = examples[0], head = findings.length ? findings[0].head : 0;

  // The weights are in thousandths. Each head has the weights of its lower triangle, row by row.
  const weight = (head, query, key) => example.weights[head][query * (query + 1) / 2 + key] / 1000;
  const findingOf = head => findings.findIndex(finding => finding.head === head);
  const linksOf = finding => finding < 0 ? [] : example.links[finding];
  const titleOf = head => `Layer ${Math.floor(head / perLayer) + 1}, head ${head % perLayer + 1}` + (findingOf(head) < 0 ? "" : `: ${findings[findingOf(head)].pattern}`);
  const label = (kind, x, y, text) => `<text class='${kind}' x='${x}' y='${y}'>${escaped(text)}</text>`;
  const said = i => example.right[i] ? "said" : "said wrong";

  // A head's weights as unit squares, one row for each query. Equal neighbours become one rectangle.
  const mapOf = head => {
    const paths = Array(17).fill(""), shade = (query, key) => Math.round(16 * weight(head, query, key) ** .7);
    for (let query = 0; query < size; ++query) {
      for (let key = 0, end; key <= query; key = end) {
        const level = shade(query, key);
        for (end = key + 1; end <= query && shade(query, end) === level;) ++end;
        paths[level] += `M${key} ${query}h${end - key}v1H${key}z`;
      }
    }
    const marks = linksOf(findingOf(head)).map(([query, key]) => `M${key} ${query}h1v1h-1z`).join("");
    return paths.map((path, level) => level && path ? `<path fill-opacity='${level / 16}' d='${path}'/>` : "").join("") + (marks && `<path class='mark' d='${marks}'/>`);
  };
  const drawHead = () => {
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", i === head));
    title.textContent = titleOf(head);
    readout.textContent = hint;
    const edge = size * cell;
    let stairs = "M0 0", html = "";
    example.inputs.forEach((token, i) => {
      const middle = (i + .5) * cell;
      stairs += `H${(i + 1) * cell}V${(i + 1) * cell}`;
      html += label("row", -6, middle, token) + label("column", middle, -8, token);
      if (example.said[i]) html += label(said(i), edge + 6, middle, example.said[i]);
    });
    svg.setAttribute("viewBox", `-34 -24 ${edge + 68} ${edge + 28}`);
    svg.setAttribute("style", `min-width:${size * 11 + 40}px;max-width:${size * 26 + 70}px`);
    svg.innerHTML = `<path class='ground' d='${stairs}H0z'/><g class='cells' transform='scale(${cell})'>${mapOf(head)}</g><path class='cross'/>${html}`;
  };
  // Draws the tokens in a row. Each query of the finding's pattern has arcs to the tokens that it attends to.
  const drawArcs = picture => {
    const number = +picture.dataset.finding, head = findings[number].head, expected = new Map(), cell = 30;
    for (const [query, key] of linksOf(number)) expected.set(query, [...(expected.get(query) || []), key]);
    let highest = cell, html = "";
    for (let i = 0; i < size; ++i) {
      const asks = expected.has(i), x = i * cell;
      html += `<g class='${asks ? "query" : "plain"}' style='--h:${Math.round(250 - 290 * i / size)}'>`;
      for (let key = 0; asks && key <= i; ++key) {
        const share = weight(head, i, key), radius = (i - key) * cell / 2;
        if (share < .04) continue;
        highest = Math.max(highest, radius * .72);
        const path = radius ? `M${x + 15} -4A${radius} ${radius * .72} 0 0 0 ${key * cell + 15} -4` : `M${x + 19} -4c6 -16 -14 -16 -8 0`;
        html += `<path class='arc${expected.get(i).includes(key) ? "" : " other"}' d='${path}' stroke-width='${.6 + 3 * share}' opacity='${.15 + .85 * share}'><title>${share}</title></path>`;
      }
      html += `<rect x='${x + 1.5}' y='0' width='27' height='30' rx='6'/>` + label("token", x + 15, 15, example.inputs[i]);
      if (example.said[i]) html += label(said(i), x + 15, 52.5, example.said[i]);
      html += "</g>";
    }
    picture.innerHTML = html;
    picture.setAttribute("viewBox", `-2 ${-highest - 12} ${size * cell + 4} ${2.3 * cell + highest + 12}`);
    picture.setAttribute("style", `min-width:${size * 17}px;max-width:${size * 44}px`);
  };
  const drawAll = () => {
    buttons.forEach((button, i) => button.querySelector("svg").innerHTML = mapOf(i));
    arcs.forEach(drawArcs);
    drawHead();
  };
  const point = event => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const key = Math.floor(at.x / cell), query = Math.floor(at.y / cell), cross = svg.querySelector(".cross");
    svg.querySelectorAll(".lit").forEach(text => text.classList.remove("lit"));
    cross.setAttribute("d", "");
    readout.textContent = hint;
    if (query < 0 || query >= size || key < 0 || key > query) return;
    svg.querySelectorAll(".row")[query].classList.add("lit");
    svg.querySelectorAll(".column")[key].classList.add("lit");
    cross.setAttribute("d", `M0 ${query * cell}H${(query + 1) * cell}v${cell}H0zM${key * cell} ${key * cell}h${cell}V${size * cell}h${-cell}z`);
    readout.textContent = `“${example.inputs[query]}” (position ${query + 1}) puts ${(100 * weight(head, query, key)).toFixed(1)} % of its attention on “${example.inputs[key]}” (position ${key + 1})`;
  };
  const weightRows = head => {
    const table = [["query", "query token", "key", "key token", "weight"]];
    example.inputs.forEach((token, query) => {
      for (let key = 0; key <= query; ++key) table.push([query + 1, token, key + 1, example.inputs[key], weight(head, query, key)]);
    });
    return table;
  };

  grid.hidden = count === 1;
  grid.innerHTML = layers.map((heads, layer) => `<h4>Layer ${layer + 1}</h4><div class='layer'>` + Array.from({length: heads}, (_, i) => `<button><svg viewBox='0 0 ${size} ${size}'></svg><small>head ${i + 1}</small></button>`).join("") + "</div>").join("");
  const buttons = [...grid.querySelectorAll("button")];
  buttons.forEach((button, i) => button.onclick = () => { head = i; drawHead(); });
  choice.innerHTML = examples.map(({inputs}) => `<option>${escaped(inputs.join(""))}</option>`).join("");
  choice.closest("p").hidden = examples.length === 1;
  choice.onchange = () => { example = examples[choice.selectedIndex]; drawAll(); };
  svg.onpointermove = svg.onpointerdown = svg.onpointerleave = point;
  drawAll();
  offer(figure, "attention", svg, () => weightRows(head));
  for (const picture of arcs) offer(picture.closest(".finding"), "arcs", picture, () => weightRows(findings[+picture.dataset.finding].head));
}
const scores = document.querySelector(".scores");
if (scores) offer(scores.closest("section"), "heads", null, () => [...scores.rows].map(row => [...row.cells].map(cell => cell.tagName === "TD" && cell.textContent !== "–" ? +cell.textContent : cell.textContent)));
)js";
}

}  // namespace train
