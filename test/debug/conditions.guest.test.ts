// Breakpoints with conditions, and those that say a text: a search beside the emulator's own exact
// knowledge of when a line ran, then the command as a user meets it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DebugSession } from '../../debug/session.ts';
import { exhaust } from '../../emulator/index.ts';
import { ASSEMBLER } from '../support/asm.ts';
import { kcovbox } from '../support/command.ts';
import { Random, seedFromEnvironment, seedText } from '../support/random.ts';
import { missing } from '../support/tools.ts';
import { DapClient } from './dap-client.ts';
import { recordProgram } from './search/compare.ts';

/** Two threads, so that a hart runs the line while the user looks at the other. */
const PROGRAM = `#include <pthread.h>
#include <stdio.h>
struct node { int value; struct node *next; };
double mean;
int count;
__attribute__((noinline)) static void add(int n, struct node *p) {
    mean = n * 0.5;
    count += p ? p->value : 0;
}
static void *work(void *of) {
    struct node last = {(int)(long)of, 0};
    for (int i = 0; i < 100; i++) add(i, i % 3 ? &last : 0);
    return 0;
}
int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, (void *)(i + 5));
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    printf("%d\\n", count);
    return 0;
}
`;
const LINE = 7;

describe.skipIf(missing('clang and lld', ASSEMBLER))('conditions', () => {
  let dir: string;
  let session: DebugSession;
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'kcovbox-conditions-'));
    ({ session } = await recordProgram(dir, PROGRAM, '-O1 -g', 2));
    session.timeline.end();
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  const seed = seedFromEnvironment(0xc0d);
  test(`each motion stops where it holds, and nowhere else, seed ${seedText(seed)}`, () => {
    const random = new Random(seed);
    const place = `random.c:${LINE}`;
    const seen = session.moments(place).map(({ unit, hart }) => {
      session.goto(unit, hart);
      const p = Number(BigInt(session.show(session.evaluate('p'))));
      return { unit, n: Number(session.show(session.evaluate('n'))), p, value: p && shown('p->value') };
    });
    expect(seen.length).toBe(200);
    for (let i = 0; i < 5; i++) {
      const [mod, rest, from] = [20 + random.below(40), random.below(20), 80 + random.below(20)];
      const [condition, holds] = random.pick<[string, (one: (typeof seen)[number]) => boolean]>([
        [`n % ${mod} == ${rest}`, ({ n }) => n % mod === rest],
        [`p && p->value > 5 && n > ${from}`, ({ p, value, n }) => p !== 0 && value > 5 && n > from],
        [`n == ${from}`, ({ n }) => n === from],
        [`!p || n * 0.5 >= ${from} * 0.5`, ({ p, n }) => p === 0 || n >= from],
        ['0', () => false],
      ]);
      const { id } = session.break(place, { condition });
      const wanted = seen.filter(holds).map(({ unit }) => unit);
      const forwards = stops('forward');
      const backwards = stops('back');
      expect({ condition, forwards }).toEqual({ condition, forwards: wanted });
      expect({ condition, backwards }).toEqual({ condition, backwards: wanted.reverse() });
      session.delete(id);
    }
  });

  const shown = (text: string): number => Number(session.show(session.evaluate(text)));

  function stops(direction: 'forward' | 'back'): number[] {
    const units: number[] = [];
    session.goto(direction === 'forward' ? session.timeline.first : session.timeline.latest);
    while (exhaust(session.continue(direction)).kind === 'breakpoint') {
      units.push(session.timeline.position);
      expect(session.where.line).toBe(LINE);
    }
    return units;
  }

  test('a condition that never holds lets a motion be paused', async () => {
    const text = [
      'volatile int x; static void f(int n) { x += n; }',
      'int main(void) { for (int i = 0; i < 20000; i++) f(i); }',
    ].join('\n');
    const folder = mkdtempSync(join(dir, 'long-'));
    const { session: long, start } = await recordProgram(folder, text, '-O0 -g', 1);
    long.timeline.end();
    long.goto(start);
    long.break('f', { condition: 'n < 0' });
    const pieces = (direction: 'forward' | 'back'): number => {
      let count = 0;
      for (const _ of long.continue(direction)) count++;
      return count;
    };
    expect(pieces('forward')).toBeGreaterThanOrEqual(20);
    expect(long.timeline.isAtEnd).toBe(true);
    expect(pieces('back')).toBeGreaterThanOrEqual(20);
    expect(long.timeline.position).toBe(long.timeline.first);
    // A motion that is given up in the midst of an interval leaves no question behind.
    long.timeline.end();
    const { stand } = long;
    const motion = long.continue('back');
    motion.next();
    motion.return({ kind: 'begin' });
    long.abandon(stand);
    expect(long.stand).toEqual(stand);
    long.deleteAll();
    // Backwards, the texts of an interval come from one run through it.
    const said: string[] = [];
    long.break('f', { log: { text: '{n}', say: text => said.push(text) } });
    expect(pieces('back')).toBeLessThan(200);
    expect(said).toEqual(Array.from({ length: 20000 }, (_, i) => `${19999 - i}`));
  });

  // The linker drops functions that nothing calls; their debug information is at address 0.
  test('a function is where it has code', () => {
    const kernel = session.images.at(-1)!;
    const at = [...kernel.functionNames].flatMap(name => kernel.find(name));
    expect(at.length).toBeGreaterThan(1000);
    expect(at.filter(pc => !kernel.hasCode(pc))).toEqual([]);
  });

  const debug = (...commands: string[]) =>
    kcovbox(['debug', 'random.kcapsule', ...commands.flatMap(command => ['-x', command])], { cwd: dir });

  test('the commands', () => {
    const never = 'n == 30 && p'; // p is 0 where n is a multiple of 3
    const { stdout, status } = debug(
      `break add if ${never}`,
      'info breakpoints',
      'continue',
      'delete',
      'watch mean if mean == 25',
      'back',
      'back',
      'log add {n}, {{',
      'break add if(n == 3)',
      'info breakpoints',
    );
    expect({ status, stdout }).toMatchObject({ status: 0 });
    const text = stdout.replace(/0x[0-9a-f]+/g, '0xN').replace(/unit \d+, hart \d/g, 'unit N');
    expect(text).toContain(`1  break add if ${never} (1 place)\n`);
    expect(text).toMatch(/\(kcovbox\) continue\n\d+\nthis is the end of the run: /);
    // The new value counts, also in front of its store; each thread makes one.
    const stop = 'watch 2: mean\n  before: 24.5\n  after:  25\nunit N: add at random.c:7\n';
    expect(text.split(stop).length).toBe(3);
    expect(text).toContain('\n3  log add (1 place): {n}, {{\n4  break add if (n == 3) (1 place)\n');
    expect(text).toMatch(/\n2 {2}watch mean if mean == 25\n$/);
  });

  test('a text in place of a stop', () => {
    const { stdout } = debug(
      'break add if n == 99',
      'log random.c:7 n={n}, {p == 0}, {nope}',
      'continue',
      'finish',
    );
    const said = stdout.split('\n').filter(line => line.startsWith('n='));
    expect(said.length).toBeGreaterThan(99);
    expect(said.slice(0, 2)).toEqual([
      'n=0, 1, <there is no variable nope here>',
      'n=1, 0, <there is no variable nope here>',
    ]);
  });

  test('a condition without a value stops the run and says why; one that is not C is refused', () => {
    const { stdout, status } = debug(
      'break add if nope > 1',
      'continue',
      'break add if (',
      'watch mean if 1 +',
      'log add',
    );
    expect(status).toBe(1);
    expect(stdout).toContain('breakpoint 1\nno value for "nope > 1": there is no variable nope here\n');
    expect(stdout).toContain('a value is expected before the end');
    expect(stdout).toContain('something is missing: log sum.c:7 n is {n}');
  });

  // Behind the prologue of outer() is the code of twice(), which has an n of its own.
  test('a breakpoint of a function means its variables, not those of a function inlined there', async () => {
    const text = `volatile int x;
__attribute__((noinline)) int leaf(int n) { return x += n; }
static inline __attribute__((always_inline)) int twice(int n) {
    x += n;
    return leaf(n) * 2;
}
__attribute__((noinline)) int outer(int n) {
    int sum = twice(n + 100);
    return sum + leaf(n);
}
int main(void) { for (int i = 0; i < 10; i++) x += outer(i); }
`;
    const folder = mkdtempSync(join(dir, 'inlined-'));
    const { session: inlined, start } = await recordProgram(folder, text, '-O2 -g', 1);
    for (const place of ['outer', 'random.c:7'])
      for (const direction of ['forward', 'back'] as const) {
        if (direction === 'forward') inlined.goto(start);
        else inlined.timeline.end();
        const said: string[] = [];
        inlined.break(place, { log: { text: 'n is {n}', say: text => said.push(text) } });
        const { id } = inlined.break(place, { condition: 'n == 3' });
        expect(exhaust(inlined.continue(direction))).toEqual({ kind: 'breakpoint', id });
        expect(said.length).toBe(direction === 'forward' ? 4 : 7);
        expect(said.at(-1)).toBe('n is 3');
        expect(inlined.frame).toMatchObject({ function: 'outer', line: 8 });
        expect(inlined.innermost).toMatchObject({ function: 'twice', line: 4 });
        expect(inlined.show(inlined.evaluate('n'))).toBe('3');
        inlined.deleteAll();
        expect(exhaust(inlined.finish('forward')).kind).toBe('step');
        expect(inlined.where.function).toBe('main');
      }
  });

  test('finish leaves the frame that is selected', () => {
    session.goto(session.moments('add')[50]!.unit, session.moments('add')[50]!.hart);
    session.selectFrame(1);
    expect(session.frame.function).toBe('work');
    exhaust(session.finish('forward'));
    expect(session.frames.map(({ function: name }) => name)).not.toContain('work');
  });

  test('the Debug Adapter Protocol has both', async () => {
    const client = new DapClient(dir);
    try {
      await client.launch({ capsule: 'random.kcapsule', sources: ['.'] });
      const breakpoints = [
        { line: LINE, condition: 'p && n >= 97' },
        { line: LINE, logMessage: 'n is {n}' },
        { line: LINE, condition: '(' },
        { line: LINE, condition: 'n == 99999', hitCondition: null, logMessage: null },
        { line: LINE, hitCondition: '5' },
      ];
      const set = await client.ask('setBreakpoints', {
        source: { path: join(dir, 'random.c') },
        breakpoints,
      });
      expect(set.body.breakpoints).toMatchObject([
        { verified: true, line: LINE },
        { verified: true, line: LINE },
        { verified: false, message: 'a value is expected before the end' },
        { verified: true, line: LINE },
        { verified: false, message: expect.stringContaining('counts of hits are not supported') },
      ]);
      await client.ask('continue', { threadId: 1 });
      expect((await client.event('stopped')).body.reason).toBe('breakpoint');
      expect((await client.ask('evaluate', { expression: 'n' })).body.result).toBe('97');
      const said = client.messages.filter(
        ({ event, body }) => event === 'output' && /^n is/.test(body.output),
      );
      expect(said.length).toBeGreaterThan(97);
      expect(said[0]!.body).toMatchObject({ category: 'console', output: 'n is 0\n' });
      // The answers of the console are its own; what a breakpoint of it says comes as an event.
      expect(await client.say('log add add {n}')).toMatch(/^log \d+: add at random\.c:7$/);
      await client.ask('setBreakpoints', { source: { path: join(dir, 'random.c') }, breakpoints: [] });
      await client.ask('setDataBreakpoints', {
        breakpoints: [{ dataId: 'mean', logMessage: 'mean {mean}' }],
      });
      await client.ask('setFunctionBreakpoints', { breakpoints: [{ name: 'add', condition: 'nope' }] });
      await client.ask('continue', { threadId: 1 });
      expect((await client.event('stopped')).body).toMatchObject({
        reason: 'breakpoint',
        text: 'no value for "nope": there is no variable nope here',
      });
      expect(client.messages.some(({ body }) => /^add \d+\n$/.test(body?.output))).toBe(true);
      expect(client.messages.some(({ body }) => /^mean \d+(\.5)?\n$/.test(body?.output))).toBe(true);
    } finally {
      client.kill();
    }
  });
});
