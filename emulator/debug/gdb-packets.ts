// Framing of the GDB remote serial protocol: $data#checksum, acknowledgements, escapes and the
// interrupt byte.
// Specification: GDB manual, "Remote Protocol", Overview. Bytes in, packets out; no I/O.

const DOLLAR = 0x24;
const HASH = 0x23;
const ESCAPE = 0x7d;
const INTERRUPT = 3;
/** Larger packets are dropped; GDB is told this size. */
export const PACKET_MAX = 0x8000;

export type Incoming = { kind: 'packet'; data: Uint8Array } | { kind: 'interrupt' } | { kind: 'bad' };

export class Packets {
  #body: number[] | undefined;
  #checksum: number[] | undefined;

  /**
   * Takes one byte of the connection; returns the packet that it completes, if any.
   * Acknowledgements of the other side are dropped.
   */
  push(byte: number): Incoming | undefined {
    if (this.#checksum) {
      this.#checksum.push(byte);
      if (this.#checksum.length === 2) return this.#finish();
    } else if (this.#body) {
      if (byte === HASH) this.#checksum = [];
      else if (this.#body.length < PACKET_MAX) this.#body.push(byte);
    } else if (byte === DOLLAR) {
      this.#body = [];
    } else if (byte === INTERRUPT) {
      return { kind: 'interrupt' };
    }
    return undefined;
  }

  /** Starts another connection: drops the incomplete packet of the previous one. */
  reset(): void {
    this.#body = this.#checksum = undefined;
  }

  #finish(): Incoming {
    const body = this.#body!;
    const wanted = Number.parseInt(String.fromCharCode(...this.#checksum!), 16);
    this.#body = this.#checksum = undefined;
    if (sum(body) !== wanted) return { kind: 'bad' };
    const data: number[] = [];
    for (let i = 0; i < body.length; i++) data.push(body[i] === ESCAPE ? (body[++i] ?? 0) ^ 0x20 : body[i]!);
    return { kind: 'packet', data: Uint8Array.from(data) };
  }
}

const sum = (bytes: readonly number[]): number => bytes.reduce((a, b) => (a + b) & 0xff, 0);

/** A packet with this text, which must not need escapes. */
export function frame(text: string): string {
  let checksum = 0;
  for (let i = 0; i < text.length; i++) checksum = (checksum + text.charCodeAt(i)) & 0xff;
  return `$${text}#${checksum.toString(16).padStart(2, '0')}`;
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

export const toHex = (bytes: Iterable<number>): string => {
  let out = '';
  for (const byte of bytes) out += HEX[byte]!;
  return out;
};

/** Undefined if the text is not hexadecimal bytes. */
export function fromHex(text: string): Uint8Array | undefined {
  if (text.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(text)) return undefined;
  return Uint8Array.from({ length: text.length / 2 }, (_, i) =>
    Number.parseInt(text.slice(2 * i, 2 * i + 2), 16),
  );
}
