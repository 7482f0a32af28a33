// The breakpoints of the client: each request replaces those of one source, all of functions, or
// all of data.
import type { DebugProtocol as P } from '@vscode/debugprotocol';
import { DebugError } from '../../debug/expression.ts';
import type { DebugSession } from '../../debug/session.ts';
import { KcovboxError } from '../../emulator/index.ts';
import type { SourceView } from '../debug/source.ts';
import { type SourceFile, sourceFileOf } from './source-file.ts';

interface Made {
  readonly id: number;
  /** Where it is, if the client asked for a line. */
  readonly line?: number;
}

export class ClientBreakpoints {
  readonly #session: DebugSession;
  readonly #source: SourceView;
  /** Numbers of the session's breakpoints, by what the client has set. */
  readonly #set = new Map<string, number[]>();

  constructor(session: DebugSession, source: SourceView) {
    this.#session = session;
    this.#source = source;
  }

  /** Lines count from 1. */
  setLines(path: string, lines: readonly number[]): P.Breakpoint[] {
    let file: SourceFile | undefined;
    const make = (line: number) => (): Made => {
      file ??= sourceFileOf(path, this.#session.images, this.#source);
      return this.#atLine(file, line);
    };
    return this.#replace(`source ${path}`, lines.map(make));
  }

  #atLine({ image, names }: SourceFile, line: number): Made {
    const what = `${names[0]}:${line}`;
    const addresses = image.lines.at(names, line);
    if (addresses.length === 0) throw new DebugError(`there is no code at ${what}, nor soon behind it`);
    const { id } = this.#session.break(what, addresses);
    return { id, line: image.statements.get(addresses[0]!)!.line };
  }

  setFunctions(names: readonly string[]): P.Breakpoint[] {
    return this.#replace(
      'functions',
      names.map(name => () => ({ id: this.#session.break(name).id })),
    );
  }

  setData(expressions: readonly string[]): P.Breakpoint[] {
    return this.#replace(
      'data',
      expressions.map(expression => () => ({ id: this.#session.watch(expression).id })),
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
