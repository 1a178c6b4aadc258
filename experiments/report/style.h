// The style sheet of a report page: one column on phones, and the browser's light or dark mode.
#pragma once

namespace yard::report {

inline constexpr const char* kStyle = R"css(
:root {
  color-scheme: light dark;
  --page: #fcfcfb; --ink: #1d1d1b; --soft: #5f5e58; --line: #dddcd5; --shade: #f1f0ea;
  --c0: #2a78d6; --c1: #d9591f; --c2: #13855f; --c3: #a87400;
  --c4: #c2417c; --c5: #4a3aa7; --c6: #6b8e00; --c7: #8a5a44;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #191918; --ink: #ecebe6; --soft: #a5a49c; --line: #3b3b38; --shade: #252523;
    --c0: #5b9ff0; --c1: #f07f4a; --c2: #35b98a; --c3: #dba52c;
    --c4: #e683ae; --c5: #a79cf2; --c6: #a9c94a; --c7: #c79a83;
  }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 80rem; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: .5rem 0; }
h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; border-bottom: 1px solid var(--line);
  padding-bottom: .25rem; }
h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
p { max-width: 44rem; }
code { font: 12px/1.4 ui-monospace, monospace; color: var(--soft); overflow-wrap: anywhere; }
.provenance { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: 0; }
.provenance dt { color: var(--soft); }
.provenance dd { margin: 0; overflow-wrap: anywhere; }
.facts { list-style: none; margin: .25rem 0 .5rem; padding: 0; display: flex; flex-wrap: wrap;
  gap: 0 1.25rem; }
.facts b { font-weight: 400; color: var(--soft); }
.scroll { overflow-x: auto; margin: .5rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .5rem; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--line); }
thead th, tbody th, .text { white-space: normal; }
tbody th, .text { overflow-wrap: break-word; max-width: 22rem; min-width: 5rem; }
.text { text-align: left; }
thead th { color: var(--soft); font-weight: 400; vertical-align: bottom; }
th[title] { text-decoration: underline dotted; text-underline-offset: .2em; }
tbody th { font-weight: 400; }
th:first-child { text-align: left; position: sticky; left: 0; background: var(--page); }
tr.ours th, tr.ours td { background: var(--shade); font-weight: 600; }
tr.across th { padding-top: 1rem; color: var(--soft); }
.charts { display: grid; gap: 1.25rem;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 26rem), 1fr)); }
figure { margin: 0; min-width: 0; }
figcaption b { display: block; font-weight: 600; }
figcaption span { color: var(--soft); }
.legend { list-style: none; margin: .25rem 0; padding: 0; display: flex; flex-wrap: wrap;
  gap: 0 1rem; font-size: 13px; }
.legend li { display: flex; align-items: center; gap: .35rem; }
.key { width: 22px; height: 8px; flex: none; }
.chart { display: block; width: 100%; height: auto; }
.chart text { font: 12px system-ui, sans-serif; fill: var(--soft); }
.grid { stroke: var(--line); stroke-width: 1; }
.band { fill: var(--shade); }
.mark { stroke: var(--soft); stroke-width: 1; stroke-dasharray: 2 3; }
.line { fill: none; stroke: var(--c); stroke-width: 2; stroke-linejoin: round; }
.dot { fill: var(--c); }
.dashed { stroke-dasharray: 5 4; }
.interval { width: 140px; height: 16px; display: block; margin-left: auto; }
.range { stroke: var(--ink); stroke-width: 7; opacity: .35; }
.middle { fill: var(--ink); }
.c0 { --c: var(--c0); } .c1 { --c: var(--c1); } .c2 { --c: var(--c2); } .c3 { --c: var(--c3); }
.c4 { --c: var(--c4); } .c5 { --c: var(--c5); } .c6 { --c: var(--c6); } .c7 { --c: var(--c7); }
details { margin: 1rem 0; }
summary { cursor: pointer; padding: .4rem 0; }
footer { margin-top: 2rem; color: var(--soft); font-size: 13px; }
@media (max-width: 40rem) {
  .provenance { grid-template-columns: 1fr; }
  .provenance dd { margin-bottom: .4rem; }
}
.headline { font-size: 1.1rem; max-width: 60rem; }
@page { size: A4 landscape; margin: 10mm; }
@media print {
  :root { color-scheme: light; --page: #fff; --ink: #000; --soft: #444; --line: #bbb; }
  body { max-width: none; padding: 0; font-size: 9.5px; }
  .headline { font-size: 12px; }
  .scroll { overflow: visible; }
  th, td { padding: .15rem .3rem; }
  th:first-child { position: static; }
  .interval { width: 90px; }
  .charts { grid-template-columns: 1fr 1fr; }
  figure, tr, h2, h3 { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  details { display: block; }
}
)css";

}  // namespace yard::report
