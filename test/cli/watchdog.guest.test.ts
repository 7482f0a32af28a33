// Signals end a run within a second, also if a device access never returns.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assemble } from '../support/asm.ts';
import { COMMAND } from '../support/command.ts';
import { nodeVersions } from '../support/nodes.ts';
import { findProgram, missing } from '../support/tools.ts';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const PYTHON = findProgram('python3');
const dir = mkdtempSync(join(tmpdir(), 'kcovbox-watchdog-'));
const BUNDLE = join(dir, 'stuck.cjs');
const KERNEL = join(dir, 'kernel.elf');
const LAST_KERNEL = join(dir, 'last.elf');
const TOLD = join(dir, 'told');
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/**
 * Reads the device until it gets stuck. Where it does not, the guest goes on or ends with status 7.
 */
const guest = (isLast: boolean) => `
  li t1, 0x30000000
1: lw t0, 0(t1)
  ${isLast ? 'bnez t0, 3f' : ''}
  li t2, 100000
2: addi t2, t2, -1
  bnez t2, 2b
  j 1b
3: li t0, 0x73333
  li t1, 0x100000
  sw t0, 0(t1)
  j .
`;

beforeAll(async () => {
  writeFileSync(KERNEL, assemble(guest(false)).bytes);
  writeFileSync(LAST_KERNEL, assemble(guest(true)).bytes);
  await build({
    entryPoints: [join(ROOT, 'test', 'support', 'stuck-main.ts')],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    define: { 'import.meta.url': 'url' },
    banner: { js: "const url = require('node:url').pathToFileURL(__filename).href;" },
    outfile: BUNDLE,
    logLevel: 'error',
  });
});

/** How the run ended after the signal, and after how many seconds. */
async function interrupt(node: string, way: string, signal: NodeJS.Signals, kernel = KERNEL) {
  rmSync(TOLD, { force: true });
  const child = spawn(node, [BUNDLE, way, kernel, TOLD], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stderr!.on('data', (text: Buffer) => {
    said += text;
  });
  await once(child.stdout!, 'data');
  const start = process.hrtime.bigint();
  child.kill(signal);
  writeFileSync(TOLD, '');
  const [status, killedBy] = (await once(child, 'exit')) as [number | null, string | null];
  return { status: status ?? killedBy, said, seconds: Number(process.hrtime.bigint() - start) / 1e9 };
}

/** The claim, from the signal to the end of the process. */
const SOON = 1;
/** A busy machine makes some attempts late; a watchdog that is too slow makes all late. */
const ATTEMPTS = 6;

const line = (signal: string): string =>
  `kcovbox: interrupted by ${signal} in a device or a call of the host that did not return; no file is written\n`;
const CASES = [
  ['javascript', 'SIGTERM', 143, line('SIGTERM')],
  ['webassembly', 'SIGINT', 130, line('SIGINT')],
  ['wait', 'SIGHUP', 129, line('SIGHUP')],
  ['kernel', 'SIGTERM', 'SIGTERM', ''],
] as const;
const versions = nodeVersions().map((node, i) => ({ ...node, cases: i === 0 ? CASES : CASES.slice(0, 2) }));

describe.each(versions)('Node.js $major', ({ path, cases }) => {
  test.each(cases)('stuck in %s, %s: %s', async (way, signal, status, said) => {
    let soonest = Infinity;
    for (let i = 0; i < ATTEMPTS && soonest >= SOON; i++) {
      const end = await interrupt(path, way, signal);
      expect(end).toMatchObject({ status, said });
      soonest = Math.min(soonest, end.seconds);
    }
    expect(soonest).toBeLessThan(SOON);
  });

  test('not stuck: ends in order', async () => {
    const end = await interrupt(path, 'guest', 'SIGINT');
    expect(end).toMatchObject({ status: 130, said: 'interrupted in order\n' });
  });

  test('in the last slice: the guest ends with 7, the command with the signal', async () => {
    const end = await interrupt(path, 'last', 'SIGINT', LAST_KERNEL);
    expect(end).toMatchObject({ status: 130, said: 'exit 7\n' });
  });
});

describe.skipIf(missing('python3', PYTHON))('the terminal is as it was before', () => {
  test.each([
    ['javascript', 143],
    ['wait', 143],
    ['kernel', -15],
    ['guest', 143],
  ])('stuck in %s', (way, status) => {
    const command = [join(ROOT, 'test', 'cli', 'person.py'), process.execPath, BUNDLE, way, KERNEL];
    const { stdout } = spawnSync(PYTHON!, command, {
      encoding: 'utf8',
      input: 'expect R\nwait 0.1\nsignal SIGTERM\n',
      timeout: 100_000,
    });
    expect(JSON.parse(stdout)).toMatchObject({ status, restored: true });
  });
});

// A report is being written at some of these times, and the process is about to exit at others.
test.each([10, 60, 150, 200, 250, 300, 350, 400])(
  'a second signal after %i ms does not take the outputs',
  async ms => {
    const program = join(dir, 'spin.c');
    writeFileSync(program, '#include <stdio.h>\nint main(void) { puts("spins"); for (;;); }\n');
    const files = ['record.kcapsule', 'result.json', 'cover.html'].map(name => join(dir, name));
    for (const file of files) rmSync(file, { force: true });
    const [record, result, cover] = files as [string, string, string];
    const outputs = ['--trace', '--record', record, '--result', result, '--cover', cover];
    const child = spawn(process.execPath, [COMMAND, 'run', ...outputs, program]);
    child.stderr.resume();
    const end = once(child, 'exit');
    await once(child.stdout, 'data');
    child.kill('SIGINT');
    await setTimeout(ms);
    child.kill('SIGINT');
    // Node.js gives signals their default effect back some milliseconds before the process ends: a
    // shell has the same status then.
    const [status, signal] = await end;
    expect(signal ?? 'SIGINT').toBe('SIGINT');
    expect(status ?? 128 + constants.signals.SIGINT).toBe(130);
    for (const file of files) expect(existsSync(file), file).toBe(true);
  },
);
