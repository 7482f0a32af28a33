// Motion in both directions, by buttons; keys.ts has the keys of all of them.
import type { RefObject } from 'preact';
import type { Focus, Motion, Opened } from '../protocol.ts';
import { attributesOf, MOTIONS } from './keys.ts';

export function Controls({
  opened,
  focus,
  field,
  onMove,
  onSeek,
  onHelp,
}: {
  opened: Opened;
  focus: Focus | undefined;
  /** The field of the unit. */
  field: RefObject<HTMLInputElement>;
  onMove: (motion: Motion) => void;
  onSeek: (unit?: number) => void;
  onHelp: () => void;
}) {
  return (
    <div class="controls" role="toolbar" aria-label="motion">
      <button type="button" {...attributesOf('begin')} onClick={() => onSeek()}>
        ⇤
      </button>
      {MOTIONS.map(({ way, direction, key, label, title }) => (
        <button
          key={key}
          type="button"
          title={`${title} (${key})`}
          aria-label={title}
          aria-keyshortcuts={key}
          onClick={() => onMove({ way, direction })}
        >
          {label}
        </button>
      ))}
      <button type="button" {...attributesOf('end')} onClick={() => onSeek(opened.last)}>
        ⇥
      </button>
      <label class="unit">
        unit{' '}
        <input
          ref={field}
          type="number"
          min={opened.first}
          max={opened.last}
          value={focus?.unit ?? ''}
          onChange={event => {
            const unit = event.currentTarget.valueAsNumber;
            if (Number.isSafeInteger(unit)) onSeek(Math.min(opened.last, Math.max(opened.first, unit)));
          }}
        />
      </label>
      <button type="button" {...attributesOf('help')} onClick={onHelp}>
        keys
      </button>
      <span class="reason">{focus?.reason}</span>
    </div>
  );
}
