// Progress of long work in a log: nothing of short work, then at most a line each ten seconds.
import { afterEach, expect, test, vi } from 'vitest';
import { progressLine } from '../../cli/io/progress.ts';

afterEach(() => vi.restoreAllMocks());

/** The text of `act` on a standard error that is a file; `wait` lets seconds go by. */
function logOf(act: (wait: (seconds: number) => void) => void): string {
  let now = 5_000_000_000n;
  let text = '';
  vi.spyOn(process.hrtime, 'bigint').mockImplementation(() => now);
  vi.spyOn(process.stderr, 'write').mockImplementation(chunk => {
    text += chunk;
    return true;
  });
  const before = process.stderr.isTTY;
  process.stderr.isTTY = false;
  try {
    act(seconds => {
      now += BigInt(seconds) * 1_000_000_000n;
    });
  } finally {
    process.stderr.isTTY = before;
  }
  return text;
}

test('long work: a line each ten seconds, whatever number of steps it has', () => {
  const log = logOf(wait => {
    const line = progressLine({ logs: true });
    for (let second = 0; second <= 25; second++) {
      for (let step = 0; step < 3; step++) line.show(`second ${second}`, second === 25);
      wait(1);
    }
    line.clear();
  });
  expect(log).toBe('kcovbox: second 10\nkcovbox: second 20\n');
});

test('short work, and work that is for a person to watch: none', () => {
  expect(
    logOf(wait => {
      const short = progressLine({ logs: true });
      wait(9);
      short.show('1 of 1', true);
      short.clear();
      const watched = progressLine();
      wait(60);
      watched.show('2 of 2', true);
      watched.clear();
    }),
  ).toBe('');
});
