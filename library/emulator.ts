/**
 * A whole RISC-V machine: RV64GC harts, RAM and the devices of QEMU's virt board, with a kcov
 * device beside them. Runs in Node and in browsers; nothing here touches files, clocks or the
 * network.
 *
 * Every run is a function of its options and its input: the same machine with the same input
 * executes the same instructions, prints the same bytes and has the same state hash, with any
 * engine, on any host.
 *
 * @module kcovbox/emulator
 */

export { type ErrorKind, KcovboxError } from '../emulator/base/errors.ts';
export type {
  AddedDevice,
  Alarm,
  ClockPort,
  Device,
  DevicePorts,
  FdtNode,
  FdtValue,
  IrqLine,
  Placement,
  RamPort,
  StateCheck,
  Width,
  WorkPort,
} from '../emulator/bus/device.ts';
export { type ElfSymbol, readSymbols } from './emulator/elf.ts';
export type { KcovRecord } from './emulator/kcov.ts';
export { type InstructionCounts, Machine, type UntilOptions } from './emulator/machine.ts';
export type {
  DiskImage,
  Image,
  InputEvent,
  InputPort,
  LoadedImage,
  MachineOptions,
  MomentsOptions,
  TimelineOptions,
  TraceOptions,
  VirtioDevice,
} from './emulator/options.ts';
export type { Privilege, Registers } from './emulator/registers.ts';
export type { Snapshot } from './emulator/snapshot.ts';
export type { StopReason } from './emulator/stop.ts';
export type {
  EventKind,
  Moment,
  StoreMoment,
  Timeline,
} from './emulator/timeline.ts';
export type { TraceRecording } from './emulator/trace.ts';
