// The calls of a system call or a remote section, in the order of its records. A click goes to the
// moment at which a function was first recorded.
import { useState } from 'preact/hooks';
import { useAnswer } from './answer.ts';
import type { BrowseProps } from './browse-props.ts';

const NONE = { calls: [], more: 0 };

export function Calls({ client, opened, onShow, onSeek }: BrowseProps) {
  const [chosen, setChosen] = useState(0);
  const answer = useAnswer(client, opened, 'calls', {}, NONE);
  if (!answer) return <p class="empty">The calls are being rebuilt.</p>;
  const { calls, more } = answer;
  const path = calls[chosen] ?? calls[0];
  if (!path) return <p class="empty">kcov has recorded no call.</p>;
  return (
    <>
      <select
        aria-label="system call or remote section"
        value={calls.indexOf(path)}
        onChange={event => setChosen(Number(event.currentTarget.value))}
      >
        {calls.map(({ label, by, records }, i) => (
          <option key={i} value={i}>
            {label}, {records.toLocaleString('en-US')} records, {by}
          </option>
        ))}
      </select>
      <ol class="tree">
        {path.nodes.map(({ name, depth, file, line, unit, isInlined }, i) => (
          <li key={i}>
            <button
              type="button"
              style={{ paddingInlineStart: `${0.4 + Math.min(depth, 24) * 0.7}rem` }}
              title={`${file}:${line}${isInlined ? ', inlined' : ''}`}
              onClick={() => (unit === undefined ? onShow({ file, line }) : onSeek(unit))}
            >
              {name}
              {isInlined && <i> inlined</i>}
            </button>
          </li>
        ))}
      </ol>
      {path.isCut && <p class="empty">The first calls are shown.</p>}
      {more > 0 && <p class="empty">{more} system calls with fewer records are left out.</p>}
    </>
  );
}
