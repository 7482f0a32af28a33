/** Selection boxes for tests and contexts. */
import { D, groupKey, groupTitle } from './data.ts';
import { esc } from './dom.ts';

const KINDS = [
  ['test', 'Tests'],
  ['context', 'Contexts'],
] as const;

export function groupOptions(chosen: number): string {
  return KINDS.map(([kind, title]) => {
    const options = D.groups.flatMap((group, i) =>
      group.kind === kind
        ? [
            `<option value="${esc(groupKey(group))}"${i === chosen ? ' selected' : ''}>${esc(groupTitle(group))}</option>`,
          ]
        : [],
    );
    return options.length > 0 ? `<optgroup label="${title}">${options.join('')}</optgroup>` : '';
  }).join('');
}

/** Restricts the view to a group; nothing when there is but one. */
export function filterChoice(chosen: number): string {
  if (D.groups.length === 0) return '';
  const more =
    D.ungrouped > 0 ? `<option disabled>${D.ungrouped} more are too many to filter by</option>` : '';
  return `<label class="choice">Show <select data-query="only"><option value="">all records</option>${groupOptions(chosen)}${more}</select></label>`;
}
