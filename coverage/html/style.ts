/** The look of the HTML report: ink on paper, one accent, states told by shape as well as by colour; light and dark. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --paper: #fcfbf8; --sheet: #ffffff; --ink: #1b1d20; --soft: #5d6168; --faint: #6f747b; --rule: #e4e1d9; --wash: #f4f2ec;
  --accent: #2b5c8a; --good: #2e7d4f; --warn: #9a6700; --bad: #b3362b;
  --good-wash: #edf6ee; --warn-wash: #fbf3dc; --bad-wash: #fbecea; --mark: #fff2b3;
  --comment: #6a737d; --keyword: #5b3f91; --string: #8a4b12; --number: #1f5f7a;
  --sans: system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", "JetBrains Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace;
}
@media (prefers-color-scheme: dark) { :root:not([data-theme="light"]) {
  --paper: #14161a; --sheet: #191c21; --ink: #e2e4e8; --soft: #a0a6af; --faint: #8a919b; --rule: #2c3037; --wash: #1f2329;
  --accent: #86b6e2; --good: #6cc08b; --warn: #dbab4c; --bad: #ee8a7f;
  --good-wash: #182a20; --warn-wash: #2d2616; --bad-wash: #311d1c; --mark: #5a4a12;
  --comment: #8b949e; --keyword: #c3a6f0; --string: #e0b080; --number: #8ec7dd;
} }
:root[data-theme="dark"] {
  color-scheme: dark;
  --paper: #14161a; --sheet: #191c21; --ink: #e2e4e8; --soft: #a0a6af; --faint: #8a919b; --rule: #2c3037; --wash: #1f2329;
  --accent: #86b6e2; --good: #6cc08b; --warn: #dbab4c; --bad: #ee8a7f;
  --good-wash: #182a20; --warn-wash: #2d2616; --bad-wash: #311d1c; --mark: #5a4a12;
  --comment: #8b949e; --keyword: #c3a6f0; --string: #e0b080; --number: #8ec7dd;
}
:root[data-theme="light"] { color-scheme: light; }
* { box-sizing: border-box; }
html { scroll-padding-top: 7rem; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 var(--sans); }
a { color: inherit; text-decoration: none; }
a:hover { color: var(--accent); text-decoration: underline; text-underline-offset: 3px; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; border-radius: 3px; }
button, input, select { font: inherit; color: inherit; background: var(--sheet); border: 1px solid var(--rule); border-radius: 5px; }
button { cursor: pointer; padding: .15rem .55rem; white-space: nowrap; }
button:hover { border-color: var(--accent); }
kbd { font: 12px var(--mono); border: 1px solid var(--rule); border-bottom-width: 2px; border-radius: 4px; padding: 0 .35em; }
.skip { position: absolute; left: -99em; } .skip:focus { left: 1rem; top: .5rem; background: var(--sheet); padding: .3rem; z-index: 9; }
header { position: sticky; top: 0; z-index: 5; display: flex; gap: 1.4rem; align-items: center; padding: .55rem 1.5rem;
  background: var(--paper); border-bottom: 1px solid var(--rule); }
header .brand { font-weight: 650; letter-spacing: -.01em; white-space: nowrap; }
nav { display: flex; gap: 1.1rem; }
nav a { color: var(--soft); padding: .15rem 0; border-bottom: 2px solid transparent; }
nav a[aria-current] { color: var(--ink); border-color: var(--accent); text-decoration: none; }
header .space { flex: 1; }
.search { position: relative; }
.search input { width: min(22rem, 28vw); padding: .25rem .7rem; }
.search ul { position: absolute; right: 0; top: 2.2rem; width: min(42rem, 80vw); max-height: 70vh; overflow: auto; margin: 0; padding: .3rem;
  list-style: none; background: var(--sheet); border: 1px solid var(--rule); border-radius: 7px; box-shadow: 0 8px 30px #0002; }
.search li a { display: flex; gap: 1rem; padding: .25rem .6rem; border-radius: 4px; font: 13px/1.5 var(--mono); }
.search li a:hover, .search li[aria-selected="true"] a { background: var(--wash); text-decoration: none; }
.search li span { color: var(--faint); margin-left: auto; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; max-width: 55%; }
main { padding: 1.6rem 1.5rem 5rem; max-width: 78rem; margin: 0 auto; }
main.wide { max-width: none; }
h1 { font-size: 1.55rem; font-weight: 620; letter-spacing: -.018em; line-height: 1.25; margin: 0 0 .2rem; overflow-wrap: anywhere; }
h2 { font-size: 1rem; font-weight: 620; margin: 2.2rem 0 .6rem; }
.meta { color: var(--soft); margin: 0 0 1.6rem; }
.meta b { color: var(--ink); font-weight: 550; }
.figures { display: grid; grid-template-columns: repeat(3, 1fr); gap: 2.5rem; margin: 1.4rem 0 1.8rem; }
.figures > div { border-top: 1px solid var(--rule); padding-top: .7rem; }
.figures .big { font-size: 2.35rem; font-weight: 300; letter-spacing: -.03em; font-variant-numeric: tabular-nums; line-height: 1.1; }
.figures .big small { font-size: 1.1rem; color: var(--soft); margin-left: .1em; }
.figures p { margin: .1rem 0 .6rem; color: var(--soft); }
.meter { display: flex; height: 5px; border-radius: 3px; overflow: hidden; background: var(--rule); min-width: 5rem; }
.meter i { background: var(--good); } .meter i + i { background: var(--warn); }
.notice { border-left: 3px solid var(--bad); background: var(--bad-wash); padding: .5rem .9rem; margin: 0 0 .5rem; border-radius: 0 5px 5px 0; }
.notice.mild { border-color: var(--warn); background: var(--warn-wash); }
table { border-collapse: collapse; width: 100%; }
.list th { text-align: left; font-weight: 500; color: var(--soft); font-size: 13px; padding: .3rem .7rem; border-bottom: 1px solid var(--rule); }
.list th button { border: 0; padding: 0; background: none; color: inherit; } .list th[aria-sort] button { color: var(--ink); font-weight: 600; }
.list td { padding: .26rem .7rem; border-bottom: 1px solid var(--rule); font-variant-numeric: tabular-nums; }
.list tr:hover td { background: var(--wash); }
.list .num { text-align: right; white-space: nowrap; } .list .quiet { color: var(--soft); }
.list td.name { width: 99%; font: 13.5px/1.6 var(--mono); overflow-wrap: anywhere; } .list td.name.dir { font-weight: 600; }
.list td.name button { border: 0; background: none; padding: 0; font: inherit; width: 1.3em; text-align: left; color: var(--soft); }
.list .meter { width: 7rem; } .list td.name.quiet { width: auto; white-space: nowrap; }
.foot { color: var(--soft); font-size: 13.5px; max-width: 62rem; margin-top: 2.4rem; border-top: 1px solid var(--rule); padding-top: 1rem; }
.file { display: grid; grid-template-columns: 17rem minmax(0, 1fr); gap: 1.6rem; align-items: start; }
.file aside { position: sticky; top: 4rem; max-height: calc(100vh - 5rem); overflow: auto; font-size: 13.5px; }
.file aside ol { list-style: none; margin: 0; padding: 0; }
.file aside li a { display: grid; grid-template-columns: 1fr auto; gap: .1rem .6rem; padding: .22rem .5rem; border-radius: 4px; }
.file aside li a:hover { background: var(--wash); text-decoration: none; }
.file aside code { font: 12.5px var(--mono); overflow: hidden; text-overflow: ellipsis; }
.file aside li.none code { color: var(--faint); } .file aside span { text-align: right; color: var(--soft); font-variant-numeric: tabular-nums; }
.tools { display: flex; gap: .8rem; align-items: center; margin: .2rem 0 .8rem; color: var(--soft); flex-wrap: wrap; }
.legend { display: flex; gap: 1rem; margin-left: auto; font-size: 13px; }
.legend i { display: inline-block; width: 4px; height: 1em; vertical-align: -2px; margin-right: .45em; }
.i-c { background: var(--good); }
.i-p { background: repeating-linear-gradient(0deg, var(--warn) 0 4px, transparent 4px 7px); }
.i-u { background: none; box-shadow: inset 0 0 0 1px var(--bad); }
.code { font: 13px/1.55 var(--mono); background: var(--sheet); border: 1px solid var(--rule); border-radius: 7px; overflow-x: auto; padding: .5rem 0; }
.code table { width: 100%; tab-size: 8; }
.code td { padding: 0; vertical-align: top; }
.code .n { width: 1%; padding: 0 .9rem 0 1rem; text-align: right; color: var(--faint); user-select: none; }
.code .h { width: 1%; padding: 0 .8rem; text-align: right; color: var(--soft); user-select: none; font-variant-numeric: tabular-nums; }
.code .g { width: 4px; min-width: 4px; }
.code .s { white-space: pre; padding: 0 1rem 0 .9rem; }
.code tr.c .s { background: var(--good-wash); } .code tr.c .g { background: var(--good); }
.code tr.p .s { background: var(--warn-wash); } .code tr.p .g { background: repeating-linear-gradient(0deg, var(--warn) 0 4px, transparent 4px 7px); }
.code tr.u .s { background: var(--bad-wash); } .code tr.u .g { box-shadow: inset 0 0 0 1px var(--bad); }
.code tr.u .h { color: var(--bad); }
.code tr:hover .n, .code tr.at .n { color: var(--accent); font-weight: 600; } .code tr.at .s { box-shadow: inset 0 0 0 1px var(--accent); }
.code .k { color: var(--keyword); } .code .m { color: var(--comment); font-style: italic; } .code .t { color: var(--string); } .code .d { color: var(--number); }
.code .cmp { font: 11px var(--mono); border: 1px solid var(--rule); color: var(--accent); padding: 0 .4em; margin-left: 1.2em; border-radius: 8px; }
.pop { position: fixed; z-index: 8; max-width: 34rem; background: var(--sheet); border: 1px solid var(--rule); border-radius: 7px; padding: .55rem .8rem;
  box-shadow: 0 8px 30px #0003; font-size: 13px; pointer-events: none; }
.pop table { width: auto; font: 12px/1.6 var(--mono); margin-top: .3rem; } .pop td { padding: 0 1rem 0 0; } .pop td.num { text-align: right; }
.pop p { margin: 0; } .pop .soft { color: var(--soft); }
.calls { display: grid; grid-template-columns: 19rem minmax(0, 1fr); gap: 1.6rem; align-items: start; }
.calls ol { list-style: none; padding: 0; margin: 0; max-height: calc(100vh - 12rem); overflow: auto; font-size: 13.5px; }
.calls li a { display: grid; grid-template-columns: 1fr auto; padding: .28rem .6rem; border-radius: 4px; gap: 0 .6rem; }
.calls li a:hover { background: var(--wash); text-decoration: none; } .calls li a[aria-current] { background: var(--wash); box-shadow: inset 3px 0 0 var(--accent); }
.calls li code { font: 13px var(--mono); } .calls li small { color: var(--soft); grid-column: 1 / -1; }
.flame { position: relative; background: var(--sheet); border: 1px solid var(--rule); border-radius: 7px; overflow: hidden; margin-top: .6rem; }
.flame button { position: absolute; height: 21px; padding: 0 5px; border: 0; border-radius: 2px; font: 12px/21px var(--mono); text-align: left; overflow: hidden;
  white-space: nowrap; text-overflow: clip; color: #15171a; box-shadow: inset -1px -1px 0 var(--sheet); }
.flame button.inl { font-style: italic; } .flame button:hover, .flame button:focus { filter: brightness(1.08) saturate(1.5); z-index: 2; }
.axis { display: flex; justify-content: space-between; color: var(--faint); font: 12px var(--mono); padding: .15rem .1rem; }
dialog { border: 1px solid var(--rule); border-radius: 9px; background: var(--sheet); color: var(--ink); padding: 1.2rem 1.6rem; }
dialog::backdrop { background: #0005; } dialog dl { display: grid; grid-template-columns: auto 1fr; gap: .4rem 1.2rem; margin: 0; } dialog dd { margin: 0; }
@media (max-width: 60rem) { .file, .calls { grid-template-columns: minmax(0, 1fr); } .file aside { position: static; max-height: 14rem; } header { flex-wrap: wrap; } }
@media print { header, .tools, aside { display: none; } .code { border: 0; } }
@media (prefers-reduced-motion: no-preference) { .flame button { transition: filter .1s; } }
`;
