// Source lines behind reports: the same text however the bytes are cut, and however late the
// symbols come.
import { expect, test } from 'vitest';
import { ReportFilter } from '../../cli/io/report-filter.ts';
import { isReportLine } from '../../cli/run/report-patterns.ts';
import { Random } from '../support/random.ts';

const FRAME = '  [<ffffffff80200226>] trap_common+0x6c';
const LINES = ['$ ', 'BUG: KASAN: use-after-free in f+0x1c', FRAME, 'no report', FRAME, `x${FRAME}`, 'last'];

async function printed(text: string, cuts: readonly number[], notes: boolean): Promise<string> {
  const out: Uint8Array[] = [];
  const filter = new ReportFilter({
    needs: isReportLine,
    load: async () => (notes ? { behind: line => ` <${line.trim().length}>` } : undefined),
    write: bytes => out.push(bytes.slice()),
  });
  const bytes = new TextEncoder().encode(text);
  let from = 0;
  for (const cut of [...cuts, bytes.length]) {
    filter.write(bytes.subarray(from, cut));
    from = cut;
    if (cut % 3 === 0) await Promise.resolve();
  }
  await filter.settle();
  return Buffer.concat(out).toString();
}

test.each(['\n', '\r\n'])('lines that end with %j', async end => {
  const text = LINES.join(end);
  const wanted = LINES.map((line, i) =>
    isReportLine(line) && i < LINES.length - 1 ? `${line} <${line.trim().length}>` : line,
  ).join(end);
  const random = new Random(5);
  for (let run = 0; run < 200; run++) {
    let cuts = Array.from({ length: run % 7 }, () => random.below(text.length)).sort((a, b) => a - b);
    // A CR and its LF come together: the tty writes them so, and the console prints whole lines.
    cuts = cuts.filter(at => text[at] !== '\n');
    expect(await printed(text, cuts, true)).toBe(wanted);
    expect(await printed(text, cuts, false)).toBe(text);
  }
});
