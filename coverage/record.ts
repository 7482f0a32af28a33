/**
 * The public API of coverage/ for recording a trace, apart from index.ts: the emulator for the web
 * does not load reports.
 */

export { pcOf } from './base/bytes.ts';
export { CallFrames } from './dwarf/cfi.ts';
export { Elf } from './elf/elf.ts';
export { AreaWatch } from './trace/area-watch.ts';
export { writeTrace } from './trace/file.ts';
export { KIND_CMP, KIND_PC, type RecordKind, type Source, type Trace, TraceBuilder } from './trace/trace.ts';
