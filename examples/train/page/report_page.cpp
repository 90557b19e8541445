#include "examples/train/page/report_page.h"

namespace train {

std::string_view page_style() {
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
#theme{position:absolute;right:0;top:0;width:40px;height:40px;border-radius:20px;border:1px solid var(--line);background:var(--card);color:var(--ink);font-size:18px;cursor:pointer}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(138px,1fr));gap:12px;margin:22px 0}
.tiles div,section{background:var(--card);border:1px solid var(--line);border-radius:14px}
.tiles div{padding:14px 16px}
.tiles b{display:block;white-space:nowrap;font-size:clamp(22px,3vw,27px);line-height:1.2;letter-spacing:-.02em;font-variant-numeric:tabular-nums}
.tiles span{font-size:13.5px;color:var(--soft)}
section{padding:22px 22px 18px;margin:16px 0}
.note{border-left:3px solid var(--warm);padding-left:12px}
.scroll{overflow-x:auto;overflow-y:hidden}
svg{display:block;width:100%;height:auto;margin:0 auto}
text{font:13px ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;fill:var(--ink);text-anchor:middle;dominant-baseline:central;unicode-bidi:isolate}
.finding+.finding{margin-top:26px;padding-top:20px;border-top:1px solid var(--line)}
.weight{font-variant-numeric:tabular-nums;color:var(--accent);font-weight:650}
.arcs rect{fill:var(--ground)}
.arcs .token{font-size:15px}
.arcs .said{font-size:15px;font-weight:700;fill:var(--accent)}
.arcs .query rect{fill:hsl(var(--h) 75% var(--arc)/.2)}
.arc{fill:none;stroke:hsl(var(--h) 75% var(--arc));stroke-linecap:round;transition:opacity .15s}
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
[hidden]{display:none!important}
.grid-of-heads small{display:block;font-size:11px;letter-spacing:-.02em;color:var(--soft);text-align:center;white-space:nowrap}
.grid-of-heads svg{background:linear-gradient(to top right,var(--ground) 50%,transparent 50.5%);border-radius:3px}
.cells path,.grid-of-heads path{fill:var(--accent);shape-rendering:crispEdges}
.cells .mark,.grid-of-heads .mark{fill:none;stroke:var(--warm);stroke-width:1.4px;vector-effect:non-scaling-stroke}
.grid-of-heads .mark{display:none}
.mark-key{white-space:nowrap}
.heat .ground{fill:var(--ground)}
.heat .cross{fill:none;stroke:var(--ink);stroke-opacity:.4}
.heat .row{text-anchor:end;font-size:11.5px}
.heat .column{font-size:11.5px;fill:var(--soft)}
.heat .said{text-anchor:start;font-size:11.5px;font-weight:700;fill:var(--accent)}
.heat text.lit{font-weight:700;fill:var(--warm)}
.ramp{display:inline-block;width:90px;height:10px;border-radius:5px;vertical-align:middle;margin:0 6px;background:linear-gradient(to right,var(--ground),var(--accent))}
.box{display:inline-block;width:12px;height:12px;border:1.5px solid var(--warm);vertical-align:-1px;margin:0 3px 0 10px}
.readout{min-height:3em;font-size:14.5px;margin:8px 0 0}
.chart{position:relative}
.chart input{position:absolute;opacity:0}
.chart label{display:inline-block;font-size:13.5px;padding:3px 12px;border:1px solid var(--line);cursor:pointer;color:var(--soft)}
.chart label:first-of-type{border-radius:8px 0 0 8px}
.chart label:last-of-type{border-radius:0 8px 8px 0;border-left:0}
.chart input:checked+label{background:var(--accent);border-color:var(--accent);color:var(--card)}
.chart input:focus-visible+label{outline:2px solid var(--warm)}
.key{float:right;font-size:13.5px;color:var(--soft)}
.key i{display:inline-block;width:18px;height:3px;border-radius:2px;vertical-align:middle;margin:0 6px 0 14px;background:var(--accent)}
.sequence{display:flex;gap:10px;align-items:baseline;flex-wrap:wrap;margin:0 0 14px;font-size:14.5px}
select{font:14px/1.4 ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;color:var(--ink);background:var(--card);border:1px solid var(--line);border-radius:8px;padding:5px 8px;min-width:0;max-width:100%}
.scores{font-size:14px;font-variant-numeric:tabular-nums;width:auto}
.scores th{color:var(--soft);padding:6px 10px 6px 0}
.scores tr:first-child th:not(:first-child){text-align:right;padding-right:10px}
.scores td{padding:6px 10px;text-align:right;background:color-mix(in srgb,var(--accent) calc(var(--w,0)*45%),transparent)}
.scores .best{font-weight:700}
.lines polyline{stroke:hsl(var(--h) 65% var(--arc));stroke-width:2px}
.legend{display:flex;flex-wrap:wrap;gap:2px 14px;font-size:13.5px;color:var(--soft);margin:0}
.legend i{display:inline-block;width:18px;height:3px;border-radius:2px;vertical-align:middle;margin-right:6px;background:hsl(var(--h) 65% var(--arc))}
.save{display:flex;gap:8px;margin:8px 0 0}
.save button{font:inherit;font-size:13px;padding:2px 10px;border:1px solid var(--line);border-radius:8px;background:none;color:var(--soft);cursor:pointer}
.save button:hover{color:var(--ink);border-color:var(--soft)}
.key .held{background:var(--warm)}
.plot{position:relative;height:300px;margin:14px 8px 30px 46px;touch-action:pan-y;clear:both}
.plot svg{position:absolute;inset:0;height:100%;overflow:visible}
.plot polyline{fill:none;vector-effect:non-scaling-stroke;stroke-linejoin:round}
.plot .raw{stroke:var(--accent);stroke-opacity:.28;stroke-width:1px}
.plot .smooth{stroke:var(--accent);stroke-width:2.2px}
.plot .held{stroke:var(--warm);stroke-width:1.6px}
.plot u{position:absolute;width:7px;height:7px;margin:-3.5px;border-radius:50%;background:var(--warm)}
.grid{position:absolute;left:0;right:0;border-top:1px solid var(--line)}
.grid b,.step{font:12.5px system-ui,sans-serif;color:var(--soft);font-variant-numeric:tabular-nums;white-space:nowrap}
.grid b{position:absolute;right:calc(100% + 7px);top:-.75em}
.step{position:absolute;top:calc(100% + 6px);transform:translateX(-50%)}
#linear:checked~.log,#log:checked~.linear{display:none}
.cursor{position:absolute;top:0;bottom:0;width:1px;background:var(--soft);pointer-events:none}
.tip{position:absolute;top:4px;padding:5px 9px;font-size:13px;line-height:1.4;border-radius:8px;background:var(--ink);color:var(--paper);white-space:pre;pointer-events:none;font-variant-numeric:tabular-nums}
.strip{display:flex;gap:2px;height:14px;margin:0 8px 4px 46px}
.strip i{flex:1;border-radius:2px;background:color-mix(in srgb,var(--warm) calc(var(--w)*100%),var(--ground))}
.under{display:flex;justify-content:space-between;gap:16px;font-size:13.5px;color:var(--soft);margin:0 8px 0 46px}
table{border-collapse:collapse;width:100%}
td,th{text-align:left;padding:6px 14px 6px 0;border-bottom:1px solid var(--line);vertical-align:top;font-weight:400}
tr:last-child>*{border-bottom:0}
code,pre{font:15px/1.5 ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;unicode-bidi:isolate;overflow-wrap:anywhere}
pre{white-space:pre-wrap;background:var(--ground);border-radius:10px;padding:14px 16px;margin:10px 0;font-size:14px}
pre b,td b{color:var(--accent)}
del{color:var(--wrong)}
.options{columns:3 220px;column-gap:34px;margin:8px 0 0}
.options div{display:flex;justify-content:space-between;gap:12px;border-bottom:1px solid var(--line);padding:4px 0;break-inside:avoid}
.options dt{color:var(--soft)}
.options dd{margin:0;font-variant-numeric:tabular-nums;text-align:right;overflow-wrap:anywhere}
footer{color:var(--soft);font-size:13.5px;text-align:center;margin-top:26px}
@media(max-width:600px){body{padding:18px 12px 40px}section{padding:16px 14px 12px}.plot{height:230px;margin-left:38px}.strip,.under{margin-left:38px}.key{float:none;display:block;margin:8px 0 0 -14px}.under{display:block}.under span{display:block}}
@media print{#theme,.save,.chart label,.chart input{display:none}section{break-inside:avoid}}
)css";
}

}  // namespace train
