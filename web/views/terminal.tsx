// The output of the guest up to the moment.
import type { Terminal as Xterm } from '@xterm/xterm';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Focus, Opened } from '../protocol.ts';
import { library } from './load.ts';

const ROWS = 12;
const COLUMNS = 80;
const MONO = '"SF Mono", "Cascadia Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace';

/** Bytes that were printed before `unit`: places are in order. */
export function printedAt(units: Float64Array, unit: number): number {
  let [low, high] = [0, units.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (units[middle]! < unit) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function Terminal({ opened, focus }: { opened: Opened; focus: Focus }) {
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
      setXterm(made);
    });
    return () => {
      isOver = true;
      made?.dispose();
    };
  }, []);
  useEffect(() => {
    xterm?.reset();
    written.current = 0;
  }, [opened, xterm]);
  useEffect(() => {
    if (!xterm) return;
    const { bytes, units } = opened.console;
    const isEnd = focus.unit >= opened.last;
    const now = isEnd ? bytes.length : printedAt(units, focus.unit);
    if (now < written.current) {
      xterm.reset();
      written.current = 0;
    }
    xterm.write(bytes.subarray(written.current, now));
    written.current = now;
  }, [opened, focus, xterm]);
  return (
    <section class="terminal" aria-label="console">
      <h2>Console</h2>
      <div ref={host} />
    </section>
  );
}
