// Motion in both directions, by buttons and by keys.
import { useEffect } from 'preact/hooks';
import type { Focus, Motion, Opened } from '../protocol.ts';

interface Row extends Motion {
  readonly key: string;
  readonly label: string;
  readonly title: string;
}

const ROWS: readonly Row[] = [
  { way: 'continue', direction: 'back', key: 'C', label: '↞', title: 'back to the breakpoint before' },
  { way: 'next', direction: 'back', key: 'N', label: '←', title: 'to the line before, over calls' },
  { way: 'step', direction: 'back', key: 'S', label: '↖', title: 'to the line before, into calls' },
  { way: 'instruction', direction: 'back', key: 'I', label: '‹', title: 'one instruction back' },
  { way: 'instruction', direction: 'forward', key: 'i', label: '›', title: 'one instruction' },
  { way: 'step', direction: 'forward', key: 's', label: '↘', title: 'to the next line, into calls' },
  { way: 'next', direction: 'forward', key: 'n', label: '→', title: 'to the next line, over calls' },
  { way: 'continue', direction: 'forward', key: 'c', label: '↠', title: 'to the next breakpoint' },
  { way: 'finish', direction: 'back', key: 'F', label: '↥', title: 'back to the call of this function' },
  { way: 'finish', direction: 'forward', key: 'f', label: '↧', title: 'out of this function' },
];

export function Controls({
  opened,
  focus,
  onMove,
  onSeek,
}: {
  opened: Opened;
  focus: Focus | undefined;
  onMove: (motion: Motion) => void;
  onSeek: (unit?: number) => void;
}) {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (target.closest('dialog')) return;
      if (event.ctrlKey || event.altKey || event.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName))
        return;
      const row = ROWS.find(({ key }) => key === event.key);
      if (!row) return;
      event.preventDefault();
      onMove({ way: row.way, direction: row.direction });
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  });
  return (
    <div class="controls" role="toolbar" aria-label="motion">
      <button type="button" title="to the beginning of the program" onClick={() => onSeek()}>
        ⇤
      </button>
      {ROWS.map(({ way, direction, key, label, title }) => (
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
      <button type="button" title="to the end of the run" onClick={() => onSeek(opened.last)}>
        ⇥
      </button>
      <label class="unit">
        unit{' '}
        <input
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
      <span class="reason">{focus?.reason}</span>
    </div>
  );
}
