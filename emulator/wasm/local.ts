// The locals of one function, with types and owners. Only its function creates a Local, and its
// owner holds it until it releases it. No emitter can name a local by a number, so no two emitters
// can choose the same one. Released locals are recycled; the use of a released object throws.

import type { ValType } from './types.ts';

/** One local (or parameter) of a function under construction, of value type T. */
export class Local<T extends ValType = ValType> {
  readonly type: T;
  readonly index: number;
  /** Its owner; undefined once it is released. */
  pool: LocalPool | undefined;

  constructor(type: T, index: number, pool: LocalPool) {
    this.type = type;
    this.index = index;
    this.pool = pool;
  }
}

/** Parameters as locals, in order. */
export type LocalsOf<P extends readonly ValType[]> = { readonly [K in keyof P]: Local<P[K]> };

/** A source of locals: a function, or a scope of one. */
export interface LocalSource {
  /** A local whose value is not defined until it is set. */
  local<T extends ValType>(type: T): Local<T>;
  /** A local that is 0 when the function is entered and has one owner throughout it. */
  zeroed<T extends ValType>(type: T): Local<T>;
}

/** Allocates the locals of one function. */
export class LocalPool implements LocalSource {
  readonly params: readonly Local[];
  /** Types of all locals in order, parameters not included. */
  readonly declared: ValType[] = [];
  /** Locals that are not released; parameters do not count. */
  held = 0;
  readonly #free = new Map<ValType, number[]>();

  constructor(params: readonly ValType[]) {
    this.params = params.map((type, i) => new Local(type, i, this));
  }

  local<T extends ValType>(type: T): Local<T> {
    const index = this.#free.get(type)?.pop();
    if (index === undefined) return this.zeroed(type);
    this.held++;
    return new Local(type, index, this);
  }

  zeroed<T extends ValType>(type: T): Local<T> {
    this.held++;
    this.declared.push(type);
    return new Local(type, this.params.length + this.declared.length - 1, this);
  }

  /** Releases a local; throws if another function allocated it or it was released before. */
  release(local: Local): void {
    this.indexOf(local);
    if (local.index < this.params.length) throw new Error('wasm: a parameter is not released');
    local.pool = undefined;
    this.held--;
    const free = this.#free.get(local.type);
    if (free) free.push(local.index);
    else this.#free.set(local.type, [local.index]);
  }

  /**
   * The number that the binary format uses. Throws for a local that is released or of another
   * function.
   */
  indexOf(local: Local): number {
    if (local.pool === this) return local.index;
    throw new Error(`wasm: local ${local.index} is ${local.pool ? 'of another function' : 'released'}`);
  }
}

/** Locals that one owner releases together. */
export class LocalScope implements LocalSource {
  readonly #pool: LocalPool;
  #locals: Local[] = [];

  constructor(pool: LocalPool) {
    this.#pool = pool;
  }

  local<T extends ValType>(type: T): Local<T> {
    const local = this.#pool.local(type);
    this.#locals.push(local);
    return local;
  }

  zeroed<T extends ValType>(type: T): Local<T> {
    const local = this.#pool.zeroed(type);
    this.#locals.push(local);
    return local;
  }

  /** Releases them all; the scope is empty then and can be used again. */
  release(): void {
    for (const local of this.#locals) this.#pool.release(local);
    this.#locals = [];
  }
}
