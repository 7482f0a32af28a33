// Files of the kernel with the share of their lines that ran.
import { useState } from 'preact/hooks';
import type { FileRow } from '../protocol.ts';
import { useAnswer } from './answer.ts';
import type { BrowseProps } from './browse-props.ts';

const percent = ({ covered, total }: FileRow): number =>
  total === 0 ? 0 : Math.round((100 * covered) / total);

export function Files({ client, opened, measure, shown, onShow }: BrowseProps) {
  const [filter, setFilter] = useState('');
  const [hasAll, setAll] = useState(false);
  const answer = useAnswer(client, opened, 'files', { measure }, []);
  const rows = answer ?? [];
  const wanted = rows.filter(row => row.path.includes(filter) && (hasAll || row.covered > 0));
  return (
    <>
      <input
        type="search"
        placeholder="filter files"
        aria-label="filter files"
        value={filter}
        onInput={event => setFilter(event.currentTarget.value)}
      />
      <ol>
        {wanted.map(row => (
          <li key={row.path}>
            <button
              type="button"
              aria-current={shown?.file === row.path ? 'true' : undefined}
              onClick={() => onShow({ file: row.path, line: 1 })}
            >
              <span class="path">{row.path.replace(/^kernel\//, '')}</span>
              <span class="share" style={{ '--share': `${percent(row)}%` }}>
                {percent(row)} %
              </span>
            </button>
          </li>
        ))}
      </ol>
      {!answer && <p class="empty">The lines are being counted.</p>}
      {answer && wanted.length === 0 && (
        <p class="empty">No file {filter === '' ? 'was recorded' : 'has this name'}.</p>
      )}
      <label class="all">
        <input type="checkbox" checked={hasAll} onChange={event => setAll(event.currentTarget.checked)} />{' '}
        also files without such lines
      </label>
    </>
  );
}
