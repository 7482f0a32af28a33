// The output of the guest up to the moment.
import { Terminal as Xterm } from '@xterm/xterm';
import { useEffect, useRef } from 'preact/hooks';
import type { Focus, Opened } from '../protocol.ts';

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
  const xterm = useRef<Xterm>();
  const written = useRef(0);
  useEffect(() => {
    const made = new Xterm({
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
    xterm.current = made;
    return () => made.dispose();
  }, []);
  useEffect(() => {
    xterm.current!.reset();
    written.current = 0;
  }, [opened]);
  useEffect(() => {
    const { bytes, units } = opened.console;
    const isEnd = focus.unit >= opened.last;
    const now = isEnd ? bytes.length : printedAt(units, focus.unit);
    if (now < written.current) {
      xterm.current!.reset();
      written.current = 0;
    }
    xterm.current!.write(bytes.subarray(written.current, now));
    written.current = now;
  }, [opened, focus]);
  return (
    <section class="terminal" aria-label="console">
      <h2>Console</h2>
      <div ref={host} />
    </section>
  );
}
