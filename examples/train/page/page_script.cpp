#include "examples/train/page/report_page.h"

namespace train {

std::string_view page_script() {
  return R"js(
const root = document.documentElement;
document.getElementById("theme").onclick = () => {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
};

// Pictures as files.
const save = (name, type, text) => {
  const link = document.createElement("a");
  link.download = name;
  link.href = URL.createObjectURL(new Blob([text], {type}));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
};
const csv = rows => rows.map(row => row.map(value => typeof value === "number" || value === "" ? value : `"${String(value).replace(/"/g, '""')}"`).join(",") + "\n").join("");
const offer = (place, name, svg, rows) => {
  const line = document.createElement("p");
  line.className = "save";
  const add = (kind, make) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = kind.toUpperCase();
    button.title = `save as ${kind.toUpperCase()}`;
    button.onclick = () => save(`${name}.${kind}`, kind === "svg" ? "image/svg+xml" : "text/csv", make());
    line.append(button);
  };
  if (svg) add("svg", svg);
  add("csv", () => csv(rows()));
  place.append(line);
};
const looks = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "opacity", "font-family", "font-size", "font-weight", "text-anchor", "dominant-baseline", "text-decoration", "vector-effect"];
const look = (from, to) => {
  const style = getComputedStyle(from);
  for (const name of looks) to.style.setProperty(name, style.getPropertyValue(name));
};
const paper = (svg, x, y, width, height) => {
  const rect = document.createElementNS(svg.namespaceURI, "rect");
  for (const [name, value] of Object.entries({x, y, width, height})) rect.setAttribute(name, value);
  rect.style.fill = getComputedStyle(document.querySelector("section")).backgroundColor;
  svg.prepend(rect);
  svg.setAttribute("viewBox", [x, y, width, height].join(" "));
  svg.setAttribute("width", width);
  svg.setAttribute("height", height);
  return new XMLSerializer().serializeToString(svg);
};
const drawing = svg => {
  const copy = svg.cloneNode(true), to = [...copy.querySelectorAll("*")];
  [...svg.querySelectorAll("*")].forEach((from, i) => look(from, to[i]));
  copy.removeAttribute("style");
  return paper(copy, ...svg.getAttribute("viewBox").split(" ").map(Number));
};
// A plot is lines in an SVG that is stretched, and labels that are not; samples of its colours stand before their names.
const plotDrawing = (plot, samples) => {
  const box = plot.getBoundingClientRect(), from = plot.querySelector("svg");
  const svg = document.createElementNS(from.namespaceURI, "svg");
  const add = (kind, values, like, text) => {
    const part = document.createElementNS(svg.namespaceURI, kind);
    for (const name in values) part.setAttribute(name, values[name]);
    look(like, part);
    if (text) {
      part.textContent = text;
      part.style.fill = getComputedStyle(like).color;
    }
    svg.append(part);
    return part;
  };
  for (const grid of plot.querySelectorAll(".grid")) {
    const y = grid.getBoundingClientRect().top - box.top;
    add("line", {x1: 0, x2: box.width, y1: y, y2: y}, grid).style.stroke = getComputedStyle(grid).borderTopColor;
    const label = add("text", {x: -7, y: y + 4}, grid.firstChild, grid.textContent);
    label.style.textAnchor = "end";
  }
  for (const step of plot.querySelectorAll(".step")) {
    const place = step.getBoundingClientRect();
    add("text", {x: (place.left + place.right) / 2 - box.left, y: box.height + 18}, step, step.textContent).style.textAnchor = "middle";
  }
  for (const line of from.querySelectorAll("polyline")) {
    const points = line.getAttribute("points").trim().split(" ").filter(Boolean).map(point => point.split(",").map(Number));
    add("polyline", {points: points.map(([x, y]) => `${x * box.width / 100},${y * box.height / 100}`).join(" ")}, line);
  }
  let x = 0, y = box.height + 42;
  for (const sample of samples) {
    const name = sample.nextSibling.textContent, width = 40 + 8 * name.length;
    if (x + width > box.width) [x, y] = [0, y + 18];
    const line = add("line", {x1: x, x2: x + 18, y1: y - 4, y2: y - 4}, sample);
    line.style.stroke = getComputedStyle(sample).backgroundColor;
    line.style.strokeWidth = 3;
    add("text", {x: x + 24, y}, sample.parentNode, name).style.textAnchor = "start";
    x += width;
  }
  return paper(svg, -56, -14, box.width + 84, y + 28);
};
)js"
         R"js(
// The attention on the chosen sequence.
const escaped = text => text.replace(/[&<>"']/g, c => `&#${c.charCodeAt(0)};`);
const figure = document.querySelector(".large");
if (figure) {
  const svg = figure.querySelector(".heat"), cells = svg.querySelector(".cells"), cross = svg.querySelector(".cross");
  const title = figure.querySelector("h3"), readout = figure.querySelector(".readout"), hint = readout.textContent;
  const rows = [...svg.querySelectorAll(".row")], columns = [...svg.querySelectorAll(".column")], said = [...svg.querySelectorAll(".said")];
  const size = +svg.dataset.size, cell = 16;
  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const value = Object.fromEntries([...digits].map((digit, i) => [digit, i]));
  const buttons = [...document.querySelectorAll(".grid-of-heads button")], arcs = [...document.querySelectorAll(".arcs")];
  const choice = document.getElementById("sequence");
  let head = buttons.findIndex(button => button.getAttribute("aria-pressed") === "true"), sequence;

  const read = ({dataset: data}) => {
    const packed = data.weights.split(" ");
    return {
      inputs: data.inputs.split("\t"),
      said: data.said.split("\t"),
      right: data.right,
      links: data.links.split(";").map(links => links.split(" ").filter(Boolean).map(link => link.split(",").map(Number))),
      weight: (head, query, key) => {
        const at = query * (query + 1) + 2 * key;
        return (64 * value[packed[head][at]] + value[packed[head][at + 1]]) / 4095;
      },
    };
  };
  const linksOf = number => number === "" ? [] : sequence.links[number];
  const mapOf = (head, links) => {
    const paths = Array(17).fill(""), shade = (query, key) => Math.round(16 * Math.pow(sequence.weight(head, query, key), .7));
    for (let query = 0; query < size; ++query) {
      for (let key = 0, end; key <= query; key = end) {
        const level = shade(query, key);
        for (end = key + 1; end <= query && shade(query, end) === level;) ++end;
        paths[level] += `M${key} ${query}h${end - key}v1H${key}z`;
      }
    }
    const marks = links.map(([query, key]) => `M${key} ${query}h1v1h-1z`).join("");
    return paths.map((path, level) => level && path ? `<path fill-opacity='${level / 16}' d='${path}'/>` : "").join("") + (marks && `<path class='mark' d='${marks}'/>`);
  };
  const drawArcs = picture => {
    const expected = new Map(), cell = 30;
    for (const [query, key] of linksOf(picture.dataset.finding)) expected.set(query, [...(expected.get(query) || []), key]);
    let highest = cell, html = "";
    for (let i = 0; i < size; ++i) {
      const asks = expected.has(i), x = i * cell;
      html += `<g class='${asks ? "query" : "plain"}' style='--h:${Math.round(250 - 290 * i / size)}'>`;
      for (let key = 0; asks && key <= i; ++key) {
        const weight = sequence.weight(+picture.dataset.head, i, key), radius = (i - key) * cell / 2;
        if (weight < .04) continue;
        highest = Math.max(highest, radius * .72);
        const path = radius ? `M${x + 15} -4A${radius} ${radius * .72} 0 0 0 ${key * cell + 15} -4` : `M${x + 19} -4c6 -16 -14 -16 -8 0`;
        html += `<path class='arc${expected.get(i).includes(key) ? "" : " other"}' d='${path}' stroke-width='${.6 + 3 * weight}' opacity='${.15 + .85 * weight}'><title>${weight.toFixed(3)}</title></path>`;
      }
      html += `<rect x='${x + 1.5}' y='0' width='27' height='30' rx='6'/><text class='token' x='${x + 15}' y='15'>${escaped(sequence.inputs[i])}</text>`;
      if (sequence.said[i]) html += `<text class='said${sequence.right[i] === "1" ? "" : " wrong"}' x='${x + 15}' y='52.5'>${escaped(sequence.said[i])}</text>`;
      html += "</g>";
    }
    picture.innerHTML = html;
    picture.setAttribute("viewBox", `-2 ${-highest - 12} ${size * cell + 4} ${2.3 * cell + highest + 12}`);
  };
  const clear = () => {
    cross.setAttribute("d", "");
    readout.textContent = hint;
    for (const label of svg.querySelectorAll(".lit")) label.classList.remove("lit");
  };
  const chooseHead = number => {
    head = number;
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", i === head));
    cells.innerHTML = mapOf(head, linksOf(buttons[head].dataset.finding));
    title.textContent = buttons[head].dataset.title;
    clear();
  };
  const chooseSequence = option => {
    sequence = read(option);
    buttons.forEach((button, i) => button.querySelector("svg").innerHTML = mapOf(i, linksOf(button.dataset.finding)));
    rows.forEach((row, i) => row.textContent = columns[i].textContent = sequence.inputs[i]);
    const asked = sequence.said.map((said, i) => i).filter(i => sequence.said[i]);
    said.forEach((label, i) => {
      label.textContent = sequence.said[asked[i]];
      label.setAttribute("class", sequence.right[asked[i]] === "1" ? "said" : "said wrong");
    });
    arcs.forEach(drawArcs);
    chooseHead(head);
  };
  const show = event => {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const key = Math.floor(point.x / cell), query = Math.floor(point.y / cell);
    clear();
    if (query < 0 || query >= size || key < 0 || key > query) return;
    rows[query].classList.add("lit");
    columns[key].classList.add("lit");
    cross.setAttribute("d", `M0 ${query * cell}H${(query + 1) * cell}v${cell}H0zM${key * cell} ${key * cell}h${cell}V${size * cell}h${-cell}z`);
    readout.textContent = `“${rows[query].textContent}” (position ${query + 1}) puts ${(100 * sequence.weight(head, query, key)).toFixed(1)} % of its attention on “${columns[key].textContent}” (position ${key + 1})`;
  };
  const weightRows = head => {
    const table = [["query", "query token", "key", "key token", "weight"]];
    sequence.inputs.forEach((token, query) => {
      for (let key = 0; key <= query; ++key) table.push([query + 1, token, key + 1, sequence.inputs[key], +sequence.weight(head, query, key).toFixed(4)]);
    });
    return table;
  };
  buttons.forEach((button, i) => button.onclick = () => chooseHead(i));
  choice.onchange = () => chooseSequence(choice.selectedOptions[0]);
  svg.onpointermove = svg.onpointerdown = show;
  svg.onpointerleave = clear;
  chooseSequence(choice.selectedOptions[0]);
  offer(figure, "attention", () => drawing(svg), () => weightRows(head));
  for (const picture of arcs) offer(picture.closest(".finding"), "arcs", () => drawing(picture), () => weightRows(+picture.dataset.head));
}
)js"
         R"js(
const scores = document.querySelector(".scores");
if (scores) offer(scores.closest("section"), "heads", null, () => [...scores.rows].map(row => [...row.cells].map(cell => cell.tagName === "TD" && cell.textContent !== "–" ? +cell.textContent : cell.textContent)));

const pattern = document.getElementById("pattern");
if (pattern) {
  const plots = [...document.querySelectorAll(".lines")], names = [...scores.rows].slice(1).map(row => row.cells[0].textContent);
  const shown = () => plots[pattern.selectedIndex];
  pattern.onchange = () => plots.forEach(plot => plot.hidden = plot !== shown());
  pattern.onchange();
  offer(document.getElementById("over-time"), "heads-over-steps", () => plotDrawing(shown(), document.querySelectorAll(".legend i")), () => [["step", ...names], ...shown().dataset.scores.trim().split(" ").map(time => {
    const [step, values] = time.split(":");
    return [+step, ...values.split(",").map(value => value === "" ? "" : +value)];
  })]);
}

const chart = document.querySelector(".chart");
if (chart) {
  const losses = chart.dataset.losses.trim().split(" ").map(Number), bucket = +chart.dataset.bucket, steps = +chart.dataset.steps;
  const held = chart.dataset.held.trim().split(" ").filter(Boolean).map(pair => pair.split(":").map(Number));
  for (const plot of chart.querySelectorAll(".plot")) {
    const cursor = document.createElement("div"), tip = document.createElement("div");
    cursor.className = "cursor";
    tip.className = "tip";
    const leave = () => { cursor.remove(); tip.remove(); };
    plot.onpointermove = event => {
      const box = plot.getBoundingClientRect(), share = (event.clientX - box.left) / box.width;
      if (share < 0 || share > 1) return leave();
      const at = Math.min(losses.length - 1, Math.floor(share * steps / bucket)), step = Math.min(steps, Math.floor((at + .5) * bucket) + 1);
      tip.textContent = `step ${step}\ntraining ${losses[at]}`;
      if (held.length) {
        const near = held.reduce((best, v) => Math.abs(v[0] - step) < Math.abs(best[0] - step) ? v : best);
        tip.textContent += `\nheld out ${near[1]} (step ${near[0]})`;
      }
      cursor.style.left = 100 * share + "%";
      tip.style[share < .5 ? "left" : "right"] = 100 * (share < .5 ? share : 1 - share) + 1 + "%";
      tip.style[share < .5 ? "right" : "left"] = "auto";
      plot.append(cursor, tip);
    };
    plot.onpointerleave = leave;
  }
  const visible = () => [...chart.querySelectorAll(".plot")].find(plot => plot.offsetParent);
  offer(chart.closest("section"), "loss", () => plotDrawing(visible(), chart.querySelectorAll(".key i")), () => [["step", "training loss", "held-out loss"],
    ...losses.map((loss, i) => [Math.min(steps, i * bucket + 1), loss, ""]), ...held.map(([step, loss]) => [step, "", loss])]);
}
)js";
}

}  // namespace train
