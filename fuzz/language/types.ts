// The types of arguments of system calls, as descriptions declare them (docs/fuzzing.md).

import { KcovboxError } from '../../emulator/base/errors.ts';

/** An error in a description, a program or a configuration of the fuzzer. */
export class FuzzError extends KcovboxError {
  constructor(message: string) {
    super('input', message);
  }
}

/** Bytes of an integer. */
export type Width = 1 | 2 | 4 | 8;

/** A kind of value that one call makes and another one takes, such as a file descriptor. */
export interface Resource {
  readonly name: string;
  readonly width: Width;
  /** A resource that is also of this kind can stand for it. */
  readonly parent: Resource | undefined;
  /** Values that may stand for it where no call has made one; the first is the usual one. */
  readonly special: readonly bigint[];
}

/** A named set of bits or of values. */
export interface FlagSet {
  readonly name: string;
  readonly kind: 'bits' | 'values';
  /** Name of each value in C. */
  readonly names: readonly string[];
  readonly values: readonly bigint[];
}

/** The side that fills memory that is pointed to. */
export type Direction = 'in' | 'out' | 'inout';

export type Type =
  | { readonly kind: 'int'; readonly width: Width; readonly low: bigint; readonly high: bigint }
  | { readonly kind: 'const'; readonly width: Width; readonly value: bigint }
  | { readonly kind: 'flags'; readonly width: Width; readonly set: FlagSet }
  | { readonly kind: 'len'; readonly width: Width; readonly of: string; readonly unit: 'bytes' | 'items' }
  | { readonly kind: 'resource'; readonly resource: Resource }
  | { readonly kind: 'pointer'; readonly to: Type; readonly direction: Direction; readonly optional: boolean }
  | { readonly kind: 'string'; readonly set: StringSet }
  | { readonly kind: 'bytes'; readonly low: number; readonly high: number }
  | { readonly kind: 'array'; readonly of: Type; readonly low: number; readonly high: number }
  | { readonly kind: 'struct'; readonly struct: Struct }
  | { readonly kind: 'vma' };

export interface StringSet {
  readonly name: string;
  readonly values: readonly string[];
}

export interface Field {
  readonly name: string;
  readonly type: Type;
}

export interface Struct {
  readonly name: string;
  /** In order, without padding that is not declared. */
  readonly fields: readonly Field[];
}

/** One way to call a system call. */
export interface CallType {
  /** `openat`, or `fcntl$dupfd` for one of several ways. */
  readonly name: string;
  readonly number: number;
  readonly args: readonly Field[];
  readonly returns: Resource | undefined;
  /** The call may return twice. */
  readonly forks: boolean;
  /** Its pointers lead to what they should, and its lengths are true. */
  readonly isExact: boolean;
}

export interface Descriptions {
  /** In the order of their names. */
  readonly calls: readonly CallType[];
  readonly byName: ReadonlyMap<string, CallType>;
  readonly resources: ReadonlyMap<string, Resource>;
  readonly flags: ReadonlyMap<string, FlagSet>;
}

/** Can a value of `made` stand where `wanted` is asked for? */
export function fits(made: Resource, wanted: Resource): boolean {
  for (let at: Resource | undefined = made; at; at = at.parent) if (at === wanted) return true;
  return false;
}

/** The widest kind that the resource belongs to. */
export function rootOf(resource: Resource): Resource {
  let root = resource;
  while (root.parent) root = root.parent;
  return root;
}

/** Bytes that the type takes, where that does not depend on the value; else undefined. */
export function fixedSize(type: Type): number | undefined {
  switch (type.kind) {
    case 'int':
    case 'const':
    case 'flags':
    case 'len':
      return type.width;
    case 'resource':
      return type.resource.width;
    case 'pointer':
    case 'vma':
      return 8;
    case 'bytes':
      return type.low === type.high ? type.low : undefined;
    case 'string':
      return undefined;
    case 'array': {
      const one = fixedSize(type.of);
      return one !== undefined && type.low === type.high ? one * type.low : undefined;
    }
    case 'struct': {
      let sum = 0;
      for (const field of type.struct.fields) {
        const size = fixedSize(field.type);
        if (size === undefined) return undefined;
        sum += size;
      }
      return sum;
    }
  }
}
