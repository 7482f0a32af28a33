// The class on one page: a table of all submissions, the reasons and the recorded runs of what
// failed, and pairs that are alike. No script, no font, no address of another server.
import { summary, xml } from './formats.ts';
import type { CheckScore, LabScore } from './schema.ts';
import type { Likeness } from './similarity.ts';

const STYLE = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid #8884; padding: .3rem .6rem; text-align: left; vertical-align: top; }
td.n { text-align: right; font-variant-numeric: tabular-nums; }
.pass { color: #1a7f37; } .part { color: #9a6700; } .skipped { color: #777; }
.fail, .budget, .compile { color: #cf222e; } .error { color: #8250df; font-weight: bold; }
pre { margin: .3rem 0; overflow-x: auto; } code { font-size: 90%; }`;

function checkRow(
  folder: string,
  { id, status, points, of, why, path = [], capsule, try: more = [] }: CheckScore,
): string {
  const details = path.length > 0 ? `<pre><code>${path.map(xml).join('\n')}</code></pre>` : '';
  const link = capsule
    ? ` <a href="${xml(`${encodeURIComponent(folder)}/${capsule}`)}">recorded run</a>`
    : '';
  const commands = more.map(line => `<pre><code>${xml(line)}</code></pre>`).join('');
  const text = `${xml(why)}${link}${details}${commands}`;
  return `<tr><td>${xml(id)}</td><td class="${status}">${status}</td><td class="n">${points}/${of}</td><td>${text}</td></tr>`;
}

function section(score: LabScore): string {
  const { submission, points, of, status, checks, sha256 } = score;
  const rows = checks.map(check => checkRow(submission.name, check)).join('\n');
  return `<details><summary><b>${xml(submission.name)}</b> ${points}/${of} <span class="${status}">${status}</span></summary>
<table>${rows}</table><p><code>${sha256}</code></p></details>`;
}

/** A table of pairs. */
function pairsTable(alike: readonly Likeness[]): string {
  const pairs = alike.map(
    ({ a, b, percent, shared }) =>
      `<tr><td>${xml(a)}</td><td>${xml(b)}</td><td class="n">${percent} %</td><td class="n">${shared}</td></tr>`,
  );
  return pairs.length === 0
    ? '<p>No two submissions are alike.</p>'
    : `<table><tr><th>submission</th><th>submission</th><th>in common</th><th>fingerprints</th></tr>${pairs.join('\n')}</table>`;
}

/** `code`: pairs that are alike in their text; `coverage`: in what their tests execute. */
export function classPage(
  title: string,
  scores: readonly LabScore[],
  { code, coverage }: { readonly code: readonly Likeness[]; readonly coverage: readonly Likeness[] },
): string {
  const { mean, median } = summary(scores);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${xml(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>${STYLE}</style></head>
<body><h1>${xml(title)}</h1>
<p>${scores.length} submissions, mean ${mean}, median ${median}.</p>
${scores.map(section).join('\n')}
<h2>Alike in the text</h2>
${pairsTable(code)}
<h2>Alike in the coverage of their own tests</h2>
${pairsTable(coverage)}
</body></html>
`;
}
