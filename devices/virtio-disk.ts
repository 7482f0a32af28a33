// The contents of a disk: an image that is only read, and over it the sectors that the guest has
// written. The image may be far larger than the host's memory; a page of it is copied when the
// guest first writes there.

/**
 * The source of the unwritten contents. The same position must give the same bytes for the whole
 * run.
 */
export interface DiskImage {
  /** Size in bytes. */
  readonly bytes: number;
  /** Fills `into` with the bytes from `at` on; all of them lie inside the image. */
  read(at: number, into: Uint8Array): void;
}

export const SECTOR = 512;
const PAGE = 1 << 16;

/** An image in host memory. */
export const imageOf = (data: Uint8Array): DiskImage => ({
  bytes: data.length,
  read: (at, into) => into.set(data.subarray(at, at + into.length)),
});

/** A disk of whole sectors; the bytes after the image's end are zero. */
export class Disk {
  readonly bytes: number;
  readonly #image: DiskImage;
  readonly #pages = new Map<number, Uint8Array>();
  /** Sectors that the guest has written: a snapshot holds only these. */
  readonly #written = new Set<number>();

  constructor(image: DiskImage) {
    this.#image = image;
    this.bytes = Math.ceil(image.bytes / SECTOR) * SECTOR;
  }

  get sectors(): number {
    return this.bytes / SECTOR;
  }

  /** Copies the bytes from `at` on into `into`. */
  read(at: number, into: Uint8Array): void {
    for (const { page, from, start, end } of pieces(at, into.length)) {
      const part = into.subarray(start, end);
      const own = this.#pages.get(page);
      if (own) part.set(own.subarray(from, from + part.length));
      else this.#original(page * PAGE + from, part);
    }
  }

  write(at: number, data: Uint8Array): void {
    for (const { page, from, start, end } of pieces(at, data.length))
      this.#own(page).set(data.subarray(start, end), from);
    for (let n = Math.floor(at / SECTOR); n * SECTOR < at + data.length; n++) this.#written.add(n);
  }

  /** The written sectors with their numbers, in order. */
  save(): unknown {
    const sector = new Uint8Array(SECTOR);
    return [...this.#written]
      .sort((a, b) => a - b)
      .map(n => {
        this.read(n * SECTOR, sector);
        return [n, [...sector]] as const;
      });
  }

  load(state: unknown): void {
    this.#pages.clear();
    this.#written.clear();
    for (const [n, bytes] of state as [number, number[]][]) this.write(n * SECTOR, Uint8Array.from(bytes));
  }

  /** The writable page; its first use copies the image's. */
  #own(page: number): Uint8Array {
    let own = this.#pages.get(page);
    if (!own) {
      own = new Uint8Array(Math.min(PAGE, this.bytes - page * PAGE));
      this.#original(page * PAGE, own);
      this.#pages.set(page, own);
    }
    return own;
  }

  #original(at: number, into: Uint8Array): void {
    const inside = Math.max(0, Math.min(into.length, this.#image.bytes - at));
    if (inside > 0) this.#image.read(at, into.subarray(0, inside));
    into.fill(0, inside);
  }
}

/** The parts of [at, at + bytes) that lie in one page each; `start` and `end` count from `at`. */
function* pieces(at: number, bytes: number) {
  for (let start = 0; start < bytes; ) {
    const page = Math.floor((at + start) / PAGE);
    const from = at + start - page * PAGE;
    const end = Math.min(bytes, start + PAGE - from);
    yield { page, from, start, end };
    start = end;
  }
}
