// The emulator in headless Chromium: another version of V8, without any flag of ours and without
// Node. The runs are the same to the bit.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { prepareGuest } from '../../cli/run/guest.ts';
import { allInMemory } from '../../host/guest.ts';
import { CHROMIUM, QUIET } from '../coverage/browser.ts';
import { assemble, ECHO, FINISH } from '../support/asm.ts';
import { type Case, type Ended, runCase } from '../support/engine-main.ts';
import { pageWith, scriptOf } from '../support/page.ts';
import { missing } from '../support/tools.ts';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const dir = mkdtempSync(join(tmpdir(), 'kcovbox-browser-'));
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

const PROGRAM = `
  #include <math.h>
  #include <stdio.h>
  #include <sys/wait.h>
  #include <unistd.h>
  static unsigned work(unsigned n) {
    double x = n, y = 1;
    unsigned sum = n;
    for (int i = 1; i < 60000; i++) {
      y = fma(y, 1.0000001, x / i);
      sum = sum * 31 + (unsigned)(y * 1000);
      switch (sum % 7) { case 0: sum ^= i; break; case 3: sum += 5; break; case 6: x = sqrt(x + i); }
    }
    return sum;
  }
  int main(void) {
    for (int i = 0; i < 3; i++) if (fork() == 0) { printf("%d %08x\\n", i, work(i)); return 0; }
    while (wait(NULL) > 0);
    return 5;
  }`;

/** Echoes three bytes of input, stores code and runs it, and reads the clocks. */
const BARE = `
    .option norvc
    ${ECHO}
    li s1, 3000
    la s2, 9f
  2: andi t1, s1, 127
    slli t1, t1, 20
    li t0, 0x00050513
    add t0, t0, t1
    sw t0, 0(s2)
    fence.i
  9: addi a0, a0, 0
    addi s1, s1, -1
    bnez s1, 2b
    rdtime t0
    rdcycle t1
    add a0, a0, t0
    xor a0, a0, t1
    andi a0, a0, 127
    ${FINISH}`;

describe.skipIf(missing('chromium', existsSync(CHROMIUM) || undefined))('the emulator in Chromium', () => {
  let browser: Browser;
  let page: Page;
  let cases: Case[];

  beforeAll(async () => {
    const source = join(dir, 'sums.c');
    writeFileSync(source, PROGRAM);
    const guests = await Promise.all([
      prepareGuest(source, [], { dialect: 'linux', kcov: 'off', tty: 'tty=stream' }),
      prepareGuest(join(ROOT, 'guest-programs', 'openbsd-kcov.c'), [], {
        dialect: 'openbsd',
        kcov: 'device',
        tty: 'tty=stream',
      }),
    ]);
    const [sums, kcov] = guests.map(allInMemory).map(({ kernel, initrd, append }) => ({
      bios: 'default' as const,
      kernel: base64(kernel),
      initrd: base64(initrd),
      append,
      input: [],
    }));
    const bare = {
      bios: 'none' as const,
      kernel: base64(assemble(BARE).bytes),
      append: '',
      input: [97, 98, 99],
    };
    cases = (['jit', 'interp'] as const).flatMap(engine => [
      { name: 'bare metal', ...bare, engine, harts: 1, kcov: 'off' as const },
      { name: 'coverage', ...kcov!, engine, harts: 1, kcov: 'device' as const },
      { name: 'floating point on three harts', ...sums!, engine, harts: 3, kcov: 'off' as const },
    ]);
    cases.push({ ...cases[0]!, engine: 'lockstep' });
    browser = await chromium.launch({ executablePath: CHROMIUM, args: QUIET });
    page = await pageWith(browser, await scriptOf('engine-main.ts'));
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(dir, { recursive: true, force: true });
  });

  test('each program ends as in Node, on both engines', async () => {
    const first = new Map<string, Ended>();
    for (const c of cases) {
      const here = runCase(c);
      const there = await page.evaluate(
        one => (globalThis as unknown as { runCase: typeof runCase }).runCase(one),
        c,
      );
      expect(here.result, c.name).toMatchObject({ kind: 'exit' });
      expect(there, `${c.name} with ${c.engine}`).toEqual(here);
      expect(here, `${c.name}: ${c.engine} and the first engine`).toEqual(first.get(c.name) ?? here);
      first.set(c.name, here);
    }
    expect(first.get('floating point on three harts')!.text.match(/^\d [0-9a-f]{8}\r?$/gm)).toHaveLength(3);
    expect(first.get('bare metal')!.text).toBe('abc');
    expect(first.get('floating point on three harts')!.links.length).toBeGreaterThan(6);
  });
});
