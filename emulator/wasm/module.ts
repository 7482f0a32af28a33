// A WebAssembly module under construction (core spec 2.0 §5.5). Function bodies are CodeWriters;
// indices are handed out at declaration, so functions can call one another in any order. Imports
// must come before definitions of the same kind. The result is written straight into one growing
// byte buffer.

import { ByteBuffer } from './byte-buffer.ts';
import { type BranchHint, CodeWriter } from './code-writer.ts';
import type { LocalsOf } from './local.ts';
import { EXTERN_CODE, type ExternKind, type Limits, type ValType } from './types.ts';

export { type BranchHint, CodeWriter, type Hint, type Label } from './code-writer.ts';
export type { Local, LocalScope, LocalSource, LocalsOf } from './local.ts';
export { type BlockType, F32, F64, I32, I64, type Limits, type ValType } from './types.ts';

interface Declared {
  readonly type: number;
  readonly name: string | undefined;
  readonly code: CodeWriter;
}

interface Element {
  readonly table: number;
  readonly offset: number;
  readonly funcs: readonly number[];
}

/**
 * A declared function: its index for `call`, the writer of its body, and its parameters as locals.
 */
export interface FunctionHandle<P extends readonly ValType[] = readonly ValType[]> {
  readonly index: number;
  readonly code: CodeWriter;
  readonly params: LocalsOf<P>;
}

const SECTION = {
  custom: 0,
  type: 1,
  import: 2,
  func: 3,
  table: 4,
  export: 7,
  element: 9,
  code: 10,
};
const FUNCREF = 0x70;

export class ModuleBuilder {
  private readonly types = new Map<string, number>();
  private readonly typeBytes = new ByteBuffer(64);
  private readonly importBytes = new ByteBuffer(256);
  private readonly exportBytes = new ByteBuffer(64);
  private readonly tableBytes = new ByteBuffer(16);
  private readonly funcs: Declared[] = [];
  private readonly elements: Element[] = [];
  private readonly importNames: (string | undefined)[] = [];
  private imports = 0;
  private exports = 0;
  private tables = 0;
  private definedTables = 0;

  /** Index of a function type; equal signatures share one. */
  type(params: readonly ValType[], results: readonly ValType[] = []): number {
    const key = `${params.join()}:${results.join()}`;
    const known = this.types.get(key);
    if (known !== undefined) return known;
    const out = this.typeBytes;
    out.byte(0x60);
    for (const list of [params, results]) {
      out.u32(list.length);
      for (const type of list) out.byte(type);
    }
    this.types.set(key, this.types.size);
    return this.types.size - 1;
  }

  importFunction(
    module: string,
    name: string,
    params: readonly ValType[],
    results: readonly ValType[] = [],
  ): number {
    if (this.funcs.length > 0) throw new Error(`wasm: import ${module}.${name} after a function definition`);
    this.importHead(module, name, 'func');
    this.importBytes.u32(this.type(params, results));
    this.importNames.push(name);
    return this.importNames.length - 1;
  }

  importMemory(module: string, name: string, limits: Limits): void {
    this.importHead(module, name, 'memory');
    writeLimits(this.importBytes, limits);
  }

  importTable(module: string, name: string, limits: Limits): number {
    if (this.definedTables > 0) throw new Error(`wasm: import ${module}.${name} after a table definition`);
    this.importHead(module, name, 'table');
    this.importBytes.byte(FUNCREF);
    writeLimits(this.importBytes, limits);
    return this.tables++;
  }

  /** A table of function references. */
  table(limits: Limits): number {
    this.tableBytes.byte(FUNCREF);
    writeLimits(this.tableBytes, limits);
    this.definedTables++;
    return this.tables++;
  }

  /**
   * Declares a function; its body is written through the returned writer at any time before
   * `finish`.
   */
  func<const P extends readonly ValType[]>(
    params: P,
    results: readonly ValType[] = [],
    name?: string,
  ): FunctionHandle<P> {
    const code = new CodeWriter(params);
    this.funcs.push({ type: this.type(params, results), name, code });
    const index = this.importNames.length + this.funcs.length - 1;
    return { index, code, params: code.params as LocalsOf<P> };
  }

  export(name: string, kind: ExternKind, index: number): void {
    this.exportBytes.name(name);
    this.exportBytes.byte(EXTERN_CODE[kind]);
    this.exportBytes.u32(index);
    this.exports++;
  }

  /** Fills `table` from `offset` on with functions when the module is instantiated. */
  element(table: number, offset: number, funcs: readonly number[]): void {
    this.elements.push({ table, offset, funcs });
  }

  /**
   * The module's bytes. `names` adds the name section (for profiles and stack traces); branch hints
   * are written when some function has one.
   */
  finish(options: { names?: boolean } = {}): Uint8Array<ArrayBuffer> {
    const { code, hints } = this.writeCode();
    const out = new ByteBuffer(code.length + this.typeBytes.length + this.importBytes.length + 512);
    out.raw(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]));
    counted(out, SECTION.type, this.types.size, this.typeBytes);
    counted(out, SECTION.import, this.imports, this.importBytes);
    this.writeFuncSection(out);
    counted(out, SECTION.table, this.definedTables, this.tableBytes);
    counted(out, SECTION.export, this.exports, this.exportBytes);
    this.writeElements(out);
    this.writeHints(out, hints);
    counted(out, SECTION.code, this.funcs.length, code);
    if (options.names) this.writeNames(out);
    return out.view();
  }

  private importHead(module: string, name: string, kind: ExternKind): void {
    this.importBytes.name(module);
    this.importBytes.name(name);
    this.importBytes.byte(EXTERN_CODE[kind]);
    this.imports++;
  }

  private writeCode(): { code: ByteBuffer; hints: BranchHint[][] } {
    let bytes = 64;
    for (const func of this.funcs) bytes += func.code.length + 32;
    const code = new ByteBuffer(bytes);
    const hints: BranchHint[][] = [];
    for (const func of this.funcs) {
      const sizeAt = code.paddedU32(0);
      const start = code.length;
      hints.push(func.code.finishInto(code));
      code.patchU32(sizeAt, code.length - start);
    }
    return { code, hints };
  }

  private writeFuncSection(out: ByteBuffer): void {
    const body = new ByteBuffer(this.funcs.length * 2 + 8);
    for (const func of this.funcs) body.u32(func.type);
    counted(out, SECTION.func, this.funcs.length, body);
  }

  private writeElements(out: ByteBuffer): void {
    const body = new ByteBuffer(64);
    for (const element of this.elements) {
      // Form 2: active, explicit table, expression offset, function indices (§5.5.12).
      body.u32(2);
      body.u32(element.table);
      body.byte(0x41);
      body.s32(element.offset);
      body.byte(0x0b);
      body.byte(0);
      body.u32(element.funcs.length);
      for (const func of element.funcs) body.u32(func);
    }
    counted(out, SECTION.element, this.elements.length, body);
  }

  private writeHints(out: ByteBuffer, hints: BranchHint[][]): void {
    const hinted = hints.filter(list => list.length > 0).length;
    if (hinted === 0) return;
    const body = new ByteBuffer(1024);
    body.name('metadata.code.branch_hint');
    body.u32(hinted);
    for (const [i, list] of hints.entries()) {
      if (list.length === 0) continue;
      body.u32(this.importNames.length + i);
      body.u32(list.length);
      for (const hint of list) {
        body.u32(hint.offset);
        body.u32(1);
        body.byte(hint.likely ? 1 : 0);
      }
    }
    section(out, SECTION.custom, body);
  }

  private writeNames(out: ByteBuffer): void {
    const names: [number, string][] = [];
    for (const [i, name] of this.importNames.entries()) if (name) names.push([i, name]);
    for (const [i, func] of this.funcs.entries())
      if (func.name) names.push([this.importNames.length + i, func.name]);
    const map = new ByteBuffer(256);
    map.u32(names.length);
    for (const [index, name] of names) {
      map.u32(index);
      map.name(name);
    }
    const body = new ByteBuffer(map.length + 16);
    body.name('name');
    body.byte(1);
    body.u32(map.length);
    body.raw(map.view());
    section(out, SECTION.custom, body);
  }
}

function writeLimits(out: ByteBuffer, limits: Limits): void {
  out.byte(limits.max === undefined ? 0 : 1);
  out.u32(limits.min);
  if (limits.max !== undefined) out.u32(limits.max);
}

function section(out: ByteBuffer, id: number, body: ByteBuffer): void {
  out.byte(id);
  out.u32(body.length);
  out.raw(body.view());
}

/** A section that is a vector; absent when empty. */
function counted(out: ByteBuffer, id: number, count: number, body: ByteBuffer): void {
  if (count === 0) return;
  const head = new ByteBuffer(8);
  head.u32(count);
  out.byte(id);
  out.u32(head.length + body.length);
  out.raw(head.view());
  out.raw(body.view());
}
