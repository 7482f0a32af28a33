// Changes of programs. The result is always a program of the same descriptions: its text can be
// read back (test/fuzz/programs.test.ts searches for one that cannot).
import type { Generator } from './generate.ts';
import {
  CALLS_MAX,
  type Call,
  copyCall,
  copyProgram,
  dropDangling,
  type Place,
  type Program,
  redirect,
  removeCall,
  setLengths,
  VMA_PAGES,
  visit,
} from './program.ts';
import type { Random } from './random.ts';
import { changeBytes, changeInt, type Dictionary, newFlags } from './values.ts';

export interface Mutation {
  readonly random: Random;
  readonly generator: Generator;
  readonly dictionary: Dictionary;
  /** Programs of which a part may be taken. */
  readonly others: readonly Program[];
  /** May allocations of calls fail? */
  readonly failsAllocations: boolean;
}

/** Most consecutive allocations of a call of which one fails. */
const FAIL_MAX = 12;

/** A changed copy. */
export function mutate(program: Program, how: Mutation): Program {
  const { random } = how;
  const copy = copyProgram(program);
  do change(copy, how);
  while (random.oneIn(3));
  return copy;
}

function change(program: Program, how: Mutation): void {
  const { random, generator } = how;
  const { calls } = program;
  const pick = random.below(100);
  if (calls.length === 0 || (pick < 20 && calls.length < CALLS_MAX)) {
    // New calls are mostly put behind the others, which make resources for them.
    const at = random.oneIn(3) ? random.below(calls.length + 1) : calls.length;
    generator.insert(program, at);
  } else if (pick < 28 && calls.length > 1) removeCall(program, random.below(calls.length));
  else if (pick < 34 && calls.length < CALLS_MAX) repeat(program, random);
  else if (pick < 42 && how.others.length > 0) splice(program, random.of(how.others), random);
  else if (pick < 48 && how.failsAllocations) random.of(calls).failNth = random.below(FAIL_MAX + 1);
  else changeArgument(program, how);
}

/** A call once more, behind itself or at the end. */
function repeat(program: Program, random: Random): void {
  const index = random.below(program.calls.length);
  program.calls.push(copyCall(program.calls[index]!));
}

/** The beginning of the program, then a whole other one. */
function splice(program: Program, other: Program, random: Random): void {
  const { calls } = program;
  const kept = 1 + random.below(calls.length);
  const added = copyProgram(other).calls.slice(0, CALLS_MAX - kept);
  redirect(added, 0, call => call + kept);
  calls.splice(kept, calls.length, ...added);
  program.schedule ??= other.schedule;
  program.faults ??= other.faults;
}

/** Places that a mutation may change. */
function placesOf(call: Call): Place[] {
  const places: Place[] = [];
  visit(call, place => {
    const { type, direction } = place;
    const isFixed = type.kind === 'struct' || type.kind === 'const';
    const isFilled = direction === 'out' && type.kind !== 'bytes' && type.kind !== 'array';
    if (!isFixed && !isFilled) places.push(place);
  });
  return places;
}

function changeArgument(program: Program, how: Mutation): void {
  const { random } = how;
  const at = random.below(program.calls.length);
  const call = program.calls[at]!;
  const places = placesOf(call);
  if (places.length === 0) return;
  const isLength = changePlace(program, at, random.of(places), how);
  // A length that was changed stays wrong; others follow what they measure.
  if (!isLength) setLengths(call);
  // A resource that the call made may be gone, with references to it.
  dropDangling(program);
}

function changePlace(program: Program, at: number, place: Place, how: Mutation): boolean {
  const { random, generator, dictionary } = how;
  const { type, arg, direction, replace } = place;
  if (arg.kind === 'int' && (type.kind === 'int' || type.kind === 'len')) {
    arg.value = changeInt(random, arg.value, type.width, dictionary);
    return type.kind === 'len';
  }
  if (arg.kind === 'int' && type.kind === 'flags') {
    const { set, width } = type;
    const bit = set.kind === 'bits' && random.oneIn(2) ? arg.value ^ random.of(set.values) : undefined;
    arg.value = BigInt.asUintN(8 * width, bit ?? newFlags(random, set, width));
  } else if (arg.kind === 'bytes' && direction !== 'out' && !random.oneIn(4))
    arg.data = changeBytes(random, type, arg.data, dictionary);
  else if (arg.kind === 'vma')
    arg.page = random.oneIn(2) ? (arg.page + 1) % VMA_PAGES : random.below(VMA_PAGES);
  else replace(generator.fresh(program, at, type, direction));
  return false;
}
