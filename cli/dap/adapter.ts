// A debug session as a server of the Debug Adapter Protocol, with which editors step in both
// directions. A motion goes in turns with the client's requests: it can be paused, and breakpoints
// that are set meanwhile count. Requests that look at the guest are refused until it stands.
import { basename, resolve } from 'node:path';
import {
  DebugSession as Adapter,
  ContinuedEvent,
  Handles,
  InitializedEvent,
  OutputEvent,
  Scope,
  Source,
  StackFrame,
  StoppedEvent,
  TerminatedEvent,
  Thread,
} from '@vscode/debugadapter';
import type { DebugProtocol as P } from '@vscode/debugprotocol';
import type { Direction, Motion, Reason } from '../../debug/motion.ts';
import type { Absence, DebugSession } from '../../debug/session.ts';
import { memberOf, type Value } from '../../debug/values.ts';
import { type InPieces, KcovboxError, readRegister, registerNumber, X_NAMES } from '../../emulator/index.ts';
import { COMMANDS } from '../debug/commands.ts';
import { inTurns } from '../debug/in-turns.ts';
import { openDebugger } from '../debug/open.ts';
import { Repl } from '../debug/repl.ts';
import { SourceView } from '../debug/source.ts';
import { checkArguments } from './arguments.ts';

interface Launch extends P.LaunchRequestArguments {
  readonly capsule?: unknown;
  readonly images?: unknown;
  readonly sources?: unknown;
  readonly stopOnEntry?: unknown;
}

interface Named {
  readonly name: string;
  /** Or why there is none. */
  readonly value: Value | Absence | 'not readable';
}

/** Frames of a hart have numbers from here on. */
const FRAMES = 1000;
const ITEMS_MAX = 100;
const REGISTERS = [...X_NAMES.slice(1), 'pc'];
const CR = 13;
/** Why a motion was given up: the client has gone, or asks for a stop. */
const GONE = 'gone';
const PAUSE = 'pause';

export class DapServer extends Adapter {
  readonly #folders: readonly string[];
  readonly #values = new Handles<() => readonly Named[]>();
  #session: DebugSession | undefined;
  #source: SourceView;
  #start = 0;
  /** The motion that goes on. */
  #going: AbortController | undefined;
  /** Numbers of the session's breakpoints, by what the client has set. */
  readonly #set = new Map<string, number[]>();

  /** `folders`: where sources may be. */
  constructor(folders: readonly string[]) {
    super();
    this.#folders = folders;
    this.#source = new SourceView(folders);
    this.setDebuggerLinesStartAt1(true);
    this.setDebuggerColumnsStartAt1(true);
  }

  /** Errors: KcovboxError before `launch`, and while the run moves. */
  get #standing(): DebugSession {
    if (this.#going) throw new KcovboxError('input', 'the run goes on: pause it first');
    return this.#own;
  }

  /** Errors: KcovboxError before `launch`. */
  get #own(): DebugSession {
    if (!this.#session) throw new KcovboxError('input', 'no capsule is open: launch first');
    return this.#session;
  }

  /** Each request has one answer; a request that cannot be met, one with the reason. */
  protected override dispatchRequest(request: P.Request): void {
    try {
      // The protocol's default, which the library does not know.
      const { command } = request;
      const given = checkArguments(command, request.arguments);
      const args = command === 'initialize' ? { pathFormat: 'path', ...given } : given;
      super.dispatchRequest({ ...request, arguments: args });
    } catch (error) {
      this.#refuse(
        { seq: 0, type: 'response', request_seq: request.seq, command: request.command, success: true },
        error,
      );
    }
  }

  #refuse(response: P.Response, error: unknown): void {
    this.sendErrorResponse(response, 1, error instanceof Error ? error.message : String(error));
  }

  /** Answers with `body`, or with the reason why there is none. */
  #answer<T extends P.Response>(response: T, body: () => T['body']): void {
    try {
      response.body = body();
      this.sendResponse(response);
    } catch (error) {
      this.#refuse(response, error);
    }
  }

  protected override initializeRequest(response: P.InitializeResponse): void {
    response.body = {
      supportsConfigurationDoneRequest: true,
      supportsStepBack: true,
      supportsFunctionBreakpoints: true,
      supportsSteppingGranularity: true,
      supportsEvaluateForHovers: true,
      supportsDataBreakpoints: true,
      supportsTerminateRequest: true,
    };
    this.sendResponse(response);
  }

  protected override launchRequest(response: P.LaunchResponse, launch: Launch): void {
    void this.#launch(launch).then(
      () => {
        this.sendResponse(response);
        this.sendEvent(new InitializedEvent());
      },
      (error: unknown) => this.#refuse(response, error),
    );
  }

  async #launch({ capsule, images, sources }: Launch): Promise<void> {
    if (typeof capsule !== 'string')
      throw new KcovboxError('input', 'launch: "capsule" has to name a file that run --record wrote');
    const folders = textsOf(sources).map(folder => resolve(folder));
    let line: number[] = [];
    const print = (byte: number): void => {
      if (byte !== CR) line.push(byte);
      if (byte !== 10 && line.length < 4096) return;
      this.sendEvent(new OutputEvent(new TextDecoder().decode(Uint8Array.from(line)), 'stdout'));
      line = [];
    };
    const opened = await openDebugger(capsule, textsOf(images), { engine: 'jit' }, print);
    this.#source = new SourceView([...folders, ...this.#folders], {
      images: opened.session.images,
      say: text => this.sendEvent(new OutputEvent(`${text}\n`, 'console')),
    });
    this.#session = opened.session;
    this.#start = opened.start;
  }

  protected override configurationDoneRequest(response: P.ConfigurationDoneResponse): void {
    this.sendResponse(response);
    this.#stopped('entry');
  }

  protected override disconnectRequest(response: P.DisconnectResponse): void {
    this.#going?.abort(GONE);
    this.sendResponse(response);
    this.stop();
    this.emit('disconnect');
  }

  /** The run is over for the client, which disconnects. */
  protected override terminateRequest(response: P.TerminateResponse): void {
    this.#going?.abort(GONE);
    this.sendResponse(response);
    this.sendEvent(new TerminatedEvent());
  }

  // Breakpoints.

  protected override setBreakPointsRequest(
    response: P.SetBreakpointsResponse,
    args: P.SetBreakpointsArguments,
  ): void {
    this.#answer(response, () => {
      const path = args.source.path ?? args.source.name ?? '';
      const lines = (args.breakpoints ?? []).map(({ line }) => line);
      return {
        breakpoints: this.#replace(
          path,
          lines.map(line => () => this.#break(path, line)),
        ),
      };
    });
  }

  protected override setFunctionBreakPointsRequest(
    response: P.SetFunctionBreakpointsResponse,
    args: P.SetFunctionBreakpointsArguments,
  ): void {
    this.#answer(response, () => ({
      breakpoints: this.#replace(
        'functions',
        args.breakpoints.map(
          ({ name }) =>
            () =>
              this.#own.break(name).id,
        ),
      ),
    }));
  }

  protected override dataBreakpointInfoRequest(
    response: P.DataBreakpointInfoResponse,
    { name }: P.DataBreakpointInfoArguments,
  ): void {
    this.#answer(response, () => {
      const session = this.#standing;
      try {
        session.memoryOf(name);
        return { dataId: name, description: name, accessTypes: ['write' as const] };
      } catch (error) {
        return { dataId: null, description: error instanceof Error ? error.message : '' };
      }
    });
  }

  protected override setDataBreakpointsRequest(
    response: P.SetDataBreakpointsResponse,
    args: P.SetDataBreakpointsArguments,
  ): void {
    this.#answer(response, () => {
      const session = this.#standing;
      return {
        breakpoints: this.#replace(
          'data',
          args.breakpoints.map(
            ({ dataId }) =>
              () =>
                session.watch(dataId).id,
          ),
        ),
      };
    });
  }

  /** Replaces the breakpoints that the client has set under this name. */
  #replace(name: string, all: readonly (() => number)[]): P.Breakpoint[] {
    for (const id of this.#set.get(name) ?? []) this.#own.delete(id);
    const ids: number[] = [];
    this.#set.set(name, ids);
    return all.map(make => {
      try {
        const id = make();
        ids.push(id);
        return { id, verified: true };
      } catch (error) {
        if (!(error instanceof KcovboxError)) throw error;
        return { verified: false, message: error.message };
      }
    });
  }

  /** The compiler has named the file by some end of its path. */
  #break(path: string, line: number): number {
    const parts = path.split(/[\\/]/);
    let last: unknown;
    for (let i = 0; i < parts.length; i++) {
      try {
        return this.#own.break(`${parts.slice(i).join('/')}:${line}`).id;
      } catch (error) {
        last = error;
      }
    }
    throw last;
  }

  // Motion.

  #move(
    response: P.Response,
    { threadId }: { readonly threadId: number },
    way: (session: DebugSession) => Motion,
  ): void {
    try {
      const session = this.#standing;
      session.selectHart(threadId - 1);
      response.body = { allThreadsContinued: true };
      this.sendResponse(response);
      void this.#go(way(session));
    } catch (error) {
      this.#refuse(response, error);
    }
  }

  async #go(motion: Motion): Promise<void> {
    try {
      const reason = await this.#inTurns(motion);
      if (reason) this.#tell(reason);
    } catch (error) {
      this.#stopped('pause', error instanceof Error ? error.message : String(error));
    }
  }

  /** Undefined: the client has paused the motion, or is gone. */
  async #inTurns<T>(motion: InPieces<T>, onSlow?: () => void): Promise<T | undefined> {
    const session = this.#own;
    const from = session.stand;
    const going = new AbortController();
    this.#going = going;
    let result: T | undefined;
    try {
      result = await inTurns(motion, going.signal, onSlow);
      if (result === undefined) session.abandon(from);
    } finally {
      this.#going = undefined;
    }
    if (result === undefined && going.signal.reason === PAUSE) this.#stopped('pause');
    return result;
  }

  #tell(reason: Reason): void {
    if (reason.kind === 'breakpoint') this.#stopped('breakpoint');
    else if (reason.kind === 'watch') this.#stopped('data breakpoint', `${reason.before} -> ${reason.after}`);
    else if (reason.kind === 'begin') this.#stopped('entry', 'the beginning of the run');
    else if (reason.kind === 'end') this.#stopped('exit', 'the end of the run; step back, or disconnect');
    else this.#stopped('step', reason.note);
  }

  #stopped(reason: string, text?: string): void {
    this.#values.reset();
    const event: P.StoppedEvent = new StoppedEvent(reason, this.#own.hart.id + 1);
    event.body.allThreadsStopped = true;
    if (text !== undefined) event.body.text = event.body.description = text;
    this.sendEvent(event);
  }

  #step(
    response: P.Response,
    args: P.NextArguments,
    direction: Direction,
    way: 'next' | 'step' | 'finish',
  ): void {
    this.#move(response, args, session =>
      args.granularity === 'instruction' && way !== 'finish'
        ? session.stepInstruction(direction)
        : session[way](direction),
    );
  }

  protected override continueRequest(response: P.ContinueResponse, args: P.ContinueArguments): void {
    this.#move(response, args, session => session.continue('forward'));
  }

  protected override reverseContinueRequest(
    response: P.ReverseContinueResponse,
    args: P.ReverseContinueArguments,
  ): void {
    this.#move(response, args, session => session.continue('back'));
  }

  protected override nextRequest(response: P.NextResponse, args: P.NextArguments): void {
    this.#step(response, args, 'forward', 'next');
  }

  protected override stepInRequest(response: P.StepInResponse, args: P.StepInArguments): void {
    this.#step(response, args, 'forward', 'step');
  }

  protected override stepOutRequest(response: P.StepOutResponse, args: P.StepOutArguments): void {
    this.#step(response, args, 'forward', 'finish');
  }

  protected override stepBackRequest(response: P.StepBackResponse, args: P.StepBackArguments): void {
    this.#step(response, args, 'back', 'next');
  }

  protected override pauseRequest(response: P.PauseResponse): void {
    this.#going?.abort(PAUSE);
    this.sendResponse(response);
  }

  // State.

  protected override threadsRequest(response: P.ThreadsResponse): void {
    this.#answer(response, () => ({
      threads: this.#own.timeline.machine.harts.map(({ id }) => new Thread(id + 1, `hart ${id}`)),
    }));
  }

  protected override stackTraceRequest(response: P.StackTraceResponse, args: P.StackTraceArguments): void {
    this.#answer(response, () => {
      const session = this.#standing;
      session.selectHart(args.threadId - 1);
      const all = session.frames.map(({ function: name, file, line, pc }, level) => {
        const path = file === '' ? undefined : this.#source.pathOf(file);
        const source = path === undefined ? undefined : new Source(basename(file), path);
        const frame: P.StackFrame = new StackFrame(args.threadId * FRAMES + level, name, source, line, 1);
        frame.instructionPointerReference = `0x${pc.toString(16)}`;
        return frame;
      });
      const from = args.startFrame ?? 0;
      return {
        stackFrames: all.slice(from, args.levels ? from + args.levels : undefined),
        totalFrames: all.length,
      };
    });
  }

  #select(frameId: number): DebugSession {
    const session = this.#standing;
    session.selectHart(Math.floor(frameId / FRAMES) - 1);
    session.selectFrame(frameId % FRAMES);
    return session;
  }

  protected override scopesRequest(response: P.ScopesResponse, { frameId }: P.ScopesArguments): void {
    this.#answer(response, () => {
      const session = this.#select(frameId);
      const locals = session.locals.map(variable => ({
        name: variable.name,
        value: session.valueHere(variable),
      }));
      return {
        scopes: [
          new Scope(
            'Locals',
            this.#values.create(() => locals),
            false,
          ),
          new Scope(
            'Registers',
            this.#values.create(() => registersOf(session)),
            true,
          ),
        ],
      };
    });
  }

  protected override variablesRequest(
    response: P.VariablesResponse,
    { variablesReference }: P.VariablesArguments,
  ): void {
    this.#answer(response, () => {
      const session = this.#standing;
      const all = this.#values.get(variablesReference)?.() ?? [];
      return { variables: all.map(({ name, value }) => this.#variable(session, name, value)) };
    });
  }

  #variable(session: DebugSession, name: string, value: Named['value']): P.Variable {
    if (typeof value === 'string') return { name, value: `<${value}>`, variablesReference: 0 };
    const inner = this.#inner(value);
    return {
      name,
      value: session.show(value),
      type: value.type.name,
      variablesReference: inner ? this.#values.create(inner) : 0,
    };
  }

  /** The parts of a value; read when the client asks. */
  #inner(value: Value): (() => readonly Named[]) | undefined {
    const { type, bytes } = value;
    if (type.kind === 'struct')
      return () =>
        type
          .members()
          .slice(0, ITEMS_MAX)
          .map(member => ({ name: member.name || '(anonymous)', value: memberOf(value, member) }));
    if (type.kind === 'array' && type.of.bytes > 0)
      return () =>
        Array.from(
          { length: Math.min(type.count, ITEMS_MAX, Math.floor(bytes.length / type.of.bytes)) },
          (_, i) => ({
            name: `[${i}]`,
            value: memberOf(value, { type: type.of, offset: i * type.of.bytes }),
          }),
        );
    if (type.kind !== 'pointer') return undefined;
    const to = type.to();
    if (to.kind !== 'struct' || bytes.every(byte => byte === 0)) return undefined;
    return () => {
      const va = new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0, true);
      const data = this.#own.read(va, Math.min(to.bytes, 1 << 16));
      const target: Value | undefined = data && { type: to, place: { kind: 'memory', va }, bytes: data };
      return target ? this.#inner(target)!() : [{ name: '*', value: 'not readable' }];
    };
  }

  protected override evaluateRequest(response: P.EvaluateResponse, args: P.EvaluateArguments): void {
    const [word = ''] = args.expression.trim().split(/\s+/);
    if (args.context === 'repl' && COMMANDS.some(({ names }) => names.includes(word))) {
      void this.#command(response, args);
      return;
    }
    this.#answer(response, () => {
      const session = args.frameId === undefined ? this.#standing : this.#select(args.frameId);
      const value = session.evaluate(args.expression);
      const { value: result, type, variablesReference } = this.#variable(session, '', value);
      return { result, variablesReference, ...(type !== undefined && { type }) };
    });
  }

  /** A command of `kcovbox debug`, which may move the run. */
  async #command(response: P.EvaluateResponse, { expression, frameId }: P.EvaluateArguments): Promise<void> {
    try {
      const session = frameId === undefined ? this.#standing : this.#select(frameId);
      const said: string[] = [];
      const { position } = session.timeline;
      const repl = new Repl({
        session,
        source: this.#source,
        start: this.#start,
        say: text => said.push(text),
      });
      const going = (): void => this.sendEvent(new ContinuedEvent(session.hart.id + 1, true));
      const isDone = await this.#inTurns(repl.steps(expression), going);
      if (isDone !== undefined && session.timeline.position !== position) this.#stopped('goto');
      response.body = { result: said.join('\n'), variablesReference: 0 };
      this.sendResponse(response);
    } catch (error) {
      this.#refuse(response, error);
    }
  }

  /** The client has gone; the library would end the process with status 0. */
  override shutdown(): void {
    this.#going?.abort(GONE);
  }
}

const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];

function registersOf({ hart }: DebugSession): Named[] {
  return REGISTERS.map(name => {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setBigUint64(0, readRegister(hart, registerNumber(name)!) ?? 0n, true);
    const type = { kind: 'pointer' as const, name: 'register', bytes: 8 as const, to: () => VOID };
    return { name, value: { type, place: undefined, bytes } };
  });
}

const VOID = { kind: 'void' as const, name: 'void' as const, bytes: 0 as const };
