// The moments at which a line ran.
import type { Focus, MomentRow } from '../protocol.ts';

const SHOWN = 200;

export function Moments({
  place,
  rows,
  focus,
  onSeek,
  onClose,
}: {
  place: string;
  rows: readonly MomentRow[];
  focus: Focus;
  onSeek: (unit: number, hart: number) => void;
  onClose: () => void;
}) {
  return (
    <section class="moments" aria-label={`moments of ${place}`}>
      <h2>
        {place} ran {rows.length === 0 ? 'never' : rows.length === 1 ? 'once' : `${rows.length} times`}
      </h2>
      <button type="button" class="close" aria-label="close" onClick={onClose}>
        ×
      </button>
      <ol>
        {rows.slice(0, SHOWN).map(({ unit, hart }) => (
          <li key={unit}>
            <button
              type="button"
              aria-current={focus.unit === unit ? 'true' : undefined}
              onClick={() => onSeek(unit, hart)}
            >
              {unit.toLocaleString('en-US')}
            </button>
          </li>
        ))}
      </ol>
      {rows.length > SHOWN && <p>The first {SHOWN} are listed; the time axis shows all.</p>}
    </section>
  );
}
