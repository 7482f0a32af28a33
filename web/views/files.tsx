// Files of the kernel with the share of their lines that ran.
import { useEffect, useState } from 'preact/hooks';
import type { FileRow, Measure, Opened } from '../protocol.ts';
import type { Client } from './client.ts';
import type { Shown } from './shown.ts';

const percent = ({ covered, total }: FileRow): number =>
  total === 0 ? 0 : Math.round((100 * covered) / total);

export function Files({
  client,
  opened,
  measure,
  shown,
  onMeasure,
  onShow,
}: {
  client: Client;
  opened: Opened;
  measure: Measure;
  shown: Shown | undefined;
  onMeasure: (measure: Measure) => void;
  onShow: (shown: Shown) => void;
}) {
  const [rows, setRows] = useState<readonly FileRow[]>([]);
  const [filter, setFilter] = useState('');
  const [hasAll, setAll] = useState(false);
  useEffect(() => {
    let isOld = false;
    void client.ask('files', { measure }).then(
      now => isOld || setRows(now),
      () => isOld || setRows([]),
    );
    return () => {
      isOld = true;
    };
  }, [client, opened, measure]);
  const wanted = rows.filter(row => row.path.includes(filter) && (hasAll || row.covered > 0));
  return (
    <>
      <fieldset>
        <legend>Lines that</legend>
        <label>
          <input
            type="radio"
            name="measure"
            checked={measure === 'kcov'}
            onChange={() => onMeasure('kcov')}
          />{' '}
          kcov recorded
        </label>
        <label>
          <input type="radio" name="measure" checked={measure === 'all'} onChange={() => onMeasure('all')} />{' '}
          ran
        </label>
      </fieldset>
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
      {wanted.length === 0 && (
        <p class="empty">No file {filter === '' ? 'was recorded' : 'has this name'}.</p>
      )}
      <label class="all">
        <input type="checkbox" checked={hasAll} onChange={event => setAll(event.currentTarget.checked)} />{' '}
        also files without such lines
      </label>
    </>
  );
}
