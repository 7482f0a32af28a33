// A debugger never changes the run hash: neither `kcovbox debug` nor an editor. The last link of
// the chain stands for all of them. GDB is in attach.oracle.test.ts.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ASSEMBLER } from '../support/asm.ts';
import { kcovbox } from '../support/command.ts';
import { missing } from '../support/tools.ts';
import { THREADS } from './attach.ts';
import { DapClient } from './dap-client.ts';

describe.skipIf(missing('clang and lld', ASSEMBLER))('attaching changes nothing', () => {
  const dir = mkdtempSync(join(tmpdir(), 'kcovbox-attach-'));
  const capsule = join(dir, 'threads.kcapsule');
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  /** The answer of `info hash` at the end of the recorded run. */
  let recorded: string;
  let client: DapClient | undefined;
  afterEach(() => client?.kill());

  beforeAll(() => {
    writeFileSync(join(dir, 'threads.c'), THREADS);
    const ran = kcovbox(['run', '--smp', '2', '--cflags', '-O0', '--record', capsule, 'threads.c'], {
      cwd: dir,
    });
    if (ran.status !== 4) throw new Error(ran.stderr);
    const { outcome } = JSON.parse(kcovbox(['capsule', 'info', '--json', capsule], { cwd: dir }).stdout) as {
      outcome: { stateHash: string; runHash: { links: string[] } };
    };
    const { links } = outcome.runHash;
    if (links.length < 4) throw new Error(`${links.length} links`);
    recorded = `state ${outcome.stateHash}, run hash ${links.at(-1)}, link ${links.length} of the chain`;
  });

  const MOTIONS = [
    'break step',
    'watch rounds',
    'continue',
    'continue',
    'back',
    'stepi 3',
    'rstepi 2',
    'next',
    'rnext',
    'thread 1',
    'step',
    'delete',
    'goto +5000000',
    'last-write rounds',
    'goto start',
    'goto end',
    'back',
    'goto 15000000',
    'goto end',
  ];

  test.each(['jit', 'interp'])('kcovbox debug (%s)', engine => {
    const commands = [...MOTIONS, 'info hash', 'rstepi', 'info hash'];
    const args = ['debug', '--engine', engine, capsule, ...commands.flatMap(command => ['-x', command])];
    const { status, stdout, stderr } = kcovbox(args, { cwd: dir });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const [end, before] = [...stdout.matchAll(/^state .*$/gm)].map(([line]) => line);
    expect(end).toBe(recorded);
    expect(before).toMatch(/^state /);
    expect(before).not.toBe(recorded);
  });

  test('an editor', async () => {
    client = new DapClient(dir);
    await client.launch({ capsule }, ['step']);
    for (const motion of [
      'continue',
      'continue',
      'reverseContinue',
      'next',
      'stepBack',
      'stepIn',
      'stepOut',
    ]) {
      expect(await client.ask(motion, { threadId: 1 })).toMatchObject({ success: true });
      await client.event('stopped');
      const { id } = (await client.ask('stackTrace', { threadId: 2 })).body.stackFrames[0];
      await client.ask('scopes', { frameId: id });
    }
    await client.ask('setDataBreakpoints', { breakpoints: [{ dataId: 'rounds' }] });
    await client.ask('continue', { threadId: 2 });
    await client.event('stopped');
    await client.ask('setDataBreakpoints', { breakpoints: [] });
    await client.ask('setFunctionBreakpoints', { breakpoints: [] });
    await client.ask('continue', { threadId: 1 });
    await client.ask('pause', { threadId: 1 });
    await client.event('stopped');
    await client.say('goto end');
    expect(await client.say('info hash')).toBe(recorded);
  });
});
