// qemu-system-riscv64 as an oracle. An image runs with its RAM backed by a file, which is read
// after power-off: millions of instructions cost one process. For a single program there is the log
// of every instruction's registers.

import { closeSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_EXTENSIONS, qemuCpu } from '../../../emulator/index.ts';
import { findProgram, runProgram, withScratch } from '../tools.ts';
import type { Image } from './image.ts';
import type { ImageRunner } from './runner.ts';

export const QEMU = findProgram('qemu-system-riscv64');

/** Extensions of the board and no others, so that what is illegal here is illegal there. */
const CPU = qemuCpu(DEFAULT_EXTENSIONS);
const RAM_MIB = 64;

const board = (ram: string, cpu: string): string[] => [
  ...['-M', 'virt,memory-backend=ram', '-cpu', cpu, '-bios', 'none', '-display', 'none'],
  ...['-object', `memory-backend-file,id=ram,size=${RAM_MIB}M,mem-path=${ram},share=on`],
  ...['-m', `${RAM_MIB}M`, '-serial', 'none', '-monitor', 'none', '-net', 'none', '-no-reboot'],
];

function writeRam(path: string, image: Uint8Array): void {
  const file = openSync(path, 'w');
  writeSync(file, image);
  ftruncateSync(file, RAM_MIB << 20);
  closeSync(file);
}

function readRam(path: string, bytes: number): Uint8Array {
  const file = openSync(path, 'r');
  const ram = new Uint8Array(bytes);
  readSync(file, ram, 0, bytes, 0);
  closeSync(file);
  return ram;
}

/** Runs images on a QEMU with a CPU, as `-cpu` wants it. */
export const runnerOf = (name: string, program: string | undefined, cpu: string) =>
  ({
    name,
    /** Needs no more than bytes for RAM that end by the finisher. */
    run(image: Pick<Image, 'bytes'>): Uint8Array {
      return withScratch(directory => {
        const ram = join(directory, 'ram');
        writeRam(ram, image.bytes);
        runProgram(program!, board(ram, cpu), 120_000);
        return readRam(ram, image.bytes.length);
      });
    },
  }) satisfies ImageRunner;

export const qemuRunner = runnerOf('qemu', QEMU, CPU);
