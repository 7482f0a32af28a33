/** The report of an experiment: one page, drawn from the data inside it. */
import type { ExperimentReport } from '../../report/shape.ts';
import { bugsSection, findsSection } from './bugs.ts';
import { h, redrawAll } from './dom.ts';
import { finalsSection } from './finals.ts';
import { growthSection } from './growth.ts';
import { functionsSection, onlySection, variantsSection } from './tables.ts';

const report = JSON.parse(document.querySelector('#data')!.textContent) as ExperimentReport;
const main = document.querySelector('main')!;
const dark = document.querySelector('#dark')!;

const trials = report.variants.reduce((sum, variant) => sum + variant.trials, 0);
main.replaceChildren(
  h('h1', {}, report.name),
  h(
    'p',
    { class: 'facts' },
    `${report.variants.length} variants, ${trials} trials with seeds of their own, each of ${report.budget}. Plan `,
    h('code', { class: 'hash' }, report.plan),
  ),
  ...report.notes.map(note => h('p', { class: 'note' }, note)),
  variantsSection(report),
  growthSection(report),
  finalsSection(report),
);
for (const section of [
  bugsSection(report),
  findsSection(report),
  functionsSection(report),
  onlySection(report),
])
  if (section) main.append(section);

document.querySelector<HTMLElement>('#theme')!.onclick = () => {
  const isDark = matchMedia(dark.getAttribute('media')!).matches;
  dark.setAttribute('media', isDark ? 'not all' : 'all');
  redrawAll();
};
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redrawAll);
let width = innerWidth;
addEventListener('resize', () => {
  if (innerWidth === width) return;
  width = innerWidth;
  redrawAll();
});
