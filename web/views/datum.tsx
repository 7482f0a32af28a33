// The datum of the focus: its value at the moment, and the instructions that wrote it. Each leads to
// its moment.
import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { DatumView, Focus } from '../protocol.ts';
import type { Client } from './client.ts';
import { attributesOf } from './keys.ts';
import { DATUM_MAX } from './place.ts';

/** Milliseconds: while the reader steps on, nothing is looked for. */
const PAUSE = 150;

export function Datum({
  client,
  focus,
  what,
  field,
  onFollow,
  onWrite,
  onSeek,
}: {
  client: Client;
  focus: Focus;
  what: string | undefined;
  field: RefObject<HTMLInputElement>;
  onFollow: (what: string) => void;
  onWrite: (direction: 'forward' | 'back') => void;
  onSeek: (unit: number, hart: number) => void;
}) {
  const [view, setView] = useState<DatumView>();
  const at = `${what} ${focus.unit} ${focus.hart}`;
  useEffect(() => {
    if (what === undefined) return setView(undefined);
    let isOld = false;
    const later = setTimeout(() => {
      void client.ask('datum', { at }).then(
        now => isOld || setView(now),
        () => isOld || setView(undefined),
      );
    }, PAUSE);
    return () => {
      isOld = true;
      clearTimeout(later);
    };
  }, [client, at]);
  // A value given below would replace what the reader is typing, at each drawing.
  useEffect(() => {
    if (field.current) field.current.value = what ?? '';
  }, [field, what]);
  return (
    <section class="datum" aria-label="datum">
      <h2>Datum</h2>
      <form
        onSubmit={event => {
          event.preventDefault();
          const text = field.current?.value.trim() ?? '';
          if (text !== '') onFollow(text);
        }}
      >
        <input
          ref={field}
          aria-label="datum to follow"
          placeholder="variable, expression, $register"
          maxLength={DATUM_MAX}
          spellcheck={false}
        />
      </form>
      {view && (
        <p class="datum-value">
          <b>{view.value}</b> <span>{view.place}</span>
        </p>
      )}
      {what !== undefined && (
        <p>
          <button type="button" {...attributesOf('wrote')} onClick={() => onWrite('back')}>
            who wrote this?
          </button>{' '}
          <button type="button" {...attributesOf('writes')} onClick={() => onWrite('forward')}>
            who writes it next?
          </button>
        </p>
      )}
      {view && view.writes.length > 0 && (
        <ol aria-label="stores to the datum">
          {view.writes.map(({ unit, hart, place, value }) => (
            <li key={unit}>
              <button type="button" onClick={() => onSeek(unit, hart)} title={`go to unit ${unit}`}>
                <b>{value}</b> <span>{place}</span>
              </button>
            </li>
          ))}
        </ol>
      )}
      {view && !view.isWhole && view.writes.length > 0 && <p class="empty">Earlier ones are left out.</p>}
    </section>
  );
}
