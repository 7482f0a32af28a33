// `kcovbox dap` as an editor meets it: a scripted client over the pipes of the process.
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ASSEMBLER } from '../support/asm.ts';
import { missing } from '../support/tools.ts';
import { DapClient } from './dap-client.ts';
import { type Recorded, recordOverrun, recordSum, removeOverrun, SOURCE } from './overrun.ts';

describe.skipIf(missing('clang and lld', ASSEMBLER))('kcovbox dap', () => {
  let recorded: Recorded;
  let client: DapClient;
  beforeAll(() => {
    recorded = recordOverrun(undefined);
  });
  afterAll(() => removeOverrun(recorded));
  afterEach(() => client.kill());

  async function launched(): Promise<void> {
    client = new DapClient(recorded.dir);
    const { body } = await client.ask('initialize', { adapterID: 'kcovbox', pathFormat: 'path' });
    expect(body).toMatchObject({ supportsStepBack: true, supportsTerminateRequest: true });
    expect(await client.ask('launch', { capsule: recorded.capsule })).toMatchObject({ success: true });
    await client.event('initialized');
  }

  const top = async () => (await client.ask('stackTrace', { threadId: 1 })).body.stackFrames[0];

  test('arguments of another shape are refused with their name, and the session goes on', async () => {
    await launched();
    const commands = [
      ...['setBreakpoints', 'setFunctionBreakpoints', 'dataBreakpointInfo', 'setDataBreakpoints'],
      ...['continue', 'reverseContinue', 'next', 'stepIn', 'stepOut', 'stepBack'],
      ...['stackTrace', 'scopes', 'variables', 'evaluate'],
    ];
    const shapes = [undefined, null, {}, [], { breakpoints: [null] }, { frameId: '1', threadId: {} }];
    for (const command of commands)
      for (const shape of shapes) {
        const { success, message } = await client.ask(command, shape);
        expect([command, success]).toEqual([command, false]);
        expect(message).toMatch(
          new RegExp(`^${command}: ([a-zA-Z0-9.]+: )?Invalid input: expected \\w+, received \\w+$`),
        );
      }
    expect(await client.ask('evaluate', 'x')).toMatchObject({
      success: false,
      message: 'evaluate: arguments has to be an object',
    });
    const [noFile, noObject] = [
      'launch: "capsule" has to name a file that run --record wrote',
      'launch: Invalid input: expected object, received array',
    ];
    for (const shape of [undefined, null, {}, []])
      expect(await client.ask('launch', shape)).toMatchObject({
        success: false,
        message: Array.isArray(shape) ? noObject : noFile,
      });
    expect((await client.ask('threads')).body.threads).toEqual([{ id: 1, name: 'hart 0' }]);
  });

  test('breakpoints, stack, variables; back to the store that did it', async () => {
    await launched();
    const set = await client.ask('setBreakpoints', {
      source: { path: SOURCE },
      breakpoints: [{ line: 30 }, { line: 99_999 }],
    });
    expect(set.body.breakpoints.map(({ verified }: { verified: boolean }) => verified)).toEqual([
      true,
      false,
    ]);
    await client.ask('configurationDone');
    expect((await client.event('stopped')).body).toMatchObject({ reason: 'entry', threadId: 1 });
    expect((await client.ask('threads')).body.threads).toEqual([{ id: 1, name: 'hart 0' }]);
    for (let i = 0; i < 2; i++) {
      await client.ask('continue', { threadId: 1 });
      expect((await client.event('stopped')).body.reason).toBe('breakpoint');
    }
    const frame = await top();
    expect(frame).toMatchObject({ name: 'sum', line: 30, source: { path: SOURCE } });
    const { scopes } = (await client.ask('scopes', { frameId: frame.id })).body;
    expect(scopes.map(({ name }: { name: string }) => name)).toEqual(['Locals', 'Registers']);
    const { variables } = (
      await client.ask('variables', { variablesReference: scopes[0].variablesReference })
    ).body;
    const at = variables.find(({ name }: { name: string }) => name === 'at');
    expect(at).toMatchObject({ type: 'struct node *', value: expect.stringMatching(/^0x/) });
    const inside = (await client.ask('variables', { variablesReference: at.variablesReference })).body
      .variables;
    expect(inside.map(({ name }: { name: string }) => name)).toEqual(['next', 'value']);

    // The second sum.
    await client.ask('setBreakpoints', { source: { path: SOURCE }, breakpoints: [{ line: 47 }] });
    await client.ask('continue', { threadId: 1 });
    await client.event('stopped');
    expect((await client.ask('dataBreakpointInfo', { name: 'block->node.next' })).body.dataId).toBe(
      'block->node.next',
    );
    await client.ask('setDataBreakpoints', { breakpoints: [{ dataId: 'block->node.next' }] });
    await client.ask('reverseContinue', { threadId: 1 });
    expect((await client.event('stopped')).body).toMatchObject({
      reason: 'data breakpoint',
      text: expect.stringContaining('->'),
    });
    const { stackFrames } = (await client.ask('stackTrace', { threadId: 1 })).body;
    expect(stackFrames.map(({ name }: { name: string }) => name)).toContain('greet');
    await client.ask('disconnect');
    expect(await client.end()).toBe(0);
  });

  test('steps both ways, and evaluates', async () => {
    await launched();
    await client.ask('setFunctionBreakpoints', { breakpoints: [{ name: 'main' }] });
    await client.ask('configurationDone');
    await client.event('stopped');
    await client.ask('continue', { threadId: 1 });
    await client.event('stopped');
    const lines: number[] = [];
    for (const request of ['next', 'next', 'stepBack', 'stepIn', 'stepBack', 'stepBack']) {
      lines.push((await top()).line);
      await client.ask(request, { threadId: 1 });
      await client.event('stopped');
    }
    const [main, first] = lines;
    expect(lines[3]).toBe(first);
    expect((await top()).line).toBe(main);
    const value = await client.ask('evaluate', {
      expression: 'argc + 1',
      frameId: (await top()).id,
      context: 'watch',
    });
    expect(value.body?.result ?? value.message).toMatch(/^2$|optimised out/);
    const bad = await client.ask('evaluate', { expression: 'nothing->here' });
    expect(bad).toMatchObject({ success: false, message: 'there is no variable nothing here' });
    const when = await client.ask('evaluate', { expression: 'when greet', context: 'repl' });
    expect(when.body.result).toContain('it ran 1 time');
    await client.ask('evaluate', { expression: 'goto end', context: 'repl' });
    expect((await client.event('stopped')).body.reason).toBe('goto');
    expect(
      client.messages
        .filter(({ event }) => event === 'output')
        .map(({ body }) => body.output)
        .join(''),
    ).toContain('sum 3\n');
    await client.ask('stepOut', { threadId: 7 });
    await client.ask('disconnect');
    expect(await client.end()).toBe(0);
  });

  test('variables of a frame that is still to be made have no values', async () => {
    recordSum(recorded.dir);
    client = new DapClient(recorded.dir);
    await client.launch({ capsule: join(recorded.dir, 'sum.kcapsule') }, ['sum']);
    await client.ask('continue', { threadId: 1 });
    await client.event('stopped');
    for (const command of ['rfinish', 'stepi']) await client.say(command);
    const frameId = (await top()).id;
    const { scopes } = (await client.ask('scopes', { frameId })).body;
    const { variables } = (
      await client.ask('variables', { variablesReference: scopes[0].variablesReference })
    ).body;
    expect(variables).toEqual(
      ['n', 'all'].map(name => ({ name, value: '<not yet stored>', variablesReference: 0 })),
    );
    for (const context of ['watch', 'hover', 'repl'])
      expect(await client.ask('evaluate', { expression: '1 + n', frameId, context })).toMatchObject({
        success: false,
        message: 'n is not yet stored here: the function is at its first instructions',
      });
    expect((await client.ask('dataBreakpointInfo', { name: 'all' })).body).toEqual({
      dataId: null,
      description: expect.stringContaining('all is not yet stored here'),
    });
  });

  test('bad requests have an answer, and endless ones an end', async () => {
    client = new DapClient(recorded.dir);
    expect(await client.ask('initialize', { pathFormat: 'uri' })).toMatchObject({ success: false });
    // Both are optional in the protocol.
    expect(await client.ask('initialize')).toMatchObject({ success: true });
    expect(await client.ask('launch', {})).toMatchObject({
      success: false,
      message: expect.stringContaining('"capsule"'),
    });
    expect(await client.ask('launch', { capsule: 'nothing.kcapsule' })).toMatchObject({ success: false });
    for (const request of ['stackTrace', 'scopes', 'evaluate', 'continue', 'nonsense'])
      expect(await client.ask(request, { threadId: 1, expression: '1', frameId: 5 }), request).toMatchObject({
        success: false,
      });
    const errors = client.errors();
    client.send('Content-Length: 99999999\r\n\r\n');
    expect(await client.end()).toBe(125);
    expect(await errors).toMatch(
      /^kcovbox: dap: a message of the client has no length, or more than \d+ bytes\n$/,
    );
  });
});
