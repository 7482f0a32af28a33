// HTIF: how bare-metal RISC-V test programs talk to their host. An ELF file that defines `tohost`
// gets it.
// Specification: the host side of riscv-isa-sim (fesvr); there is no other document.
//   tohost = device << 56 | command << 48 | payload
//   device 0, odd payload: the run ends with status payload >> 1
//   device 1, command 1: print a character
//   device 0, even payload: address of a block {number, arguments...} of a system call; only
//   write(1|2) is served
// Stores to the page of `tohost` are watched by its physical address (like stores to translated
// code). So this works with paging on, at exact instructions, and costs nothing for other pages.

import type { RamPort, Sink, WorkPort } from '../bus/device.ts';

const DEVICE_CONSOLE = 1n;
const COMMAND_PUT = 1n;
const SYS_WRITE = 64n;
const ENOSYS = -38n;
/** Limit of the bytes printed by one write; like write(2), the answer is the number of bytes. */
const WRITE_MAX = 0x1_0000;

export interface HtifPorts {
  ram: RamPort;
  console: Sink;
  work: WorkPort;
  exit(status: number): void;
}

export class Htif {
  readonly tohost: number;
  readonly #fromhost: number | undefined;
  readonly #ports: HtifPorts;

  constructor(ports: HtifPorts, tohost: number, fromhost: number | undefined) {
    this.#ports = ports;
    this.tohost = tohost;
    this.#fromhost = fromhost;
  }

  /** Called after a store to [pa, pa + bytes). */
  stored(pa: number, bytes: number): void {
    if (pa + bytes <= this.tohost || pa >= this.tohost + 8) return;
    const value = this.#ports.ram.read64(this.tohost);
    if (value === 0n) return;
    const device = value >> 56n;
    const command = (value >> 48n) & 0xffn;
    const payload = value & 0xffff_ffff_ffffn;
    if (device === 0n && payload & 1n) {
      this.#ports.exit(Number((payload >> 1n) & 0xffff_ffffn));
    } else if (device === 0n) {
      this.#systemCall(Number(payload));
      this.#answer(1n);
    } else if (device === DEVICE_CONSOLE && command === COMMAND_PUT) {
      this.#ports.console.write(Number(payload & 0xffn));
      this.#answer((device << 56n) | (command << 48n));
    }
  }

  /** Clears the request; programs wait for tohost = 0 and some for an answer. */
  #answer(value: bigint): void {
    const { ram } = this.#ports;
    ram.write64(this.tohost, 0n);
    if (this.#fromhost !== undefined && ram.has(this.#fromhost, 8)) ram.write64(this.#fromhost, value);
  }

  #systemCall(block: number): void {
    const { ram, console } = this.#ports;
    if (!ram.has(block, 64)) return;
    const [number, fd, text, bytes] = [0, 8, 16, 24].map(at => ram.read64(block + at));
    let result = ENOSYS;
    if (number === SYS_WRITE && (fd === 1n || fd === 2n) && ram.has(Number(text), Number(bytes))) {
      const printed = Math.min(Number(bytes), WRITE_MAX);
      for (const byte of ram.read(Number(text), printed)) console.write(byte);
      this.#ports.work.spend(printed);
      result = BigInt(printed);
    }
    ram.write64(block, result);
  }
}
