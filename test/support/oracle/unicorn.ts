// libunicorn as an oracle, through koffi: no build step, only the library's C interface. Its limits
// are those of the QEMU 5.0 inside it: single-precision results are not NaN-boxed, Zb* is unknown,
// and traps are not delivered to the guest, so only I, M, A, C and D programs without traps may be
// run (profiles.ts).

import koffi from 'koffi';
import { findLibrary } from '../tools.ts';
import { RAM_BASE } from './image.ts';
import type { ImageRunner } from './runner.ts';

export const UNICORN = findLibrary('libunicorn.so');

// unicorn.h
const ARCH_RISCV = 8;
const MODE_RISCV64 = 1 << 3;
const PROT_ALL = 7;

interface Library {
  open(arch: number, mode: number, engine: unknown[]): number;
  close(engine: unknown): number;
  map(engine: unknown, address: bigint, size: bigint, protection: number): number;
  write(engine: unknown, address: bigint, bytes: Uint8Array, size: bigint): number;
  read(engine: unknown, address: bigint, bytes: Uint8Array, size: bigint): number;
  start(engine: unknown, begin: bigint, until: bigint, timeout: bigint, count: bigint): number;
  errorText(code: number): string;
}

let library: Library | undefined;

function load(): Library {
  if (library !== undefined) return library;
  const file = koffi.load(UNICORN!);
  library = {
    open: file.func('int uc_open(int arch, int mode, _Out_ void **engine)'),
    close: file.func('int uc_close(void *engine)'),
    map: file.func('int uc_mem_map(void *engine, uint64_t address, uint64_t size, uint32_t protection)'),
    write: file.func('int uc_mem_write(void *engine, uint64_t address, const uint8_t *bytes, uint64_t size)'),
    read: file.func('int uc_mem_read(void *engine, uint64_t address, _Out_ uint8_t *bytes, uint64_t size)'),
    start: file.func(
      'int uc_emu_start(void *engine, uint64_t begin, uint64_t until, uint64_t timeout, uint64_t count)',
    ),
    errorText: file.func('const char *uc_strerror(int code)'),
  };
  return library;
}

function check(what: string, code: number): void {
  if (code !== 0) throw new Error(`unicorn: ${what}: ${load().errorText(code)}`);
}

export const unicornRunner: ImageRunner = {
  name: 'unicorn',
  run(image) {
    const uc = load();
    const out: unknown[] = [null];
    check('open', uc.open(ARCH_RISCV, MODE_RISCV64, out));
    const engine = out[0];
    try {
      const size = BigInt(image.bytes.length);
      check('map ram', uc.map(engine, RAM_BASE, size, PROT_ALL));
      check('map finisher', uc.map(engine, 0x10_0000n, 4096n, PROT_ALL));
      check('write', uc.write(engine, RAM_BASE, image.bytes, size));
      check('run', uc.start(engine, RAM_BASE, image.end, 0n, 0n));
      const memory = new Uint8Array(image.bytes.length);
      check('read', uc.read(engine, RAM_BASE, memory, size));
      return memory;
    } finally {
      uc.close(engine);
    }
  },
};
