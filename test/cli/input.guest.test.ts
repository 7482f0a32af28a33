// The same bytes on standard input give the same run, however the host delivers them; guests that
// never idle also receive them.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assemble, FINISH } from '../support/asm.ts';

const COMMAND = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), 'bin', 'kcovbox.cjs');
const dir = mkdtempSync(join(tmpdir(), 'kcovbox-input-'));
const at = (name: string): string => join(dir, name);
afterAll(() => rmSync(dir, { recursive: true, force: true }));

interface Ran {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Of a host that is slow; nothing that the guest does. */
const NOTICE = /^kcovbox: the guest waits for standard input, .*\n/;

type Delivery = 'file' | 'whole' | 'pieces' | 'slowly';

/** Runs the command with `input` on its standard input, delivered in one of four ways. */
async function feed(args: readonly string[], input: string, how: Delivery): Promise<Ran> {
  writeFileSync(at('input'), input);
  const stdin = how === 'file' ? openSync(at('input'), 'r') : 'pipe';
  const child = spawn(process.execPath, [COMMAND, ...args], { cwd: dir, stdio: [stdin, 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout!.on('data', text => {
    stdout += text;
  });
  child.stderr!.on('data', text => {
    stderr += text;
  });
  const done = new Promise<number | null>(resolve => child.on('close', resolve));
  child.stdin?.on('error', () => {}); // the guest may end before its input does
  if (how === 'whole') child.stdin!.end(input);
  else if (how !== 'file') {
    const bytes = Math.ceil(input.length / (how === 'pieces' ? 100 : 5));
    for (let from = 0; from < input.length; from += bytes) {
      child.stdin!.write(input.slice(from, from + bytes));
      await new Promise(next => setTimeout(next, how === 'pieces' ? 1 : 300));
    }
    child.stdin!.end();
  }
  const status = await done;
  return { status, stdout, stderr: stderr.replace(NOTICE, '') };
}

const WAYS: readonly Delivery[] = ['file', 'whole', 'pieces', 'slowly'];

describe('run', () => {
  beforeAll(() => {
    writeFileSync(
      at('lines.c'),
      `#include <stdio.h>
       #include <string.h>
       #include <unistd.h>
       int main(void) {
         char line[64];
         unsigned long n = 0, sum = 0;
         usleep(40000);
         while (fgets(line, sizeof line, stdin)) for (char *p = line; *p; p++, n++) sum = sum * 31 + *p;
         printf("%lu %lx\\n", n, sum);
       }`,
    );
    writeFileSync(at('deaf.c'), 'int main(void) { return 9; }\n');
    writeFileSync(
      at('first.c'),
      '#include <unistd.h>\nint main(void) { char c; return read(0, &c, 1) == 1 ? 3 : 4; }\n',
    );
    for (const name of ['lines.c', 'deaf.c', 'first.c'])
      spawnSync(process.execPath, [COMMAND, 'build', at(name)]);
  });

  test.each([3000, 150_000])(
    '%i bytes from a file, in one piece, in pieces and slowly',
    async bytes => {
      const input = 'a line of text, then more\n'.repeat(bytes / 26 + 1).slice(0, bytes);
      const ends: unknown[] = [];
      for (const how of WAYS)
        for (const engine of how === 'pieces' ? ['interp'] : ['jit']) {
          const result = at(`${how}.json`);
          const end = await feed(['run', '--engine', engine, '--result', result, 'lines.c'], input, how);
          const { runId, run, outcome } = JSON.parse(readFileSync(result, 'utf8'));
          expect(run.input).toEqual({
            kind: 'stream',
            bytes,
            sha256: createHash('sha256').update(input).digest('hex'),
            rule: 'idle-64k',
            endAt: bytes,
            journal: null,
          });
          expect(end.stdout).toMatch(new RegExp(`^${bytes} `));
          ends.push({ ...end, runId, outcome });
        }
      for (const end of ends) expect(end).toEqual(ends[0]);
    },
    100_000,
  );

  test('what is behind the delivered bytes belongs to another run', async () => {
    const ends: unknown[] = [];
    for (const [how, rest] of [
      ['file', 'x'],
      ['pieces', 'y'.repeat(3000)],
    ] as const) {
      const input = `${'a'.repeat((1 << 16) - 1)}\n${rest}`;
      const end = await feed(['run', '--result', at('first.json'), 'first.c'], input, how);
      const { runId, run, outcome } = JSON.parse(readFileSync(at('first.json'), 'utf8'));
      expect(run.input).toMatchObject({ kind: 'stream', bytes: 1 << 16, endAt: null });
      ends.push({ ...end, runId, outcome });
    }
    expect(ends[0]).toMatchObject({ status: 3, stderr: '' });
    expect(ends[1]).toEqual(ends[0]);
  }, 60_000);

  test('a program that never reads does not wait for its input', async () => {
    const child = spawn(process.execPath, [COMMAND, 'run', 'deaf.c'], {
      cwd: dir,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    expect(await new Promise(done => child.on('exit', done))).toBe(9);
    child.stdin.end();
  });
});

/** Prints a0 in hexadecimal digits, lowest first, and ends. */
const PRINT_AND_STOP = `
    li t1, 16
  7: andi t2, a0, 15
    addi t2, t2, 'a'
    sb t2, 0(s0)
    srli a0, a0, 4
    addi t1, t1, -1
    bnez t1, 7b
    li a0, 0
    ${FINISH}`;

/** Echoes until '!' by polling the line status, then prints the time. */
const POLL = `
    li s0, 0x10000000
  1: lbu t0, 5(s0)
    andi t0, t0, 1
    beqz t0, 1b
    lbu t0, 0(s0)
    sb t0, 0(s0)
    li t1, '!'
    bne t0, t1, 1b
    rdtime a0
    ${PRINT_AND_STOP}`;

/** The same by interrupts, while it spins as xv6's scheduler does; the timer interrupts, too. */
const SPIN = `
    la t0, handler
    csrw mtvec, t0
    li s0, 0x10000000
    li s1, 0x0c000000
    li s2, 0x02004000
    li s3, 100000
    li t0, 1
    sb t0, 1(s0)
    sw t0, 40(s1)
    li t1, 0x0c002000
    li t0, 1 << 10
    sw t0, 0(t1)
    sd s3, 0(s2)
    li t0, 0x880
    csrw mie, t0
    csrsi mstatus, 8
  1: addi s5, s5, 1
    j 1b
    .align 2
  handler:
    csrr t0, mcause
    andi t0, t0, 15
    li t1, 7
    bne t0, t1, 2f
    rdtime t0
    add t0, t0, s3
    sd t0, 0(s2)
    mret
  2: li t2, 0x0c200004
    lw t3, 0(t2)
  3: lbu t0, 5(s0)
    andi t0, t0, 1
    beqz t0, 4f
    lbu t0, 0(s0)
    sb t0, 0(s0)
    li t1, '!'
    bne t0, t1, 3b
    mv a0, s5
    ${PRINT_AND_STOP}
  4: sw t3, 0(t2)
    mret`;

describe.each([
  ['polls the UART', POLL],
  ['spins and takes interrupts', SPIN],
])('boot: a kernel that %s', (_, source) => {
  test('gets the same input at the same time, on both engines', async () => {
    writeFileSync(at('kernel.elf'), assemble(source).bytes);
    const input = `${'0123456789'.repeat(20)}!`;
    const ends: Ran[] = [];
    for (const how of WAYS)
      for (const engine of how === 'slowly' ? ['interp'] : ['jit']) {
        const words = [
          'boot',
          '--engine',
          engine,
          '-bios',
          'none',
          '-kernel',
          'kernel.elf',
          '--max-insns',
          '5e9',
        ];
        ends.push(await feed(words, input, how));
      }
    expect(ends[0]).toMatchObject({ status: 0, stderr: '' });
    expect(ends[0]!.stdout.startsWith(input)).toBe(true);
    for (const end of ends) expect(end).toEqual(ends[0]);
  }, 100_000);
});
