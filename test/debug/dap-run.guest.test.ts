// `kcovbox dap` while the run moves: pause, requests meanwhile, leaving; and capsules of `boot`,
// thin ones, of several harts.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { recordBoot } from '../cli/replay-search.ts';
import { ASSEMBLER } from '../support/asm.ts';
import { kcovbox } from '../support/command.ts';
import { missing } from '../support/tools.ts';
import { DapClient } from './dap-client.ts';
import { LONG } from './long.ts';

const SHORT = `#include <unistd.h>
static volatile int state;
static __attribute__((noinline)) void act(int n) { state = n; getpid(); }
int main(void) { act(1); act(2); return 0; }
`;

describe.skipIf(missing('clang and lld', ASSEMBLER))('kcovbox dap', () => {
  const dir = mkdtempSync(join(tmpdir(), 'kcovbox-dap-'));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  let client: DapClient;
  afterEach(() => client.kill());

  const record = (name: string, source: string, status: number, ...options: readonly string[]): string => {
    writeFileSync(join(dir, `${name}.c`), source);
    const path = join(dir, `${name}.kcapsule`);
    const ran = kcovbox(['run', ...options, '--record', path, `${name}.c`], { cwd: dir });
    if (ran.status !== status) throw new Error(ran.stderr);
    return path;
  };
  const unit = async (): Promise<number> => Number(/^unit (\d+)/m.exec(await client.say('frame'))?.[1]);

  describe('while the run moves', () => {
    let long: string;
    beforeAll(() => {
      long = record('long', LONG, 3);
    });

    async function launched(...breakpoints: string[]): Promise<void> {
      client = new DapClient(dir);
      await client.launch({ capsule: long }, breakpoints);
    }

    test('pause stops it on its way, and it goes on from there', async () => {
      await launched();
      const start = await unit();
      expect(await client.ask('continue', { threadId: 1 })).toMatchObject({
        success: true,
        body: { allThreadsContinued: true },
      });
      expect((await client.ask('threads')).body.threads).toEqual([{ id: 1, name: 'hart 0' }]);
      for (const request of ['stackTrace', 'scopes', 'evaluate', 'continue', 'next', 'dataBreakpointInfo'])
        expect(
          await client.ask(request, { threadId: 1, frameId: 1000, expression: '1', name: 'rounds' }),
          request,
        ).toMatchObject({ success: false, message: 'the run goes on: pause it first' });
      expect(await client.ask('pause', { threadId: 1 })).toMatchObject({ success: true });
      expect((await client.event('stopped')).body).toMatchObject({
        reason: 'pause',
        allThreadsStopped: true,
      });
      const paused = await unit();
      expect(paused).toBeGreaterThan(start);
      const { stackFrames } = (await client.ask('stackTrace', { threadId: 1 })).body;
      expect(stackFrames[0].name).toMatch(/^(main|now_and_then)$/);
      await client.ask('continue', { threadId: 1 });
      expect((await client.event('stopped')).body.reason).toBe('exit');
      expect(await unit()).toBeGreaterThan(paused);
      // Into the past: a pause leads back to where the motion began.
      const end = await unit();
      await client.ask('setFunctionBreakpoints', { breakpoints: [{ name: '_start' }] });
      await client.ask('reverseContinue', { threadId: 1 });
      await client.ask('pause', { threadId: 1 });
      expect((await client.event('stopped')).body.reason).toBe('pause');
      expect(await unit()).toBe(end);
    });

    test('a breakpoint that is set meanwhile counts', async () => {
      await launched();
      await client.ask('continue', { threadId: 1 });
      const { body } = await client.ask('setFunctionBreakpoints', {
        breakpoints: [{ name: 'now_and_then' }],
      });
      expect(body.breakpoints[0].verified).toBe(true);
      expect((await client.event('stopped')).body.reason).toBe('breakpoint');
      expect((await client.ask('stackTrace', { threadId: 1 })).body.stackFrames[0].name).toBe('now_and_then');
    });

    test('a motion of the console is announced, and can be paused', async () => {
      await launched();
      const answer = client.say('goto end');
      expect((await client.event('continued')).body).toEqual({ threadId: 1, allThreadsContinued: true });
      await client.ask('pause', { threadId: 1 });
      expect((await client.event('stopped')).body.reason).toBe('pause');
      expect(await answer).toBe('');
    });

    test.each(['disconnect', 'terminate', 'the end of the connection'])('%s ends it', async way => {
      await launched();
      await client.ask('continue', { threadId: 1 });
      const before = Date.now();
      if (way === 'terminate') {
        expect(await client.ask('terminate')).toMatchObject({ success: true });
        await client.event('terminated');
      }
      if (way !== 'the end of the connection')
        expect(await client.ask('disconnect')).toMatchObject({ success: true });
      expect(await client.end(way === 'disconnect')).toBe(0);
      expect(Date.now() - before).toBeLessThan(1500);
      expect(client.messages.filter(({ event }) => event === 'stopped')).toHaveLength(1);
    });

    test('behind its end nothing comes but the answers', async () => {
      await launched();
      await client.ask('continue', { threadId: 1 });
      client.ask('pause', { threadId: 1 });
      await client.ask('terminate');
      expect(await client.ask('threads')).toMatchObject({
        success: false,
        message: 'the session is over: disconnect',
      });
      expect(await client.ask('disconnect')).toMatchObject({ success: true });
      expect(await client.end()).toBe(0);
      expect(client.messages.filter(({ event }) => event === 'stopped')).toHaveLength(1);
      // A client that leaves before the capsule is open.
      client = new DapClient(dir);
      const errors = client.errors();
      await client.ask('initialize');
      void client.ask('launch', { capsule: long });
      await client.ask('disconnect');
      expect(await client.end()).toBe(0);
      expect(await errors).toBe('');
    });

    test('a motion that cannot be made says why', async () => {
      await launched();
      expect(await client.ask('stepOut', { threadId: 1 })).toMatchObject({ success: true });
      expect((await client.event('stopped')).body).toMatchObject({ text: 'there is no caller' });
      expect(await client.ask('next', { threadId: 9 })).toMatchObject({
        success: false,
        message: 'there is no hart 8',
      });
    });
  });

  test('a capsule of boot: from its first unit to its end and back', async () => {
    recordBoot(dir);
    client = new DapClient(dir);
    await client.launch({ capsule: join(dir, 'b.kcapsule') });
    expect(await unit()).toBe(0);
    await client.ask('stepIn', { threadId: 1, granularity: 'instruction' });
    await client.event('stopped');
    expect(await unit()).toBe(1);
    await client.ask('continue', { threadId: 1 });
    expect((await client.event('stopped')).body.reason).toBe('exit');
    const [frame] = (await client.ask('stackTrace', { threadId: 1 })).body.stackFrames;
    expect(frame.instructionPointerReference).toMatch(/^0x8[0-9a-f]{7}$/);
    const { scopes } = (await client.ask('scopes', { frameId: frame.id })).body;
    const { variables } = (
      await client.ask('variables', { variablesReference: scopes[1].variablesReference })
    ).body;
    expect(variables.find(({ name }: { name: string }) => name === 'pc').value).toBe(
      frame.instructionPointerReference,
    );
    await client.ask('reverseContinue', { threadId: 1 });
    expect((await client.event('stopped')).body.reason).toBe('entry');
    expect(await unit()).toBe(0);
    expect(await client.end()).toBe(0);
  });

  test('a thin capsule: its images come from the launch', async () => {
    const whole = record('whole', SHORT, 0);
    const thin = join(dir, 'thin.kcapsule');
    const parts = join(dir, 'parts');
    expect(kcovbox(['capsule', 'thin', '-o', thin, whole], { cwd: dir }).status).toBe(0);
    expect(kcovbox(['capsule', 'extract', '-o', parts, whole], { cwd: dir }).status).toBe(0);
    const images = ['kernel.bin', 'initrd.bin'].map(name => join(parts, name));
    client = new DapClient(dir);
    await client.launch({ capsule: thin, images }, ['act']);
    for (const n of [1, 2]) {
      await client.ask('continue', { threadId: 1 });
      expect((await client.event('stopped')).body.reason).toBe('breakpoint');
      expect(await client.say('print n')).toBe(`n = ${n}`);
    }
    expect(await client.end()).toBe(0);
    writeFileSync(join(dir, 'other.elf'), 'not the image');
    client = new DapClient(dir);
    await client.ask('initialize', { pathFormat: 'path' });
    const refused = await client.ask('launch', { capsule: thin, images: [join(dir, 'other.elf')] });
    expect(refused).toMatchObject({ success: false, message: expect.stringContaining('other.elf') });
  });

  test('several harts: threads with stacks of their own; the stop names the one that met it', async () => {
    const capsule = record('harts', SHORT, 0, '--smp', '3', '--sched-seed', '7');
    client = new DapClient(dir);
    await client.launch({ capsule }, ['act']);
    expect((await client.ask('threads')).body.threads).toEqual(
      [0, 1, 2].map(id => ({ id: id + 1, name: `hart ${id}` })),
    );
    await client.ask('continue', { threadId: 1 });
    const { reason, threadId } = (await client.event('stopped')).body;
    expect(reason).toBe('breakpoint');
    const tops: string[] = [];
    for (const id of [1, 2, 3])
      tops.push((await client.ask('stackTrace', { threadId: id })).body.stackFrames[0].name);
    expect(tops[threadId - 1]).toBe('act');
    expect(tops.filter(name => name === 'act')).toHaveLength(1);
    expect(await client.ask('stackTrace', { threadId: 4 })).toMatchObject({ success: false });
    await client.ask('continue', { threadId });
    await client.event('stopped');
    await client.ask('reverseContinue', { threadId });
    expect((await client.event('stopped')).body).toMatchObject({ reason: 'breakpoint', threadId });
    expect(await client.end()).toBe(0);
  });
});
