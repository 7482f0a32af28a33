// A debug session as a server of the Debug Adapter Protocol, with which editors step in both
// directions. A motion goes in turns with the client's requests: it can be paused, and breakpoints
// that are set meanwhile count. Requests that look at the guest are refused until it stands.
import { basename, resolve } from 'node:path';
import {
  DebugSession as Adapter,
  ContinuedEvent,
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
import type { DebugSession } from '../../debug/session.ts';
import { type InPieces, KcovboxError } from '../../emulator/index.ts';
import { inTurns } from '../debug/in-turns.ts';
import { openDebugger } from '../debug/open.ts';
import { meaningOf, Repl } from '../debug/repl.ts';
import { SourceView } from '../debug/source.ts';
import { checkArguments } from './arguments.ts';
import { ClientBreakpoints } from './breakpoints.ts';
import { ClientValues } from './values.ts';

interface Launch extends P.LaunchRequestArguments {
  readonly capsule?: unknown;
  readonly images?: readonly string[];
  readonly sources?: readonly string[];
  readonly stopOnEntry?: boolean;
}

/** Frames of a hart have numbers from here on. */
const FRAMES = 1000;
const CR = 13;
const NOT_OPEN = 'no capsule is open: launch first';
/** Why a motion was given up: the client has gone, or asks for a stop. */
const GONE = 'gone';
const PAUSE = 'pause';

export class DapServer extends Adapter {
  readonly #folders: readonly string[];
  readonly #values = new ClientValues();
  #session: DebugSession | undefined;
  #source: SourceView;
  #start = 0;
  /** The motion that goes on. */
  #going: AbortController | undefined;
  #breakpoints: ClientBreakpoints | undefined;
  /** A capsule is open, or is about to be. */
  #isLaunched = false;
  #stopsOnEntry = true;
  #isConfigured = false;
  /** `terminated`: the client has nothing to ask any more; `gone`: it hears nothing. */
  #over: 'terminated' | 'gone' | undefined;

  /** `folders`: where sources may be. */
  constructor(folders: readonly string[]) {
    super();
    this.#folders = folders;
    this.#source = new SourceView(folders);
    this.setDebuggerLinesStartAt1(true);
    this.setDebuggerColumnsStartAt1(true);
  }

  readonly #log = (text: string): void => this.sendEvent(new OutputEvent(`${text}\n`, 'console'));

  /** Errors: KcovboxError before `launch`, and while the run moves. */
  get #standing(): DebugSession {
    this.#checkStanding();
    return this.#own;
  }

  #checkStanding(): void {
    if (this.#going) throw new KcovboxError('input', 'the run goes on: pause it first');
  }

  #checkOpen(): void {
    if (!this.#session) throw new KcovboxError('input', NOT_OPEN);
  }

  /** Errors: KcovboxError before `launch`. */
  get #own(): DebugSession {
    if (!this.#session) throw new KcovboxError('input', NOT_OPEN);
    return this.#session;
  }

  /** Errors: KcovboxError before `launch`. */
  get #set(): ClientBreakpoints {
    if (!this.#breakpoints) throw new KcovboxError('input', NOT_OPEN);
    return this.#breakpoints;
  }

  /** Each request has one answer; a request that cannot be met, one with the reason. */
  protected override dispatchRequest(request: P.Request): void {
    try {
      // The protocol's default, which the library does not know.
      const { command } = request;
      if (this.#over && command !== 'disconnect')
        throw new KcovboxError('input', 'the session is over: disconnect');
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
      supportsConditionalBreakpoints: true,
      supportsLogPoints: true,
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

  async #launch(launch: Launch): Promise<void> {
    const { capsule } = launch;
    if (typeof capsule !== 'string')
      throw new KcovboxError('input', 'launch: "capsule" has to name a file that run --record wrote');
    if (this.#isLaunched)
      throw new KcovboxError(
        'input',
        'launch: a capsule is open already; another one needs a server of its own',
      );
    this.#isLaunched = true;
    try {
      await this.#open(capsule, launch);
    } catch (error) {
      this.#isLaunched = false;
      throw error;
    }
  }

  async #open(capsule: string, { images = [], sources = [], stopOnEntry = true }: Launch): Promise<void> {
    const folders = sources.map(folder => resolve(folder));
    let line: number[] = [];
    const print = (byte: number): void => {
      if (byte !== CR) line.push(byte);
      if (byte !== 10 && line.length < 4096) return;
      this.sendEvent(new OutputEvent(new TextDecoder().decode(Uint8Array.from(line)), 'stdout'));
      line = [];
    };
    const opened = await openDebugger(capsule, images, { engine: 'jit' }, print);
    this.#source = new SourceView([...folders, ...this.#folders], {
      images: opened.session.images,
      say: this.#log,
    });
    this.#session = opened.session;
    this.#breakpoints = new ClientBreakpoints(opened.session, this.#source, this.#log);
    this.#start = opened.start;
    this.#stopsOnEntry = stopOnEntry;
  }

  /** The run begins for the client. */
  protected override configurationDoneRequest(response: P.ConfigurationDoneResponse): void {
    this.#answer(response, () => {
      this.#checkOpen();
      if (this.#isConfigured) throw new KcovboxError('input', 'configurationDone has come already');
      this.#isConfigured = true;
    });
    if (!response.success) return;
    if (this.#stopsOnEntry) this.#stopped('entry');
    else void this.#go(this.#own.continue('forward'));
  }

  protected override disconnectRequest(response: P.DisconnectResponse): void {
    this.#going?.abort(GONE);
    this.sendResponse(response);
    this.#over = 'gone';
    this.stop();
    this.emit('disconnect');
  }

  override sendResponse(response: P.Response): void {
    if (this.#over !== 'gone') super.sendResponse(response);
  }

  override sendEvent(event: P.Event): void {
    if (this.#over !== 'gone') super.sendEvent(event);
  }

  /** The run is over for the client, which disconnects. */
  protected override terminateRequest(response: P.TerminateResponse): void {
    this.#going?.abort(GONE);
    this.#over = 'terminated';
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
      const asked = (args.breakpoints ?? []).map(one => ({
        ...one,
        line: this.convertClientLineToDebugger(one.line),
      }));
      return { breakpoints: this.#set.setLines(path, asked).map(one => this.#told(one)) };
    });
  }

  /** As the client counts lines. */
  #told(breakpoint: P.Breakpoint): P.Breakpoint {
    const { line } = breakpoint;
    return line === undefined ? breakpoint : { ...breakpoint, line: this.convertDebuggerLineToClient(line) };
  }

  protected override setFunctionBreakPointsRequest(
    response: P.SetFunctionBreakpointsResponse,
    args: P.SetFunctionBreakpointsArguments,
  ): void {
    this.#answer(response, () => ({
      breakpoints: this.#set.setFunctions(args.breakpoints),
    }));
  }

  /** Clients send it also where a server has no such filters. */
  protected override setExceptionBreakPointsRequest(
    response: P.SetExceptionBreakpointsResponse,
    { filters = [] }: Partial<P.SetExceptionBreakpointsArguments>,
  ): void {
    this.#answer(response, () => ({
      breakpoints: filters.map(filter => ({ verified: false, message: `there is no filter ${filter}` })),
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
      this.#checkStanding(); // an expression needs a place
      return { breakpoints: this.#set.setData(args.breakpoints) };
    });
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
    if (result === undefined && going.signal.reason === PAUSE && !this.#over) this.#stopped('pause');
    return result;
  }

  #tell(reason: Reason): void {
    if (reason.kind === 'breakpoint') this.#stopped('breakpoint', reason.note);
    else if (reason.kind === 'watch')
      this.#stopped('data breakpoint', reason.note ?? `${reason.before} -> ${reason.after}`);
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
    this.#answer(response, () => {
      this.#checkOpen();
      this.#going?.abort(PAUSE);
    });
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
        const id = args.threadId * FRAMES + level;
        const at = line === 0 ? 0 : this.convertDebuggerLineToClient(line);
        const column = this.convertDebuggerColumnToClient(1);
        const frame: P.StackFrame = new StackFrame(id, name, source, at, column);
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
      const { locals, registers } = this.#values.scopes(this.#select(frameId));
      return { scopes: [new Scope('Locals', locals, false), new Scope('Registers', registers, true)] };
    });
  }

  protected override variablesRequest(
    response: P.VariablesResponse,
    { variablesReference }: P.VariablesArguments,
  ): void {
    this.#answer(response, () => {
      return { variables: this.#values.parts(this.#standing, variablesReference) };
    });
  }

  protected override evaluateRequest(response: P.EvaluateResponse, args: P.EvaluateArguments): void {
    if (args.context === 'repl' && this.#isCommand(args)) {
      void this.#command(response, args);
      return;
    }
    this.#answer(response, () => {
      const session = args.frameId === undefined ? this.#standing : this.#select(args.frameId);
      const value = session.evaluate(args.expression);
      const { value: result, type, variablesReference } = this.#values.variable(session, '', value);
      return { result, variablesReference, ...(type !== undefined && { type }) };
    });
  }

  /** The console takes expressions, too: a variable's name is no short form of a command. */
  #isCommand({ expression, frameId }: P.EvaluateArguments): boolean {
    const [word = ''] = expression.trim().split(/\s+/);
    const meaning = meaningOf(word);
    if (meaning !== 'short') return meaning === 'name';
    try {
      return !(frameId === undefined ? this.#standing : this.#select(frameId)).hasVariable(word);
    } catch {
      return true; // it says why it cannot run
    }
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
        log: this.#log,
      });
      const going = (): void => this.sendEvent(new ContinuedEvent(session.hart.id + 1, true));
      const isDone = await this.#inTurns(repl.steps(expression), going);
      if (isDone === false) said.push('the editor ends the session');
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
