// --interactive: a co-process on the other side of two pipes, which writes only after it has read
// the guest's output.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openCapsule } from '../../host/capsule.ts';
import { assemble, FINISH } from '../support/asm.ts';
import { kcovbox } from '../support/command.ts';

const COMMAND = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), 'bin', 'kcovbox.cjs');
const dir = mkdtempSync(join(tmpdir(), 'kcovbox-interactive-'));
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(dir, { recursive: true, force: true });
});

/** A command whose output can be waited for. */
class Dialogue {
  readonly #child: ReturnType<typeof start>;
  readonly ended: Promise<number | null>;
  out = '';
  err = '';
  #read = 0;

  constructor(args: readonly string[]) {
    this.#child = start(args);
    children.push(this.#child);
    this.#child.stdout.on('data', text => {
      this.out += text;
    });
    this.#child.stderr.on('data', text => {
      this.err += text;
    });
    this.#child.stdin.on('error', () => {});
    this.ended = new Promise(done => this.#child.on('close', done));
  }

  /** Waits until this is said, behind what was waited for before. */
  async expect(text: string): Promise<void> {
    for (;;) {
      const at = this.out.indexOf(text, this.#read);
      if (at >= 0) {
        this.#read = at + text.length;
        return;
      }
      if (this.#child.exitCode !== null) throw new Error(`ended before "${text}": ${this.out}${this.err}`);
      await new Promise(next => setTimeout(next, 5));
    }
  }

  say(text: string): void {
    this.#child.stdin.write(text);
  }

  close(): void {
    this.#child.stdin.end();
  }
}

const start = (args: readonly string[]) =>
  spawn(process.execPath, [COMMAND, ...args], { cwd: dir, stdio: ['pipe', 'pipe', 'pipe'] });

describe('run --interactive', () => {
  beforeAll(() => {
    writeFileSync(
      join(dir, 'ask.c'),
      `#include <stdio.h>
       #include <string.h>
       #include <time.h>
       int main(void) {
         char line[64];
         for (int n = 1; ; n++) {
           struct timespec now;
           printf("question %d? ", n);
           fflush(stdout);
           if (!fgets(line, sizeof line, stdin)) break;
           line[strcspn(line, "\\n")] = 0;
           clock_gettime(CLOCK_MONOTONIC, &now);
           printf("\\nanswer %s at %ld.%09ld\\n", line, (long)now.tv_sec, now.tv_nsec);
         }
         printf("\\nend\\n");
         return 7;
       }`,
    );
    writeFileSync(
      join(dir, 'count.c'),
      '#include <stdio.h>\nint main(void) { int n = 0; while (getchar() != EOF) n++; printf("%d\\n", n); return 0; }\n',
    );
    for (const name of ['ask.c', 'count.c']) kcovbox(['build', join(dir, name)], { cwd: dir });
  }, 60_000);

  test('question and answer, and the recording is the same run in both engines', async () => {
    const guest = new Dialogue([
      'run',
      '--interactive',
      '--record',
      'r.kcapsule',
      '--result',
      'r.result',
      'ask.c',
    ]);
    for (let n = 1; n <= 5; n++) {
      await guest.expect(`question ${n}? `);
      guest.say(`word-${n}\n`);
      await guest.expect(`answer word-${n} at `);
    }
    await guest.expect('question 6? ');
    guest.close();
    expect(await guest.ended).toBe(7);
    expect(guest.err).toBe('');
    const { run } = JSON.parse(readFileSync(join(dir, 'r.result'), 'utf8'));
    expect(run.input).toMatchObject({ kind: 'interactive', bytes: 35, rule: null, endAt: null });
    expect(run.input.journal).toMatch(/^[0-9a-f]{64}$/);
    const capsule = openCapsule(join(dir, 'r.kcapsule'));
    expect(capsule.journal()).toHaveLength(6);
    for (const engine of ['jit', 'interp']) {
      const again = kcovbox(['replay', '--engine', engine, 'r.kcapsule'], { cwd: dir, input: 'not read\n' });
      expect(again).toMatchObject({ status: 7, stdout: guest.out });
      expect(again.stderr).toContain('the same run');
    }
  }, 60_000);

  test('a long input through a pipe arrives whole', () => {
    const input = 'x'.repeat(300_000);
    const ran = kcovbox(['run', '--interactive', 'count.c'], { cwd: dir, input });
    expect(ran).toEqual({ status: 0, stdout: '300000\n', stderr: '' });
  }, 60_000);

  test('without it, the command says what the guest waits for', async () => {
    const guest = new Dialogue(['run', 'ask.c']);
    await guest.expect('question 1? ');
    guest.say('early\n');
    while (guest.err === '') await new Promise(next => setTimeout(next, 20));
    expect(guest.err).toMatch(/^kcovbox: the guest waits for standard input, .*--interactive.*\n$/);
    guest.close();
    expect(await guest.ended).toBe(7);
    expect(guest.out).toContain('answer early');
  }, 60_000);
});

test('boot --interactive: firmware that polls the UART gets each byte when it is sent', async () => {
  const source = `
    li s0, 0x10000000
    li s1, '>'
    sb s1, 0(s0)
  1: lbu t0, 5(s0)
    andi t0, t0, 1
    beqz t0, 1b
    lbu t0, 0(s0)
    sb t0, 0(s0)
    li t1, '!'
    bne t0, t1, 1b
    li a0, 0
    ${FINISH}`;
  writeFileSync(join(dir, 'kernel.elf'), assemble(source).bytes);
  const guest = new Dialogue([
    'boot',
    '--interactive',
    '-bios',
    'none',
    '-kernel',
    'kernel.elf',
    '-nographic',
  ]);
  await guest.expect('>');
  for (const byte of 'hello!') {
    guest.say(byte);
    await guest.expect(byte);
  }
  expect(await guest.ended).toBe(0);
  expect(guest.err).toBe('');
}, 60_000);
