// A scripted client of the Debug Adapter Protocol, over the pipes of `kcovbox dap`.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { COMMAND } from '../support/command.ts';

export interface Message {
  readonly type: string;
  readonly event?: string;
  readonly request_seq?: number;
  readonly success?: boolean;
  readonly message?: string;
  // biome-ignore lint/suspicious/noExplicitAny: the protocol's bodies are what is tested
  readonly body?: any;
}

export class DapClient {
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

  async ask(command: string, args: unknown = undefined): Promise<Message> {
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

  /** Opens a capsule and sends the configuration; the run then stands at its entry. */
  async launch(launch: object, breakpoints: readonly string[] = []): Promise<void> {
    await this.ask('initialize', { adapterID: 'kcovbox' });
    const { success, message } = await this.ask('launch', launch);
    if (!success) throw new Error(message);
    await this.event('initialized');
    await this.ask('setFunctionBreakpoints', { breakpoints: breakpoints.map(name => ({ name })) });
    await this.ask('configurationDone');
    await this.event('stopped');
  }

  /** The answer of a command of the console. */
  async say(expression: string): Promise<string> {
    const { body, message } = await this.ask('evaluate', { expression, context: 'repl' });
    return body?.result ?? message;
  }

  async #find(is: (message: Message) => boolean, from: number): Promise<Message> {
    for (;;) {
      const found = this.messages.slice(from).find(is);
      if (found) return found;
      await new Promise<void>(wake => this.#waiting.push(wake));
    }
  }

  /** Closes the connection, unless `isOpen`; the status of the server. */
  async end(isOpen = false): Promise<number | null> {
    if (!isOpen) this.#server.stdin.end();
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
