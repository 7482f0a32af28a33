// `kcovbox dap`, as the protocol says: headers, requests that it does not meet, lines that count
// from 0, sources by their paths, and the console.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ASSEMBLER } from '../support/asm.ts';
import { missing } from '../support/tools.ts';
import { DapClient } from './dap-client.ts';
import { type Hot, lineOf, recordHot, removeHot } from './hot.ts';

describe.skipIf(missing('clang and lld', ASSEMBLER))('kcovbox dap', () => {
  let hot: Hot;
  let client: DapClient;
  beforeAll(() => {
    hot = recordHot();
  });
  afterAll(() => removeHot(hot));
  afterEach(() => client.kill());

  async function launched(...breakpoints: string[]): Promise<void> {
    client = new DapClient(hot.dir);
    await client.launch({ capsule: hot.capsule }, breakpoints);
  }
  const setLines = async (path: string, ...lines: number[]) =>
    (
      await client.ask('setBreakpoints', {
        source: { path },
        breakpoints: lines.map(line => ({ line })),
      })
    ).body.breakpoints;
  async function go(command: string, threadId = 1) {
    await client.ask(command, { threadId });
    return (await client.event('stopped')).body;
  }
  const top = async (threadId = 1) => (await client.ask('stackTrace', { threadId })).body.stackFrames[0];

  test('names of headers have no case, and a blank behind them is free', async () => {
    client = new DapClient(hot.dir);
    const text = '{"seq":7,"type":"request","command":"threads"}';
    const headers = [
      'content-length: 46',
      'Content-Length:46',
      'CONTENT-LENGTH : 46 ',
      'X-Content-Length: 5\r\nContent-Length: 46\r\nContent-Type: text',
    ];
    for (const header of headers) client.send(`${header}\r\n\r\n${text}`);
    await client.ask('initialize');
    expect(client.messages.filter(({ request_seq }) => request_seq === 7)).toHaveLength(headers.length);
    client.send(`Content-Length: 46\r\nContent-Length: 5\r\n\r\n${text}`);
    expect(await client.end()).toBe(125);
  });

  test('a request that is not supported fails, and says so', async () => {
    await launched();
    const commands = [
      ...['attach', 'restart', 'source', 'disassemble', 'readMemory', 'writeMemory', 'setVariable'],
      ...['exceptionInfo', 'cancel', 'completions', 'loadedSources', 'goto', 'gotoTargets'],
      ...['setExpression', 'stepInTargets', 'setInstructionBreakpoints', 'breakpointLocations'],
      ...['restartFrame', 'terminateThreads', 'modules', 'constructor', '__proto__'],
    ];
    for (const command of commands)
      expect(await client.ask(command, {})).toMatchObject({
        success: false,
        message: expect.stringMatching(new RegExp(`^${command} is not supported(: .*)?$`)),
      });
    // Clients send it to all servers.
    const filters = (await client.ask('setExceptionBreakpoints', { filters: [] })).body;
    expect(filters).toEqual({ breakpoints: [] });
  });

  test('configurationDone comes once, behind launch', async () => {
    client = new DapClient(hot.dir);
    const errors = client.errors();
    for (const command of ['configurationDone', 'pause', 'threads'])
      expect(await client.ask(command)).toMatchObject({
        success: false,
        message: 'no capsule is open: launch first',
      });
    await client.launch({ capsule: hot.capsule });
    expect(await client.ask('configurationDone')).toMatchObject({ success: false });
    expect(await client.ask('launch', { capsule: hot.capsule })).toMatchObject({ success: false });
    expect(await client.end()).toBe(0);
    expect(await errors).toBe('');
  });

  test('launch refuses arguments of other types', async () => {
    client = new DapClient(hot.dir);
    await client.ask('initialize');
    const wrong = [{ images: 'x' }, { sources: 5 }, { sources: ['.', 5] }, { stopOnEntry: 'no' }];
    for (const one of wrong) {
      const { success, message } = await client.ask('launch', { capsule: hot.capsule, ...one });
      expect({ success, message }).toEqual({
        success: false,
        message: expect.stringContaining(`launch: ${Object.keys(one)[0]}`),
      });
    }
  });

  test('lines and columns may count from 0; a breakpoint tells its line', async () => {
    client = new DapClient(hot.dir);
    await client.ask('initialize', { linesStartAt1: false, columnsStartAt1: false });
    await client.ask('launch', { capsule: hot.capsule, stopOnEntry: false });
    await client.event('initialized');
    const empty = lineOf('return arg') + 2;
    const [one, next] = await setLines(hot.source, lineOf('pthread_join') - 1, empty - 1);
    expect(one).toMatchObject({ verified: true, line: lineOf('pthread_join') - 1 });
    expect(next).toMatchObject({ verified: true, line: lineOf('void hot') - 1 });
    await setLines(hot.source, lineOf('pthread_join') - 1);
    // It does not stop at its entry.
    await client.ask('configurationDone');
    expect((await client.event('stopped')).body.reason).toBe('breakpoint');
    expect(await top()).toMatchObject({ name: 'main', line: lineOf('pthread_join') - 1, column: 0 });
  });

  test('a thousand breakpoints take less than a second', async () => {
    await launched();
    await setLines(hot.source, 1);
    const lines = Array.from({ length: 1000 }, () => lineOf('hot(i)'));
    const before = Date.now();
    const all = await setLines(hot.source, ...lines);
    expect(Date.now() - before).toBeLessThan(1000);
    expect(all.filter(({ verified }: { verified: boolean }) => verified)).toHaveLength(1000);
  });

  test('a source is the file of its path', async () => {
    await launched('copy');
    const other = join(hot.dir, 'other');
    mkdirSync(other);
    const line = lineOf('hot(i)');
    const told = async (path: string) => (await setLines(path, line))[0];
    expect(await told('/elsewhere/hot.c')).toEqual({
      verified: false,
      message: `/elsewhere/hot.c is not the hot.c of the run, which is ${hot.source}`,
    });
    expect(await told('/elsewhere/cold.c')).toMatchObject({
      message: 'the run has no source file /elsewhere/cold.c',
    });
    // As gdb: two files that have no more than their last name in common are two files.
    expect(await told('/elsewhere/sys_rw.c')).toMatchObject({
      verified: false,
      message: expect.stringContaining('/elsewhere/sys_rw.c is not the kernel/fs/sys_rw.c of the run'),
    });
    expect(await told('/elsewhere/kernel/fs/sys_rw.c')).toMatchObject({ verified: true });
    expect(await told('hot.c')).toMatchObject({ verified: true, line });
    // A copy of the text is the same source, also under another folder.
    writeFileSync(join(other, 'hot.c'), await readText(hot.source));
    expect(await told(join(other, 'hot.c'))).toMatchObject({ verified: true, line });
    // The name of a source is no other thing's.
    for (const path of ['functions', 'data']) await client.ask('setBreakpoints', { source: { path } });
    expect(await client.say('info breakpoints')).toMatch(/ break copy /);
  });

  test('a source may be a link with another name', async () => {
    await launched('copy');
    symlinkSync(hot.source, join(hot.dir, 'link.c'));
    expect(await setLines(join(hot.dir, 'link.c'), lineOf('total++'))).toMatchObject([{ verified: true }]);
  });

  test('steps are those of the thread, and say what they could not do', async () => {
    await launched('worker');
    const { threadId } = await go('continue');
    expect(threadId).toBe(2);
    await client.ask('setFunctionBreakpoints', { breakpoints: [] });
    for (const command of ['next', 'stepIn', 'stepBack'])
      expect(await go(command, 1)).toMatchObject({ reason: 'step', threadId: 1 });
    await client.ask('setFunctionBreakpoints', { breakpoints: [{ name: 'copy' }] });
    await go('continue', 1);
    await client.ask('setFunctionBreakpoints', { breakpoints: [{ name: 'memcpy' }] });
    await go('continue', 1);
    expect(await go('stepBack')).toMatchObject({
      reason: 'step',
      text: 'memcpy has no lines: out to copy',
    });
    expect(await top()).toMatchObject({ name: 'copy' });
  });

  test('the console takes short commands, and a variable before them', async () => {
    await launched('copy');
    expect(await client.say('cont')).toMatch(/^breakpoint 1\nunit \d+, hart \d: copy at /);
    await client.event('stopped');
    expect(await client.say('inf thr')).toMatch(/^.hart 0: /);
    expect(await client.say('st')).toBe('st may be step, stepi');
    expect(await client.say('help')).toMatch(/^continue .*run on to the next breakpoint/);
    expect(await client.say('quit')).toBe('the editor ends the session');
    // A global variable of the program.
    expect(await client.say('to')).toMatch(/^"/);
    expect(await client.say('tot')).toBe('there is no variable tot here');
    await go('stepOut');
    expect(await client.say('fr')).toMatch(/: main at hot\.c/);
  });
});

async function readText(path: string): Promise<string> {
  const { readFile } = await import('node:fs/promises');
  return readFile(path, 'utf8');
}
