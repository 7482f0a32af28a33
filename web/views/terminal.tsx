// The output of the guest up to the moment. A click on a letter goes to the moment at which it was
// printed.
import type { Terminal as Xterm } from '@xterm/xterm';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Focus, Opened } from '../protocol.ts';
import { attributesOf } from './keys.ts';
import { library } from './load.ts';
import { byteAt, lineBeside, printedAt } from './output.ts';

const ROWS = 12;
const COLUMNS = 80;
/** Behind all text that is still to be drawn (RIS), unlike `Xterm.reset`. */
const RESET = '\x1bc';
const MONO = '"SF Mono", "Cascadia Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace';

/** What the keys do with the output. */
export interface OutputCommands {
  line(by: 1 | -1): void;
}

export function Terminal({
  opened,
  focus,
  commands,
  onSeek,
}: {
  opened: Opened;
  focus: Focus;
  /** Is set to what the keys do. */
  commands: { current: OutputCommands | undefined };
  onSeek: (unit: number) => void;
}) {
  const host = useRef<HTMLDivElement>(null);
  const [xterm, setXterm] = useState<Xterm>();
  const written = useRef(0);
  useEffect(() => {
    let made: Xterm | undefined;
    let isOver = false;
    void library<typeof import('@xterm/xterm')>('xterm').then(({ Terminal: Made }) => {
      if (isOver) return;
      made = new Made({
        rows: ROWS,
        cols: COLUMNS,
        convertEol: true,
        disableStdin: true,
        fontSize: 12.5,
        fontFamily: MONO,
        screenReaderMode: true,
        theme: { background: '#16181b', foreground: '#e7e5df', cursor: '#16181b' },
      });
      made.open(host.current!);
      made.attachCustomKeyEventHandler(({ key }) => key.length > 1); // letters are keys of the page
      setXterm(made);
    });
    return () => {
      isOver = true;
      made?.dispose();
    };
  }, []);
  const { bytes, units } = opened.console;
  const printed = focus.unit >= opened.last ? bytes.length : printedAt(units, focus.unit);
  useEffect(() => {
    xterm?.write(RESET);
    written.current = 0;
  }, [opened, xterm]);
  useEffect(() => {
    if (!xterm) return;
    const now = printed;
    if (now < written.current) {
      xterm.write(RESET);
      written.current = 0;
    }
    xterm.write(bytes.subarray(written.current, now));
    written.current = now;
  }, [opened, focus, xterm]);
  const clicked = (event: MouseEvent): void => {
    const screen = host.current?.querySelector('.xterm-screen')?.getBoundingClientRect();
    if (!xterm || !screen || xterm.hasSelection()) return;
    const cell = (offset: number, length: number, count: number): number =>
      Math.max(0, Math.min(count - 1, Math.floor((offset * count) / length)));
    const row = xterm.buffer.active.viewportY + cell(event.clientY - screen.top, screen.height, xterm.rows);
    const column = cell(event.clientX - screen.left, screen.width, xterm.cols);
    const at = byteAt(xterm, bytes.subarray(0, printed), row, column);
    if (at !== undefined) onSeek(units[at]!);
  };
  const act = useRef(clicked);
  act.current = clicked;
  useEffect(() => {
    const listener = (event: MouseEvent): void => act.current(event);
    const element = host.current!;
    element.addEventListener('click', listener);
    return () => element.removeEventListener('click', listener);
  }, []);
  const line = (by: 1 | -1): void => {
    const unit = lineBeside(opened.console, focus.unit, by);
    if (unit !== undefined) onSeek(unit);
  };
  commands.current = { line };
  return (
    <section class="terminal" aria-label="console">
      <h2>
        Console{' '}
        <button type="button" onClick={() => line(-1)} {...attributesOf('output-before')}>
          ← line
        </button>
        <button type="button" onClick={() => line(1)} {...attributesOf('output-next')}>
          line →
        </button>
      </h2>
      <div ref={host} />
    </section>
  );
}
