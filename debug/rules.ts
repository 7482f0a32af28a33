// The conditions and texts of breakpoints and watches.
import { isTrue } from './arithmetic.ts';
import type { Rule, Wish } from './breakpoints.ts';
import { DebugError } from './error.ts';
import type { Expression } from './expression.ts';
import type { Value } from './values.ts';

const ECHO_MAX = 1 << 24;

/**
 * The texts that a search backwards comes by. It runs forwards through one interval after the
 * other, so it says the texts of each late, the last one first.
 */
export class Echo {
  #texts: { readonly unit: number; readonly text: string; readonly say: (text: string) => void }[] = [];
  #length = 0;
  /** Texts from here on were said. */
  #from = Number.POSITIVE_INFINITY;

  /** For a search from anywhere. */
  begin(): void {
    this.forget();
    this.#from = Number.POSITIVE_INFINITY;
  }

  /** For a search that begins again: it does not say anything twice. */
  forget(): void {
    this.#texts = [];
    this.#length = 0;
  }

  /** False: it is not kept, for there is too much. */
  add(unit: number, text: string, say: (text: string) => void): boolean {
    this.#length += text.length + 1;
    if (this.#length > ECHO_MAX) return false;
    if (unit < this.#from) this.#texts.push({ unit, text, say });
    return true;
  }

  /** The search has come to `unit`: says what lies there or behind it, and forgets the rest. */
  say(unit: number): void {
    for (const one of this.#texts.reverse()) if (one.unit >= unit) one.say(one.text);
    this.#from = Math.min(this.#from, unit);
    this.forget();
  }
}

/** The parts of a session that a rule needs. */
interface Reader {
  compile(text: string): Expression;
  show(value: Value): string;
}

/** Errors: DebugError where an expression is wrong by itself. */
export function ruleOf({ condition, log }: Wish, reader: Reader): Rule {
  return {
    ...(condition !== undefined && { condition: { text: condition, value: reader.compile(condition) } }),
    ...(log && { log: { ...log, made: textOf(log.text, reader) } }),
  };
}

/** The text with the values of this moment. */
function textOf(text: string, reader: Reader): () => string {
  const parts = text.split(/\{([^{}]*)\}/).map((part, i) => {
    if (i % 2 === 0) return () => part;
    const value = reader.compile(part);
    return () =>
      valueOr(
        () => reader.show(value()),
        why => `<${why}>`,
      );
  });
  return () => parts.map(part => part()).join('');
}

/**
 * The run is where the rule holds: does it do something there? `note`: what the user did not ask
 * for, a condition that has no value.
 */
export function meets({ condition }: Rule): { readonly note?: string } | undefined {
  if (!condition) return {};
  return valueOr(
    () => (isTrue(condition.value()) ? {} : undefined),
    why => ({ note: `no value for "${condition.text}": ${why}` }),
  );
}

function valueOr<T, E>(value: () => T, otherwise: (why: string) => E): T | E {
  try {
    return value();
  } catch (error) {
    if (!(error instanceof DebugError)) throw error;
    return otherwise(error.message);
  }
}
