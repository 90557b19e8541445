#include <tend/nn/training/run_page_script.h>

namespace tend::nn::detail {

std::string_view run_page_style() {
  return R"css(
:root{--paper:#faf9f6;--card:#fff;--ink:#211f2b;--soft:#6c6878;--line:#e6e3dc;--accent:#5646d6;--warm:#d9572b;--wrong:#c2183c;--ground:#f3f1ec;--arc:48%;
font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;color:var(--ink);background:var(--paper)}
@media(prefers-color-scheme:dark){:root:not([data-theme=light]){--paper:#14131a;--card:#1c1b24;--ink:#eceaf4;--soft:#9a96ab;--line:#312f3d;--accent:#a99bff;--warm:#ff9a6b;--wrong:#ff7a93;--ground:#24232e;--arc:68%}}
:root[data-theme=dark]{--paper:#14131a;--card:#1c1b24;--ink:#eceaf4;--soft:#9a96ab;--line:#312f3d;--accent:#a99bff;--warm:#ff9a6b;--wrong:#ff7a93;--ground:#24232e;--arc:68%}
*{box-sizing:border-box}
body{max-width:1040px;margin:0 auto;padding:28px 20px 60px}
header{position:relative;padding-right:56px}
h1{font-size:clamp(30px,5vw,44px);line-height:1.1;letter-spacing:-.025em;margin:4px 0 8px}
h2{font-size:21px;letter-spacing:-.01em;margin:0 0 4px}
h3{font-size:16px;margin:0 0 2px}
p{margin:0 0 12px}
.above,.soft{color:var(--soft)}
.above{font-size:14px;margin:0}
.goal{font-size:19px;color:var(--soft);max-width:44em}
.note{border-left:3px solid var(--warm);padding-left:12px}
#theme{position:absolute;right:0;top:0;width:40px;height:40px;border-radius:20px;border:1px solid var(--line);background:var(--card);color:var(--ink);font-size:18px;cursor:pointer}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(138px,1fr));gap:12px;margin:22px 0}
.tiles div,section{background:var(--card);border:1px solid var(--line);border-radius:14px}
.tiles div{padding:14px 16px}
.tiles b{display:block;white-space:nowrap;font-size:clamp(22px,3vw,27px);line-height:1.2;letter-spacing:-.02em;font-variant-numeric:tabular-nums}
.tiles span{font-size:13.5px;color:var(--soft)}
section{padding:22px 22px 18px;margin:16px 0}
[hidden]{display:none!important}
svg{display:block;width:100%;height:auto;margin:0 auto}
table{border-collapse:collapse;width:100%}
td,th{text-align:left;padding:6px 14px 6px 0;border-bottom:1px solid var(--line);vertical-align:top;font-weight:400}
tr:last-child>*{border-bottom:0}
.list{columns:3 220px;column-gap:34px;margin:8px 0 0}
.list div{display:flex;justify-content:space-between;gap:12px;border-bottom:1px solid var(--line);padding:4px 0;break-inside:avoid}
.list dt{color:var(--soft)}
.list dd{margin:0;font-variant-numeric:tabular-nums;text-align:right;overflow-wrap:anywhere}
.choice{display:flex;gap:10px;align-items:baseline;flex-wrap:wrap;margin:0 0 14px;font-size:14.5px}
select{font:14px/1.4 ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;color:var(--ink);background:var(--card);border:1px solid var(--line);border-radius:8px;padding:5px 8px;min-width:0;max-width:100%}
.chart{position:relative;touch-action:pan-y}
.chart text{font:12.5px system-ui,sans-serif;fill:var(--soft);font-variant-numeric:tabular-nums}
.chart path{fill:none;stroke:var(--line)}
.chart .curve{stroke-width:2px;stroke-linejoin:round}
.chart .pale{stroke-width:1px;stroke-opacity:.28}
.chart .bar{stroke:none}
.map text{font:12.5px ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;fill:var(--soft)}
.map .ground{fill:var(--ground)}
.map .cross{fill:none;stroke:var(--ink);stroke-opacity:.4}
.map-scroll{overflow-x:auto;overflow-y:hidden}
.table-scroll{overflow-x:auto}
.table-scroll td,.table-scroll th{font-variant-numeric:tabular-nums;min-width:4.5em}
.table-scroll th{color:var(--soft);font-size:14px}
.cursor{position:absolute;width:1px;background:var(--soft);pointer-events:none}
.tip{position:absolute;top:12px;padding:5px 9px;font-size:13px;line-height:1.4;border-radius:8px;background:var(--ink);color:var(--paper);white-space:pre;pointer-events:none;font-variant-numeric:tabular-nums}
.scale button{font:inherit;font-size:13.5px;padding:3px 12px;border:1px solid var(--line);border-radius:8px 0 0 8px;background:none;cursor:pointer;color:var(--soft)}
.scale button+button{border-radius:0 8px 8px 0;border-left:0}
.scale button[aria-pressed=true]{background:var(--accent);border-color:var(--accent);color:var(--card)}
.save{display:flex;gap:8px;margin:8px 0 0}
.save button{font:inherit;font-size:13px;padding:2px 10px;border:1px solid var(--line);border-radius:8px;background:none;color:var(--soft);cursor:pointer}
.save button:hover{color:var(--ink);border-color:var(--soft)}
footer{color:var(--soft);font-size:13.5px;text-align:center;margin-top:26px}
@media(max-width:600px){body{padding:18px 12px 40px}section{padding:16px 14px 12px}}
@media print{#theme,.save,.scale{display:none}section{break-inside:avoid}}
)css";
}

std::string_view run_page_script() {
  return R"js(
const root = document.documentElement;
document.getElementById("theme").onclick = () => {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
};
const dataOf = place => JSON.parse(place.querySelector("script").textContent);
const escaped = text => text.replace(/[&<>"']/g, c => `&#${c.charCodeAt(0)};`);

// Saves pictures and tables as files.
const csv = rows => rows.map(row => row.map(value => typeof value === "number" || value === "" ? value : `"${String(value).replace(/"/g, '""')}"`).join(",") + "\n").join("");
const offer = (place, name, svg, rows) => {
  const line = document.createElement("p");
  line.className = "save";
  const add = (kind, type, make) => {
    const button = document.createElement("button");
    button.textContent = kind.toUpperCase();
    button.title = `save as ${kind.toUpperCase()}`;
    button.onclick = () => {
      const link = document.createElement("a");
      link.download = `${name}.${kind}`;
      link.href = URL.createObjectURL(new Blob([make()], {type}));
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    };
    line.append(button);
  };
  if (svg) add("svg", "image/svg+xml", () => drawing(svg));
  add("csv", "text/csv", () => csv(rows()));
  place.append(line);
};
// A copy of the picture that needs no style sheet, on the background of its section.
const looks = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "opacity", "font-family", "font-size", "font-weight", "text-anchor", "dominant-baseline", "text-decoration", "vector-effect"];
const drawing = svg => {
  const copy = svg.cloneNode(true), parts = [...copy.querySelectorAll("*")];
  [...svg.querySelectorAll("*")].forEach((from, i) => {
    const style = getComputedStyle(from);
    for (const name of looks) parts[i].style.setProperty(name, style.getPropertyValue(name));
  });
  copy.removeAttribute("style");
  const [x, y, width, height] = svg.getAttribute("viewBox").split(" ");
  const ground = document.createElementNS(svg.namespaceURI, "rect");
  for (const [name, value] of Object.entries({x, y, width, height})) ground.setAttribute(name, value);
  ground.style.fill = getComputedStyle(svg.closest("section")).backgroundColor;
  copy.prepend(ground);
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  return new XMLSerializer().serializeToString(copy);
};

// Charts.
const roundNumbers = (high, low = 0) => {
  const rough = (high - low) / 4, power = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 5, 10].find(factor => factor * power >= rough) * power, first = Math.ceil(low / step - 1e-9);
  return Array.from({length: Math.floor(high / step + 1e-9) - first + 1}, (_, i) => (first + i) * step);
};
const logNumbers = (low, high) => {
  const numbers = [];
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; ++power) {
    for (const factor of high / low < 30 ? [1, 2, 5] : [1]) numbers.push(factor * 10 ** power);
  }
  return numbers.filter(number => number >= low && number <= high);
};
const shown = number => String(+number.toPrecision(5));
const grouped = number => shown(number).replace(/\B(?=(\d{3})+$)/g, "\u202f");
// Replaces each value by the mean of its neighbourhood, about a fortieth of the curve. Near the
// ends the neighbourhood is smaller, so that it stays symmetric.
const smoothed = points => points.map(([x], i) => {
  const reach = Math.min(Math.floor(points.length / 80), i, points.length - 1 - i), near = points.slice(i - reach, i + reach + 1);
  return [x, near.reduce((sum, [, y]) => sum + y, 0) / near.length];
});
const colorOf = (i, count) => count > 2 ? `hsl(${Math.round(250 - 290 * i / count)} 65% var(--arc))` : i ? "var(--warm)" : "var(--accent)";

for (const place of document.querySelectorAll(".chart")) {
  const {views, log, bars, x: xName, name} = dataOf(place), section = place.closest("section"), svg = place.querySelector("svg"), choice = section.querySelector(".choice select");
  for (const view of views) {
    for (const curve of view.curves) curve.points = curve.x.map((x, i) => [x, curve.y[i]]).filter(([, y]) => y !== null);
  }
  const view = () => views[choice ? choice.selectedIndex : 0];
  const lines = () => view().curves.map(({points, smoothed: is}) => is ? smoothed(points) : points);
  let isLog = false, scale;
  const draw = () => {
    const curves = view().curves, points = curves.flatMap(curve => curve.points);
    const values = points.map(([, y]) => y), positive = values.filter(y => y > 0);
    const steps = Math.max(1, ...points.map(([x]) => x)), highest = Math.max(1e-9, ...values), lowest = Math.min(...positive);
    const width = place.clientWidth, right = width - 24, top = 10, bottom = width < 480 ? 240 : 310;
    const low = isLog ? lowest / 1.2 : Math.min(0, ...values), high = isLog ? highest * 1.2 : Math.max(highest * 1.04, log ? 0 : .1);
    const marks = isLog ? logNumbers(low, high) : roundNumbers(high, low), left = Math.max(48, 16 + 7 * Math.max(...marks.map(y => shown(y).length)));
    const share = y => isLog ? Math.log(Math.max(y, low) / low) / Math.log(high / low) : (y - low) / (high - low);
    const pad = bars ? .5 : 0, atX = x => left + (right - left) * (x + pad) / (steps + 2 * pad), atY = y => bottom + (top - bottom) * Math.min(1, Math.max(0, share(y)));
    scale = {steps, pad, left, right, top, bottom};
    let html = "";
    for (const y of marks) html += `<path d='M${left} ${atY(y)}H${right}'/><text x='${left - 7}' y='${atY(y) + 4}' text-anchor='end'>${shown(y)}</text>`;
    for (const x of roundNumbers(steps)) html += `<text x='${atX(x)}' y='${bottom + 20}' text-anchor='middle'>${grouped(x)}</text>`;
    const path = points => "M" + points.map(([x, y]) => `${atX(x).toFixed(1)} ${atY(y).toFixed(1)}`).join("L");
    lines().forEach((line, i) => {
      const color = `style='stroke:${colorOf(i, curves.length)}'`;
      if (!line.length) return;
      if (bars) {
        const wide = Math.max(1.5, .8 * (right - left) / (steps + 1) / curves.length);
        for (const [x, y] of line) {
          const ends = [atY(y), atY(isLog ? low : 0)].sort((a, b) => a - b);
          html += `<rect class='bar' x='${(atX(x) + (i - curves.length / 2) * wide).toFixed(1)}' y='${ends[0].toFixed(1)}' width='${wide.toFixed(1)}' height='${(ends[1] - ends[0]).toFixed(1)}' style='fill:${colorOf(i, curves.length)}'/>`;
        }
        return;
      }
      if (curves[i].smoothed) html += `<path class='pale' ${color} d='${path(curves[i].points)}'/>`;
      html += `<path class='curve' ${color} d='${path(line)}'/>`;
      if (curves[i].marked) html += line.map(([x, y]) => `<circle cx='${atX(x)}' cy='${atY(y)}' r='3.5' style='fill:${colorOf(i, curves.length)}'/>`).join("");
    });
    let x = left, y = bottom + 46;
    curves.forEach((curve, i) => {
      const length = 40 + 7 * curve.name.length;
      if (x + length > right) [x, y] = [left, y + 20];
      html += `<path d='M${x} ${y - 4}h18' style='stroke:${colorOf(i, curves.length)};stroke-width:3px'/><text x='${x + 24}' y='${y}'>${escaped(curve.name)}</text>`;
      x += length;
    });
    svg.innerHTML = html;
    svg.setAttribute("viewBox", `0 0 ${width} ${y + 8}`);
  };
  const cursor = document.createElement("div"), tip = document.createElement("div");
  cursor.className = "cursor";
  tip.className = "tip";
  place.onpointerleave = () => { cursor.remove(); tip.remove(); };
  place.onpointermove = event => {
    const {left, right, top, bottom, steps, pad} = scale, x = event.clientX - place.getBoundingClientRect().left, at = (x - left) / (right - left);
    if (at < 0 || at > 1) return place.onpointerleave();
    const here = at * (steps + 2 * pad) - pad;
    const texts = view().curves.slice(0, 16).filter(curve => curve.points.length).map(curve => {
      const near = curve.points.reduce((best, point) => Math.abs(point[0] - here) < Math.abs(best[0] - here) ? point : best);
      return `${curve.name} ${shown(near[1])} (${xName} ${grouped(Math.round(near[0] * 1e4) / 1e4)})`;
    });
    tip.textContent = texts.join("\n");
    Object.assign(cursor.style, {left: x + "px", top: top + "px", height: bottom - top + "px"});
    Object.assign(tip.style, at < .5 ? {left: x + 10 + "px", right: "auto"} : {left: "auto", right: place.clientWidth - x + 10 + "px"});
    place.append(cursor, tip);
  };
  if (choice) choice.onchange = draw;
  if (log) {
    const values = view().curves.flatMap(curve => curve.points).map(([, y]) => y).filter(y => y > 0);
    isLog = Math.max(...values) > 30 * Math.min(...values);
    const buttons = [...section.querySelectorAll(".scale button")];
    const press = to => {
      isLog = to;
      buttons.forEach((button, i) => button.setAttribute("aria-pressed", Boolean(i) === isLog));
      draw();
    };
    buttons.forEach((button, i) => button.onclick = () => press(Boolean(i)));
    press(isLog);
  }
  new ResizeObserver(draw).observe(place);
  draw();
  offer(section, name, svg, () => {
    const curves = view().curves, rows = new Map();
    curves.forEach((curve, i) => curve.points.forEach(([x, y]) => {
      if (!rows.has(x)) rows.set(x, Array(curves.length).fill(""));
      rows.get(x)[i] = y;
    }));
    return [[xName, ...curves.map(curve => curve.name)], ...[...rows].sort(([a], [b]) => a - b).map(([x, values]) => [x, ...values])];
  });
}

// Maps. The strength of a value's colour is its share of the highest value or, below 0, of the
// lowest value of all maps.
for (const place of document.querySelectorAll(".map")) {
  const {choices, rows, columns, rowName, columnName, name, values} = dataOf(place), section = place.closest("section"), svg = place.querySelector("svg");
  const selects = [...section.querySelectorAll(".choice select")], readout = section.querySelector(".readout"), hint = readout.textContent, cell = 16;
  const highest = Math.max(...values.filter(value => value !== null)), lowest = Math.min(...values.filter(value => value !== null));
  const start = () => selects.reduce((at, select, i) => at * choices[i].names.length + select.selectedIndex, 0) * rows.length * columns.length;
  const value = (row, column) => values[start() + row * columns.length + column];
  const left = 10 + 7.7 * Math.max(...rows.map(text => text.length)), isTall = Math.max(...columns.map(text => text.length)) > 1, top = isTall ? 8 + 7.7 * Math.max(...columns.map(text => text.length)) : 20;
  const everyRow = Math.ceil(rows.length / 60), everyColumn = Math.ceil(columns.length / 60);
  const width = columns.length * cell, height = rows.length * cell;
  const draw = () => {
    let html = `<rect class='ground' width='${width}' height='${height}'/>`;
    for (let row = 0; row < rows.length; ++row) {
      if (row % everyRow === 0) html += `<text class='row' x='-6' y='${(row + .5) * cell}' text-anchor='end' dominant-baseline='central'>${escaped(rows[row])}</text>`;
      for (let column = 0; column < columns.length; ++column) {
        const number = value(row, column);
        if (number === null || number === 0) continue;
        const share = number > 0 ? number / highest : number / lowest;
        html += `<rect x='${column * cell}' y='${row * cell}' width='${cell}' height='${cell}' style='fill:var(--${number > 0 ? "accent" : "warm"})' fill-opacity='${(share ** .7).toFixed(3)}'/>`;
      }
    }
    columns.forEach((text, column) => {
      const x = (column + .5) * cell;
      if (column % everyColumn === 0) html += isTall ? `<text class='column' transform='translate(${x} -6) rotate(-90)' dominant-baseline='central'>${escaped(text)}</text>` : `<text class='column' x='${x}' y='-8' text-anchor='middle'>${escaped(text)}</text>`;
    });
    svg.innerHTML = html + "<path class='cross'/>";
    svg.setAttribute("viewBox", `${-left} ${-top} ${width + left + 4} ${height + top + 4}`);
    const size = columns.length > 60 ? .5 : 1;
    svg.setAttribute("style", `min-width:${Math.min(left + width * .6, 900) * size}px;max-width:${(left + width) * 1.6}px;max-height:640px`);
  };
  svg.onpointermove = svg.onpointerdown = svg.onpointerleave = event => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const column = Math.floor(at.x / cell), row = Math.floor(at.y / cell), cross = svg.querySelector(".cross");
    const isInside = row >= 0 && row < rows.length && column >= 0 && column < columns.length;
    cross.setAttribute("d", isInside ? `M0 ${row * cell}H${width}v${cell}H0zM${column * cell} 0h${cell}V${height}h${-cell}z` : "");
    readout.textContent = isInside ? `${rowName} ${rows[row]}, ${columnName} ${columns[column]}: ${value(row, column) ?? "–"}` : hint;
  };
  selects.forEach(select => select.onchange = draw);
  draw();
  offer(section, name, svg, () => [[rowName, ...columns], ...rows.map((text, row) => [text, ...columns.map((_, column) => value(row, column) ?? "")])]);
}

// Tables.
for (const table of document.querySelectorAll(".table-scroll table")) {
  offer(table.closest("section"), table.dataset.name, null, () => [...table.rows].map(row => [...row.cells].map(cell => cell.textContent)));
}
)js";
}

}  // namespace tend::nn::detail
