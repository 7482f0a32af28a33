// fw_cfg: files that the host holds ready for the guest, as on QEMU's virt board. The guest selects
// an item by its key and reads it from its start, byte by byte or by DMA; a directory names the
// files.
// Specification: QEMU docs/specs/fw_cfg.rst. All registers are big-endian.
//   0x00 DATA (the next bytes of the selected item)   0x08 SELECTOR (key)
//   0x10 DMA (address of a request; storing the low half starts it)
// Divergences: the items are the signature, the revision, the directory and the files; nothing can
// be written; an address outside RAM is an error of the request. The device tree node is below
// /soc.
//
// Pace: a request moves BURST bytes at once. An alarm moves the next BURST when as many units of
// time have passed, so one access of the guest, or one alarm, costs a bounded copy. The control
// word keeps its bits until the request is over, for which drivers must wait anyway. Meanwhile
// another request is an error, and what is selected may change.
//
// The contents belong to the board, as those of a disk do: the state is what is selected, and the
// request in progress.

import type {
  Alarm,
  ClockPort,
  Device,
  FdtNode,
  Placement,
  RamPort,
  WorkPort,
} from '../emulator/bus/device.ts';
import { regmap } from '../emulator/bus/regmap.ts';

export const FW_CFG_MAP = regmap({ title: 'fw_cfg', spec: 'QEMU docs/specs/fw_cfg', size: 0x18 }, [
  { id: 'data', at: 0x00, bytes: 8, access: 'r', doc: 'the next bytes of the item, in the order of memory' },
  { id: 'selector', at: 0x08, bytes: 2, access: 'w', doc: 'big-endian key of an item, read from its start' },
  {
    id: 'dma',
    at: 0x10,
    bytes: 8,
    access: 'rw',
    doc: 'big-endian address of a request { be32 control, be32 length, be64 address }; reads "QEMU CFG"',
  },
]);

/** A file for the guest. */
export interface FwCfgFile {
  /** At most 55 characters, as `opt/org.example/words`. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

const KEY_SIGNATURE = 0x00;
const KEY_ID = 0x01;
const KEY_DIRECTORY = 0x19;
const KEY_FILES = 0x20;
const SIGNATURE = 'QEMU';
/** Bit 0: the data register; bit 1: DMA. */
const ID = 3;
export const FW_CFG_NAME_BYTES = 56;
const ENTRY_BYTES = 64;
const REQUEST_BYTES = 16;
const DMA_SIGNATURE = 'QEMU CFG';
const CONTROL_ERROR = 1;
const CONTROL_READ = 2;
const CONTROL_SKIP = 4;
const CONTROL_SELECT = 8;
const CONTROL_WRITE = 16;
/** Bytes that a request moves at once. */
export const BURST = 65536;
/** Bytes that DMA stores at a time; no host buffer for a transfer is larger. */
const PIECE = 4096;

export interface FwCfgPorts {
  readonly ram: RamPort;
  readonly clock: ClockPort;
  readonly work: WorkPort;
  /** The guest stores to a register. */
  readonly accessed: () => void;
}

interface State {
  key: number;
  /** Of the next byte. */
  offset: number;
  /** High half of the address, as it was stored. */
  dmaHigh: number;
  /** Address of the request in progress, 0 = none; where its next byte goes, and how many do. */
  request: number;
  target: number;
  left: number;
}

const initial = (): State => ({ key: 0, offset: 0, dmaHigh: 0, request: 0, target: 0, left: 0 });
const ascii = (text: string): Uint8Array => Uint8Array.from(text, c => c.charCodeAt(0));

function swap32(value: number): number {
  return ((value << 24) | ((value & 0xff00) << 8) | ((value >>> 8) & 0xff00) | (value >>> 24)) >>> 0;
}

export class FwCfg implements Device {
  readonly name = 'fwcfg';
  readonly stateVersion = 2;
  readonly #ports: FwCfgPorts;
  readonly #alarm: Alarm;
  readonly #items = new Map<number, Uint8Array>();
  #s = initial();

  constructor(files: readonly FwCfgFile[], ports: FwCfgPorts) {
    this.#ports = ports;
    this.#alarm = ports.clock.alarm('fwcfg', () => this.#continue());
    this.#items.set(KEY_SIGNATURE, ascii(SIGNATURE));
    this.#items.set(KEY_ID, Uint8Array.of(ID, 0, 0, 0));
    this.#items.set(KEY_DIRECTORY, directory(files));
    for (const [i, { bytes }] of files.entries()) this.#items.set(KEY_FILES + i, bytes);
  }

  read(offset: number, bytes: number): number {
    if (offset < 8) return this.#take(bytes);
    return this.peek(offset, bytes);
  }

  write(offset: number, bytes: number, value: number): void {
    this.#ports.accessed();
    if (offset === 0x08 && bytes === 2) this.#select(((value & 0xff) << 8) | (value >>> 8));
    else if (offset === 0x10 && bytes === 4) this.#s.dmaHigh = value;
    else if (offset === 0x14 && bytes === 4) this.#request(swap32(this.#s.dmaHigh) * 2 ** 32 + swap32(value));
  }

  peek(offset: number, bytes: number): number {
    let value = 0;
    for (let i = bytes - 1; i >= 0; i--) {
      const at = offset + i;
      const byte = at < 8 ? this.#byte(i) : at < 16 ? 0 : DMA_SIGNATURE.charCodeAt(at - 16);
      value = value * 256 + byte;
    }
    return value;
  }

  reset(): void {
    this.#s = initial();
    this.#alarm.clear();
  }

  save(): unknown {
    return { ...this.#s };
  }

  /** Without a request in progress as before there were any, so that hashes of runs hold. */
  digest(): unknown {
    const { request, target, left, ...others } = this.#s;
    return request === 0 ? others : { ...others, request, target, left };
  }

  load(state: unknown): void {
    this.#s = { ...(state as State) };
  }

  fdtNode({ base, size }: Placement): FdtNode {
    return {
      name: `fw-cfg@${base.toString(16)}`,
      props: { 'dma-coherent': true, reg: [0, base, 0, size], compatible: 'qemu,fw-cfg-mmio' },
    };
  }

  #select(key: number): void {
    this.#s.key = key;
    this.#s.offset = 0;
  }

  /** Of the selected item, `ahead` of the next one; zeros behind its end and without an item. */
  #byte(ahead: number): number {
    return this.#items.get(this.#s.key)?.[this.#s.offset + ahead] ?? 0;
  }

  #take(bytes: number): number {
    const value = this.peek(0, bytes);
    this.#advance(bytes);
    return value;
  }

  /** Never beyond the end: the offset stays small, whatever the guest reads. */
  #advance(bytes: number): void {
    const { length } = this.#items.get(this.#s.key) ?? [];
    this.#s.offset = Math.min(this.#s.offset + bytes, length);
  }

  #request(address: number): void {
    const { ram } = this.#ports;
    this.#s.dmaHigh = 0;
    if (!ram.has(address, REQUEST_BYTES)) return; // there is nowhere to say so
    const control = swap32(ram.read32(address));
    const length = swap32(ram.read32(address + 4));
    const target = swap32(ram.read32(address + 8)) * 2 ** 32 + swap32(ram.read32(address + 12));
    if (this.#s.request !== 0) {
      this.#end(address, false);
      return;
    }
    if (control & CONTROL_SELECT) this.#select(control >>> 16);
    if (control & CONTROL_READ) {
      Object.assign(this.#s, { request: address, target, left: length });
      this.#continue();
      return;
    }
    if (!(control & CONTROL_WRITE) && control & CONTROL_SKIP) this.#advance(length);
    this.#end(address, !(control & CONTROL_WRITE) || length === 0);
  }

  #end(request: number, isOk: boolean): void {
    this.#ports.ram.write32(request, swap32(isOk ? 0 : CONTROL_ERROR));
  }

  /** Moves the next bytes of the request in progress. */
  #continue(): void {
    const s = this.#s;
    const { ram, clock, work } = this.#ports;
    const { request, target } = s;
    const burst = Math.min(BURST, s.left);
    // A request of no bytes succeeds at any address, as on QEMU.
    const isOk = s.left === 0 || ram.has(target, s.left);
    if (isOk) {
      work.spend(burst);
      this.#copy(target, burst);
      s.target += burst;
      s.left -= burst;
      if (s.left > 0) {
        this.#alarm.set(clock.now() + burst);
        return;
      }
    }
    Object.assign(s, { request: 0, target: 0, left: 0 });
    // A forged snapshot may say anything.
    if (ram.has(request, REQUEST_BYTES)) this.#end(request, isOk);
  }

  #copy(target: number, length: number): void {
    const item = this.#items.get(this.#s.key) ?? new Uint8Array(0);
    for (let done = 0; done < length; ) {
      const bytes = Math.min(PIECE, length - done);
      const { offset } = this.#s;
      const piece = item.subarray(offset, offset + bytes);
      const isWhole = piece.length === bytes;
      const padded = isWhole ? piece : new Uint8Array(bytes);
      if (!isWhole) padded.set(piece);
      this.#ports.ram.write(target + done, padded);
      this.#advance(bytes);
      done += bytes;
    }
  }
}

/** The number of files, then size, key and name of each. */
function directory(files: readonly FwCfgFile[]): Uint8Array {
  const bytes = new Uint8Array(4 + ENTRY_BYTES * files.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, files.length);
  for (const [i, file] of files.entries()) {
    const at = 4 + ENTRY_BYTES * i;
    view.setUint32(at, file.bytes.length);
    view.setUint16(at + 4, KEY_FILES + i);
    bytes.set(ascii(file.name).subarray(0, FW_CFG_NAME_BYTES - 1), at + 8);
  }
  return bytes;
}
