// The breakpoints of the client: each request replaces those of one source, all of functions, or
// all of data.
import type { DebugProtocol as P } from '@vscode/debugprotocol';
import type { Wish } from '../../debug/breakpoints.ts';
import { DebugError } from '../../debug/error.ts';
import type { DebugSession } from '../../debug/session.ts';
import { KcovboxError } from '../../emulator/index.ts';
import type { SourceView } from '../debug/source.ts';
import { type SourceFile, sourceFileOf } from './source-file.ts';

interface Made {
  readonly id: number;
  /** Where it is, if the client asked for a line. */
  readonly line?: number;
}

/** The fields of DAP that source, function and data breakpoints share. */
interface Asked {
  readonly condition?: string | null;
  readonly hitCondition?: string | null;
  readonly logMessage?: string | null;
}

export class ClientBreakpoints {
  readonly #session: DebugSession;
  readonly #source: SourceView;
  readonly #say: (text: string) => void;
  /** Numbers of the session's breakpoints, by what the client has set. */
  readonly #set = new Map<string, number[]>();

  /** `say`: for messages of breakpoints. */
  constructor(session: DebugSession, source: SourceView, say: (text: string) => void) {
    this.#session = session;
    this.#source = source;
    this.#say = say;
  }

  /** Lines count from 1. */
  setLines(path: string, asked: readonly P.SourceBreakpoint[]): P.Breakpoint[] {
    let file: SourceFile | undefined;
    const make = (one: P.SourceBreakpoint) => (): Made => {
      file ??= sourceFileOf(path, this.#session.images, this.#source);
      return this.#atLine(file, one.line, this.#wish(one));
    };
    return this.#replace(`source ${path}`, asked.map(make));
  }

  /** Clients send empty texts for none. Errors: DebugError for what is not announced. */
  #wish({ condition, hitCondition, logMessage }: Asked): Wish {
    if (hitCondition)
      throw new DebugError('counts of hits are not supported: use a condition, or when in the console');
    return {
      condition: condition || undefined,
      log: logMessage ? { text: logMessage, say: this.#say } : undefined,
    };
  }

  #atLine({ image, names }: SourceFile, line: number, wish: Wish): Made {
    const what = `${names[0]}:${line}`;
    const addresses = image.atLine(names, line);
    if (addresses.length === 0) throw new DebugError(`there is no code at ${what}, nor soon behind it`);
    const { id, levels } = this.#session.break(what, wish, addresses);
    const [first] = addresses as [bigint];
    return { id, line: this.#session.describe(first, levels.get(first)).line };
  }

  setFunctions(asked: readonly P.FunctionBreakpoint[]): P.Breakpoint[] {
    return this.#replace(
      'functions',
      asked.map(one => () => ({ id: this.#session.break(one.name, this.#wish(one)).id })),
    );
  }

  setData(asked: readonly P.DataBreakpoint[]): P.Breakpoint[] {
    return this.#replace(
      'data',
      asked.map(one => () => ({ id: this.#session.watch(one.dataId, this.#wish(one)).id })),
    );
  }

  #replace(key: string, all: readonly (() => Made)[]): P.Breakpoint[] {
    for (const id of this.#set.get(key) ?? []) this.#session.delete(id);
    const ids: number[] = [];
    this.#set.set(key, ids);
    return all.map(make => {
      try {
        const made = make();
        ids.push(made.id);
        return { ...made, verified: true };
      } catch (error) {
        if (!(error instanceof KcovboxError)) throw error;
        return { verified: false, message: error.message };
      }
    });
  }
}
