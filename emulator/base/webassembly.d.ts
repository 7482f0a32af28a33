// The part of the WebAssembly JavaScript interface that we use; TypeScript declares it only in its
// DOM library, which `emulator/` must not see.

declare namespace WebAssembly {
  interface MemoryDescriptor {
    initial: number;
    maximum?: number;
    shared?: boolean;
  }
  class Memory {
    constructor(descriptor: MemoryDescriptor);
    readonly buffer: ArrayBuffer;
    grow(pages: number): number;
  }
  interface TableDescriptor {
    element: 'anyfunc' | 'externref';
    initial: number;
    maximum?: number;
  }
  class Table {
    constructor(descriptor: TableDescriptor, value?: unknown);
    readonly length: number;
    get(index: number): unknown;
    set(index: number, value?: unknown): void;
    grow(delta: number): number;
  }
  type ValueType = 'i32' | 'i64' | 'f32' | 'f64' | 'v128' | 'externref' | 'anyfunc';
  interface GlobalDescriptor {
    value: ValueType;
    mutable?: boolean;
  }
  class Global {
    constructor(descriptor: GlobalDescriptor, value?: unknown);
    value: unknown;
  }
  class Module {
    constructor(bytes: BufferSource);
  }
  type BufferSource = ArrayBuffer | Uint8Array;
  // biome-ignore lint/suspicious/noExplicitAny: imports and exports are typed where they are used
  type Imports = Record<string, Record<string, any>>;
  class Instance {
    constructor(module: Module, imports?: Imports);
    // biome-ignore lint/suspicious/noExplicitAny: see above
    readonly exports: Record<string, any>;
  }
  class CompileError extends Error {}
  class LinkError extends Error {}
  class RuntimeError extends Error {}
  function validate(bytes: BufferSource): boolean;
  function compile(bytes: BufferSource): Promise<Module>;
}
