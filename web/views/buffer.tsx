// The kcov buffer at the moment: word 0, and the records with the code that wrote them. A click goes
// to the moment of a record, or to its line; each word can be followed as a datum.
import { useEffect, useState } from 'preact/hooks';
import type { BufferView } from '../protocol.ts';
import type { Client } from './client.ts';
import type { Shown } from './shown.ts';

export function Buffer({
  client,
  buffer: latest,
  unit: now,
  onFollow,
  onSeek,
  onShow,
}: {
  client: Client;
  /** With its last records. */
  buffer: BufferView | undefined;
  unit: number;
  onFollow: (what: string) => void;
  onSeek: (unit: number) => void;
  onShow: (shown: Shown) => void;
}) {
  /** The page that the reader has turned to. */
  const [turned, setTurned] = useState<BufferView>();
  useEffect(() => setTurned(undefined), [latest]);
  const buffer = turned ?? latest;
  if (!buffer) return <p class="empty">Nothing was recorded up to here.</p>;
  const { owner, mode, words, count, address, records, rows } = buffer;
  const [first, last] = [rows[0]?.index ?? 0, rows.at(-1)?.index ?? 0];
  const turn = (from: number): void => {
    void client.ask('buffer', { from: Math.max(0, from) }).then(setTurned, () => {});
  };
  const size = rows.length;
  return (
    <>
      <p>
        {owner} {mode}
        {words > 0 && `; ${words.toLocaleString('en-US')} words`}
      </p>
      <p>
        word 0: <b class="word0">{count}</b> {count === '1' ? 'record' : 'records'}{' '}
        <button
          type="button"
          class="who"
          title="follow word 0 as a datum"
          onClick={() => onFollow(`@${address}`)}
        >
          follow
        </button>
      </p>
      {records > size && (
        <p class="pages">
          <button type="button" disabled={first === 0} onClick={() => turn(0)} title="the first records">
            ⇤
          </button>
          <button
            type="button"
            disabled={first === 0}
            onClick={() => turn(first - size)}
            title="the records before these"
          >
            ←
          </button>
          <span>
            {first.toLocaleString('en-US')} to {last.toLocaleString('en-US')} of{' '}
            {records.toLocaleString('en-US')}
          </span>
          <button
            type="button"
            disabled={last === records - 1}
            onClick={() => turn(last + 1)}
            title="the records behind these"
          >
            →
          </button>
          <button
            type="button"
            disabled={last === records - 1}
            onClick={() => setTurned(undefined)}
            title="the last records"
          >
            ⇥
          </button>
        </p>
      )}
      <ol class="records">
        {rows
          .toReversed()
          .map(({ index, word, address: at, function: name, file, line, unit, comparison }) => (
            <li key={index}>
              <button
                type="button"
                class="record"
                title={unit === undefined ? word : `${word}, written at unit ${unit.toLocaleString('en-US')}`}
                aria-current={unit !== undefined && unit === now - 1 ? 'true' : undefined}
                onClick={() => (unit === undefined ? onShow({ file, line }) : onSeek(unit))}
              >
                <span class="index">{index}</span> <b>{name}</b>{' '}
                <span>{line > 0 ? `${file.replace(/.*\//, '')}:${line}` : word}</span>
                {comparison !== undefined && <span class="comparison">{comparison}</span>}
              </button>
              <button
                type="button"
                class="who"
                aria-label={`follow record ${index} as a datum`}
                title="follow this word as a datum"
                onClick={() => onFollow(`@${at}`)}
              >
                ◇
              </button>
            </li>
          ))}
      </ol>
    </>
  );
}
