/**
 * The variants, the functions in which they differ, and the lines that only one of them reached.
 */
import type { ExperimentReport } from '../../report/shape.ts';
import { h, table } from './dom.ts';

export function variantsSection({ variants, baseline }: ExperimentReport): HTMLElement {
  const rows = variants.map(({ name, words, trials, of, totals }, i) => [
    h('span', {}, h('i', { class: `swatch series-${i % 8}` }), name, name === baseline ? ' (baseline)' : ''),
    trials === of ? String(of) : `${trials} of ${of}`,
    words.join(', '),
    `${totals.points} points, ${totals.lines} lines, ${totals.functions} functions`,
  ]);
  return h(
    'section',
    { id: 'variants' },
    h('h2', {}, 'Variants'),
    table(['variant', 'trials', 'what runs', 'what its kernel has'], rows),
  );
}

export function functionsSection({ functions, variants }: ExperimentReport): HTMLElement {
  const rows = functions.map(({ key, isWanted, variants: own }) => [
    h('code', { class: isWanted ? 'wanted' : '' }, key),
    ...own.map(({ trials, points, total }, i) => {
      const share = total === 0 ? 0 : points / total;
      const bar = h('i', {
        class: `bar series-${i % 8}`,
        style: `inline-size:${(share * 3.5).toFixed(2)}rem`,
      });
      return h('span', {}, bar, ` ${points}/${total} in ${trials}`);
    }),
  ]);
  return h(
    'section',
    { id: 'functions' },
    h('h2', {}, 'Functions'),
    functions.length === 0
      ? h('p', {}, 'The variants cover the same points of every function.')
      : h(
          'details',
          { ...(functions.length <= 20 && { open: '' }) },
          h('summary', {}, `${functions.length} functions of the kernel in which the variants differ`),
          table(['function', ...variants.map(({ name }) => name)], rows),
        ),
    h(
      'p',
      { class: 'soft' },
      'Points covered in the median trial, of all; and the number of trials that entered it.',
    ),
  );
}

export function onlySection({ variants }: ExperimentReport): HTMLElement | undefined {
  const some = variants.filter(({ only }) => only.length > 0);
  if (variants.length < 2 || some.length === 0) return undefined;
  return h(
    'section',
    { id: 'only' },
    h('h2', {}, 'Reached by one variant only'),
    some.map(({ name, only }) =>
      h(
        'details',
        {},
        h('summary', {}, `${name}: ${only.length === 200 ? 'at least ' : ''}${only.length} lines`),
        h(
          'p',
          {},
          only.map(line => [h('code', {}, line), ' ']),
        ),
      ),
    ),
  );
}
