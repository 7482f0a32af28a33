// The kcov buffer at the moment: word 0, and the records with the code that wrote them. A click goes
// to the moment of a record, or to its line.
import type { BufferView } from '../protocol.ts';
import type { Shown } from './shown.ts';

export function Buffer({
  buffer,
  unit: now,
  onSeek,
  onShow,
}: {
  buffer: BufferView | undefined;
  unit: number;
  onSeek: (unit: number) => void;
  onShow: (shown: Shown) => void;
}) {
  if (!buffer) return <p class="empty">Nothing was recorded up to here.</p>;
  const { owner, mode, words, count, rows } = buffer;
  return (
    <>
      <p>
        {owner} {mode}
        {words > 0 && `; ${words.toLocaleString('en-US')} words`}
      </p>
      <p>
        word 0: <b class="word0">{count}</b> {count === '1' ? 'record' : 'records'}
      </p>
      <ol class="records">
        {rows.toReversed().map(({ index, word, function: name, file, line, unit, comparison }) => (
          <li key={index}>
            <button
              type="button"
              title={unit === undefined ? word : `${word}, written at unit ${unit.toLocaleString('en-US')}`}
              aria-current={unit !== undefined && unit === now - 1 ? 'true' : undefined}
              onClick={() => (unit === undefined ? onShow({ file, line }) : onSeek(unit))}
            >
              <span class="index">{index}</span> <b>{name}</b>{' '}
              <span>{line > 0 ? `${file.replace(/.*\//, '')}:${line}` : word}</span>
              {comparison !== undefined && <span class="comparison">{comparison}</span>}
            </button>
          </li>
        ))}
      </ol>
    </>
  );
}
