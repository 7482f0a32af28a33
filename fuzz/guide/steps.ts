// The systematic changes of a program: each place of each call gets the values at which code often
// errs, and the operands that the kernel has compared its value with. A campaign makes each step
// once for a call that succeeds, and once for one that fails, whichever programs contain it: most
// programs of a corpus repeat the calls of others. A harness has one call, and what a step is worth
// depends on the other bytes: there each program has its own steps.
import type { Called } from '../executor/executor.ts';
import type { Type } from '../language/types.ts';
import {
  type Arg,
  type Call,
  copyProgram,
  dropDangling,
  mask,
  type Place,
  type Program,
  visit,
} from '../program/program.ts';
import { programText } from '../program/text.ts';
import { BAD_POINTERS, extremes } from '../program/values.ts';
import { type Comparison, put, replacements, replacementsIn } from './hints.ts';

/** A program with one argument replaced. */
export interface Step {
  /** The call, whether it succeeds, the place and the new value. */
  readonly key: string;
  program(): Program;
}

/** All of them, each key once. `called`: the execution of the program. */
export function steps(
  program: Program,
  comparisons: readonly (readonly Comparison[])[],
  called: readonly Pick<Called, 'value'>[],
): Step[] {
  const found = new Map<string, Step>();
  const isOwn = program.calls.some(({ type }) => type.isExact);
  const own = isOwn ? ` ${hashOf(programText(program))}` : '';
  const add = (call: number, n: number, what: string, change: (place: Place) => void): void => {
    const { value } = called[call]!;
    const end = value === undefined ? 'stays' : value < ERRORS ? 'returns' : 'fails';
    const key = `${nameOf(program.calls[call]!)}${own} ${end} ${n} ${what}`;
    if (!found.has(key)) found.set(key, { key, program: () => copyWith(program, call, n, change) });
  };
  for (const [index, call] of program.calls.entries()) {
    if (!called[index]) break; // it did not begin
    const compared = comparisons[index] ?? [];
    let n = -1;
    visit(call, ({ type, arg, direction }) => {
      n++;
      if (direction === 'out') return;
      const isGiven = type.kind === 'pointer' || type.kind === 'len';
      if (call.type.isExact && isGiven && call.args.includes(arg)) return;
      const number = numberOf(type, arg, called);
      if (number) {
        const set = (value: bigint): void =>
          add(index, n, value.toString(16), place => place.replace({ kind: 'int', value }));
        for (const value of extremes(number.width)) if (value !== number.value) set(value);
        if (number.value !== undefined)
          for (const value of replacements(number.value, number.width, compared)) set(value);
      } else if (type.kind === 'pointer')
        for (const value of BAD_POINTERS)
          add(index, n, value.toString(16), place => place.replace({ kind: 'int', value }));
      else if (arg.kind === 'bytes')
        for (const { offset, width, value } of replacementsIn(arg.data, compared))
          add(index, n, `${offset} ${width} ${value.toString(16)}`, place => {
            if (place.arg.kind === 'bytes') put(place.arg.data, offset, width, value);
          });
    });
  }
  return [...found.values()];
}

/** FNV-1a, 32 bits, of a text of ASCII. */
function hashOf(text: string): string {
  let hash = 0x811c_9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x0100_0193);
  return (hash >>> 0).toString(16);
}

/** With the values that choose what the call does, such as the command of shmctl. */
function nameOf({ type, args }: Call): string {
  const chosen = type.args.flatMap((field, i) => {
    const arg = args[i]!;
    const chooses = field.type.kind === 'flags' && field.type.set.kind === 'values';
    return chooses && arg.kind === 'int' ? [` ${arg.value.toString(16)}`] : [];
  });
  return type.name + chosen.join('');
}

/** Values from here on are error numbers. */
const ERRORS = (1n << 64n) - 4096n;

/** A place that holds a number, and its value, where that is known. */
function numberOf(
  type: Type,
  arg: Arg,
  called: readonly Pick<Called, 'value'>[],
): { width: number; value: bigint | undefined } | undefined {
  if (type.kind === 'resource') {
    const { width } = type.resource;
    if (arg.kind === 'int') return { width, value: arg.value };
    if (arg.kind !== 'ref') return undefined;
    const value = arg.out === 0 ? called[arg.call]?.value : undefined;
    return { width, value: value === undefined || value >= ERRORS ? undefined : mask(value, width) };
  }
  if (arg.kind !== 'int' || type.kind === 'const' || !('width' in type)) return undefined;
  return { width: type.width, value: arg.value };
}

/** A copy in which the n-th place of a call is changed. */
function copyWith(program: Program, call: number, n: number, change: (place: Place) => void): Program {
  const copy = copyProgram(program);
  let at = 0;
  let wanted: Place | undefined;
  visit(copy.calls[call]!, place => {
    if (at++ === n) wanted = place;
  });
  change(wanted!);
  dropDangling(copy);
  return copy;
}
