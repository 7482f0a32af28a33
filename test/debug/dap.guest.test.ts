// `kcovbox dap` as an editor meets it: a scripted client over the pipes of the process.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ASSEMBLER } from '../support/asm.ts';
import { COMMAND } from '../support/command.ts';
import { missing } from '../support/tools.ts';
import { type Recorded, recordOverrun, removeOverrun, SOURCE } from './overrun.ts';

interface Message {
  readonly type: string;
  readonly event?: string;
  readonly request_seq?: number;
  readonly success?: boolean;
  readonly message?: string;
  // biome-ignore lint/suspicious/noExplicitAny: the protocol's bodies are what is tested
  readonly body?: any;
}

class Client {
  readonly #server: ChildProcessWithoutNullStreams;
  readonly #waiting: (() => void)[] = [];
  readonly messages: Message[] = [];
  #seq = 0;
  #data = Buffer.alloc(0);

  constructor(cwd: string) {
    this.#server = spawn(process.execPath, [COMMAND, 'dap'], { cwd });
    this.#server.stdout.on('data', data => this.#receive(data));
  }

  #receive(data: Buffer): void {
    this.#data = Buffer.concat([this.#data, data]);
    for (;;) {
      const match = /^Content-Length: (\d+)\r\n\r\n/.exec(this.#data.toString('latin1'));
      const start = match?.[0].length ?? 0;
      const length = Number(match?.[1]);
      if (!match || this.#data.length < start + length) break;
      this.messages.push(JSON.parse(this.#data.toString('utf8', start, start + length)));
      this.#data = this.#data.subarray(start + length);
    }
    for (const wake of this.#waiting.splice(0)) wake();
  }

  send(text: string): void {
    this.#server.stdin.write(text);
  }

  async ask(command: string, args: object = {}): Promise<Message> {
    const seq = ++this.#seq;
    const text = JSON.stringify({ seq, type: 'request', command, arguments: args });
    this.send(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
    return this.#find(({ type, request_seq }) => type === 'response' && request_seq === seq, 0);
  }

  /** The next event of this kind behind those that were waited for. */
  async event(name: string): Promise<Message> {
    const found = await this.#find(message => message.event === name, this.#seen);
    this.#seen = this.messages.indexOf(found) + 1;
    return found;
  }

  #seen = 0;

  async #find(is: (message: Message) => boolean, from: number): Promise<Message> {
    for (;;) {
      const found = this.messages.slice(from).find(is);
      if (found) return found;
      await new Promise<void>(wake => this.#waiting.push(wake));
    }
  }

  async end(): Promise<number | null> {
    this.#server.stdin.end();
    if (this.#server.exitCode !== null) return this.#server.exitCode;
    const [status] = await once(this.#server, 'close');
    return status;
  }

  async errors(): Promise<string> {
    let text = '';
    for await (const data of this.#server.stderr) text += data;
    return text;
  }

  kill(): void {
    this.#server.kill();
  }
}

describe.skipIf(missing('clang and lld', ASSEMBLER))('kcovbox dap', () => {
  let recorded: Recorded;
  let client: Client;
  beforeAll(() => {
    recorded = recordOverrun(undefined);
  });
  afterAll(() => removeOverrun(recorded));
  afterEach(() => client.kill());

  async function launched(): Promise<void> {
    client = new Client(recorded.dir);
    const { body } = await client.ask('initialize', { adapterID: 'kcovbox', pathFormat: 'path' });
    expect(body).toMatchObject({ supportsStepBack: true });
    expect(await client.ask('launch', { capsule: recorded.capsule })).toMatchObject({ success: true });
    await client.event('initialized');
  }

  const top = async () => (await client.ask('stackTrace', { threadId: 1 })).body.stackFrames[0];

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

  test('bad requests have an answer, and endless ones an end', async () => {
    client = new Client(recorded.dir);
    await client.ask('initialize', { pathFormat: 'path' });
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
