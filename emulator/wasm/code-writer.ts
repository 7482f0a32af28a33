// One function body under construction: locals, structured control, memory, tables (core spec 2.0
// §5.4). Methods carry the specification's names with the dot replaced by an underscore and return
// the writer, except the three that open a block: they return its Label, and branches name a Label
// instead of a relative depth.
//
// `metadata.code.branch_hint` (branch hinting proposal): `if_` and `br_if` take a hint; engines
// without support ignore the section.

import type { ByteBuffer } from './byte-buffer.ts';
import { type Local, LocalPool, LocalScope, type LocalSource } from './local.ts';
import { NumericWriter } from './numeric-writer.ts';
import type { BlockType, ValType } from './types.ts';

/** An open block, by its nesting depth; only valid until its `end`. */
export type Label = number;

/** A hint for the conditional branch at `offset`. */
export interface BranchHint {
  readonly offset: number;
  readonly likely: boolean;
}

/** The expected value of a condition. */
export type Hint = 'likely' | 'unlikely';

export class CodeWriter extends NumericWriter implements LocalSource {
  private readonly locals: LocalPool;
  /** Offset within the code and hint value (0 = condition false), in code order. */
  private readonly hints: BranchHint[] = [];
  private open = 0;

  constructor(params: readonly ValType[] = [], capacity = 256) {
    super(capacity);
    this.locals = new LocalPool(params);
  }

  /** The parameters, which are never released. */
  get params(): readonly Local[] {
    return this.locals.params;
  }

  /**
   * A local that the caller owns until `release`. Its value is undefined until it is set: it may
   * have had another owner.
   */
  local<T extends ValType>(type: T): Local<T> {
    return this.locals.local(type);
  }

  /**
   * A new local, 0 when the function is entered. It keeps its value across loop iterations if its
   * owner holds it to the end of the function.
   */
  zeroed<T extends ValType>(type: T): Local<T> {
    return this.locals.zeroed(type);
  }

  /** Releases locals for reuse. */
  release(...locals: readonly Local[]): void {
    for (const local of locals) this.locals.release(local);
  }

  /** A scope for several locals that are released together. */
  scope(): LocalScope {
    return new LocalScope(this.locals);
  }

  // Control.

  block(result?: BlockType): Label {
    return this.enter(0x02, result);
  }

  loop(result?: BlockType): Label {
    return this.enter(0x03, result);
  }

  if_(result?: BlockType, hint?: Hint): Label {
    this.hint(hint);
    return this.enter(0x04, result);
  }

  else_(): this {
    return this.op(0x05);
  }

  end(): this {
    if (this.open === 0) throw new Error('wasm: end without an open block');
    this.open--;
    return this.op(0x0b);
  }

  br(label: Label): this {
    this.byte(0x0c);
    this.u32(this.relative(label));
    return this;
  }

  br_if(label: Label, hint?: Hint): this {
    this.hint(hint);
    this.byte(0x0d);
    this.u32(this.relative(label));
    return this;
  }

  br_table(labels: readonly Label[], fallback: Label): this {
    this.byte(0x0e);
    this.u32(labels.length);
    for (const label of labels) this.u32(this.relative(label));
    this.u32(this.relative(fallback));
    return this;
  }

  unreachable(): this {
    return this.op(0x00);
  }

  nop(): this {
    return this.op(0x01);
  }

  return_(): this {
    return this.op(0x0f);
  }

  call(func: number): this {
    return this.indexed(0x10, func);
  }

  call_indirect(type: number, table = 0): this {
    return this.indexed(0x11, type).indexOnly(table);
  }

  return_call(func: number): this {
    return this.indexed(0x12, func);
  }

  return_call_indirect(type: number, table = 0): this {
    return this.indexed(0x13, type).indexOnly(table);
  }

  drop(): this {
    return this.op(0x1a);
  }

  select(): this {
    return this.op(0x1b);
  }

  // Variables.

  local_get(local: Local): this {
    return this.indexed(0x20, this.locals.indexOf(local));
  }

  local_set(local: Local): this {
    return this.indexed(0x21, this.locals.indexOf(local));
  }

  local_tee(local: Local): this {
    return this.indexed(0x22, this.locals.indexOf(local));
  }

  // Constants.

  i32_const(value: number): this {
    this.byte(0x41);
    this.s32(value);
    return this;
  }

  /** Numbers must be exact integers; use a bigint beyond 2^53. */
  i64_const(value: bigint | number): this {
    this.byte(0x42);
    if (typeof value === 'number' && (value | 0) === value) this.s32(value);
    else this.s64(BigInt(value));
    return this;
  }

  f32_const(value: number): this {
    this.byte(0x43);
    this.reserve(4);
    new DataView(this.bytes.buffer).setFloat32(this.length, value, true);
    this.length += 4;
    return this;
  }

  f64_const(value: number): this {
    this.byte(0x44);
    this.reserve(8);
    new DataView(this.bytes.buffer).setFloat64(this.length, value, true);
    this.length += 8;
    return this;
  }

  // Memory: immediate offset in bytes, then log2 of the promised alignment (default: natural; only
  // a hint).

  i32_load(offset = 0, align = 2): this {
    return this.memory(0x28, align, offset);
  }

  i64_load(offset = 0, align = 3): this {
    return this.memory(0x29, align, offset);
  }

  f32_load(offset = 0, align = 2): this {
    return this.memory(0x2a, align, offset);
  }

  f64_load(offset = 0, align = 3): this {
    return this.memory(0x2b, align, offset);
  }

  i32_load8_u(offset = 0): this {
    return this.memory(0x2d, 0, offset);
  }

  i32_load16_u(offset = 0, align = 1): this {
    return this.memory(0x2f, align, offset);
  }

  i64_load8_s(offset = 0): this {
    return this.memory(0x30, 0, offset);
  }

  i64_load8_u(offset = 0): this {
    return this.memory(0x31, 0, offset);
  }

  i64_load16_s(offset = 0, align = 1): this {
    return this.memory(0x32, align, offset);
  }

  i64_load16_u(offset = 0, align = 1): this {
    return this.memory(0x33, align, offset);
  }

  i64_load32_s(offset = 0, align = 2): this {
    return this.memory(0x34, align, offset);
  }

  i64_load32_u(offset = 0, align = 2): this {
    return this.memory(0x35, align, offset);
  }

  i32_store(offset = 0, align = 2): this {
    return this.memory(0x36, align, offset);
  }

  i64_store(offset = 0, align = 3): this {
    return this.memory(0x37, align, offset);
  }

  f64_store(offset = 0, align = 3): this {
    return this.memory(0x39, align, offset);
  }

  i32_store8(offset = 0): this {
    return this.memory(0x3a, 0, offset);
  }

  i32_store16(offset = 0, align = 1): this {
    return this.memory(0x3b, align, offset);
  }

  i64_store8(offset = 0): this {
    return this.memory(0x3c, 0, offset);
  }

  i64_store16(offset = 0, align = 1): this {
    return this.memory(0x3d, align, offset);
  }

  i64_store32(offset = 0, align = 2): this {
    return this.memory(0x3e, align, offset);
  }

  // The interface for the module builder.

  /**
   * Appends the body (§5.5.13, without its size) to `out`; hints get offsets from its first byte.
   */
  finishInto(out: ByteBuffer): BranchHint[] {
    if (this.open !== 0) throw new Error(`wasm: ${this.open} blocks still open at the end of a function`);
    if (this.locals.held !== 0)
      throw new Error(`wasm: ${this.locals.held} locals still held at the end of a function`);
    const start = out.length;
    this.writeLocals(out);
    const shift = out.length - start;
    out.raw(this.view());
    out.byte(0x0b);
    return this.hints.map(hint => ({ offset: hint.offset + shift, likely: hint.likely }));
  }

  private writeLocals(out: ByteBuffer): void {
    const runs: { type: ValType; count: number }[] = [];
    for (const type of this.locals.declared) {
      const last = runs[runs.length - 1];
      if (last?.type === type) last.count++;
      else runs.push({ type, count: 1 });
    }
    out.u32(runs.length);
    for (const run of runs) {
      out.u32(run.count);
      out.byte(run.type);
    }
  }

  private enter(code: number, result: BlockType): Label {
    this.byte(code);
    this.byte(result ?? 0x40);
    return ++this.open;
  }

  private relative(label: Label): number {
    const depth = this.open - label;
    if (depth < 0) throw new Error(`wasm: branch to block ${label} that is already closed`);
    return depth;
  }

  private hint(hint: Hint | undefined): void {
    if (hint) this.hints.push({ offset: this.length, likely: hint === 'likely' });
  }

  private indexed(code: number, index: number): this {
    this.byte(code);
    this.u32(index);
    return this;
  }

  private indexOnly(index: number): this {
    this.u32(index);
    return this;
  }

  private memory(code: number, align: number, offset: number): this {
    this.byte(code);
    this.byte(align);
    this.u32(offset);
    return this;
  }
}
