// The public API of the emulator. All code outside emulator/ and devices/ imports from here.

export { checkDefinition, defineDevice, paramsOf } from '../devices/defined.ts';
export type {
  KcovContext,
  KcovCounts,
  KcovRecord,
  KcovSink,
  KcovSwitch,
} from '../devices/kcov.ts';
export { type KcovOrigin, ORIGIN_WORDS } from '../devices/kcov-origin.ts';
export type { KcovRepeats, KcovRun, RunsFollowed } from '../devices/kcov-ring.ts';
export type { DiskImage } from '../devices/virtio-disk.ts';
export { hasBit, hex, popcount } from './base/bits.ts';
export { type ErrorKind, HostError, KcovboxError } from './base/errors.ts';
export { counted } from './base/words.ts';
export type { DeviceDefinition, Violation } from './bus/define.ts';
export { rdlOf } from './bus/define-rdl.ts';
export { headerOf, pageOf, repeatedMacro } from './bus/define-text.ts';
export {
  FAULT_KINDS,
  type Fault,
  type FaultChoice,
  type FaultEvent,
  type FaultKind,
  faultRow,
  faultText,
  parseFaultChoice,
  parseFaults,
  USUAL_KINDS,
} from './bus/fault-kinds.ts';
export { type Hostile, hostileText, parseHostile } from './bus/hostile.ts';
export { GdbStub } from './debug/gdb.ts';
export { readRegister, registerNumber, writeRegister } from './debug/gdb-registers.ts';
export { unitsOf } from './debug/gdb-run.ts';
export { readMemory, translate, writeMemory } from './debug/guest-memory.ts';
export { EVENT_KINDS, type EventKind, findEvent, nthEvent } from './debug/timeline/events.ts';
export { Once } from './debug/timeline/once.ts';
export type { Found, Moment, Range, Stops, Store } from './debug/timeline/stops.ts';
export {
  type Execution,
  exhaust,
  type InPieces,
  Timeline,
  type TimelineOptions,
} from './debug/timeline/timeline.ts';
export { isKeptBy, type Trap, trapHandlers, trapOf } from './debug/timeline/traps.ts';
export type { CodePage, JitProfile, PageProfile } from './engine/jit/policy/profile.ts';
export type { RetiredCounts, RetiredOptions } from './engine/retired.ts';
export { cause, type Hart, layout } from './hart/index.ts';
export * from './isa/index.ts';
export { compareEngines } from './machine/compare-engines.ts';
export { parseCpu } from './machine/cpu.ts';
export { deviceRegisters } from './machine/device-bench.ts';
export { type ElfSymbol, isElf, readElf } from './machine/elf.ts';
export { createMachine } from './machine/engine-pair.ts';
export { BRIEF, REPEATED } from './machine/engine-port.ts';
export type { InputPort, JournalEntry } from './machine/journal.ts';
export { type ImageFile, isLinuxImage } from './machine/loader.ts';
export { Machine } from './machine/machine.ts';
export { MAX_HARTS, MIB, nodeOf, RAM_BASE } from './machine/memory-map.ts';
export type {
  EngineKind,
  KcovMode,
  MachineOptions,
  UserDevice,
  VirtioKind,
  VirtioOption,
} from './machine/options.ts';
export { ICOUNT_MAX, RAM_MAX, RAM_MIN, VIRTIO_KINDS } from './machine/options.ts';
export { RUN_HASH_INTERVAL, RunDifference, type RunHash } from './machine/run-hash.ts';
export type { RunResult } from './machine/run-result.ts';
export { parseSchedule, type Schedule, scheduleText } from './machine/schedule.ts';
export { type Snapshot, stateHash } from './machine/snapshot.ts';
export type { LaterState } from './machine/snapshots.ts';
