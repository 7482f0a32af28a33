// `when` counts executions. An instruction that traps is reached twice and runs once: a first store
// to a page, a load that the timer interrupts.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ASSEMBLER } from '../support/asm.ts';
import { kcovbox } from '../support/command.ts';
import { missing } from '../support/tools.ts';

const dir = mkdtempSync(join(tmpdir(), 'kcovbox-when-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Each store of line 5 is the first to its page; lines 6 to 8 run for some ticks of the timer. */
const PROGRAM = `static volatile char pages[16 * 4096] __attribute__((aligned(4096)));
static volatile unsigned long sum;
int main(void) {
  for (int i = 0; i < 16; i++)
    pages[i * 4096] = 1;
  for (unsigned long i = 0; i < 300; i++)
    for (unsigned long k = 0; k < 40000; k++)
      __asm__ volatile("" ::: "memory");
  sum = 3;
  return 0;
}
`;

test.skipIf(missing('clang and lld', ASSEMBLER))('an instruction that traps ran once', () => {
  writeFileSync(join(dir, 'traps.c'), PROGRAM);
  const recorded = kcovbox(['run', '--record', 'traps.kcapsule', 'traps.c'], { cwd: dir });
  expect(recorded.status).toBe(0);
  const lines = [5, 9, 10].flatMap(line => ['-x', `when traps.c:${line}`]);
  const { stdout } = kcovbox(['debug', 'traps.kcapsule', ...lines], { cwd: dir });
  expect([...stdout.matchAll(/^it ran (\d+) time/gm)].map(([, times]) => Number(times))).toEqual([16, 1, 1]);
});
