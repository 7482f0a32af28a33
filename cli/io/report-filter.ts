// Adds source lines to the guest kernel's reports in what is printed. Works on the bytes on their
// way to standard output; loads the symbols at the first line that needs them, and holds what
// follows back meanwhile.

export interface LineNotes {
  /** Text to add at the end of a line; '' for none. */
  behind(line: string): string;
}

export interface FilterOptions {
  readonly needs: (line: string) => boolean;
  /** Undefined when there are no symbols. */
  readonly load: () => Promise<LineNotes | undefined>;
  readonly write: (bytes: Uint8Array) => void;
}

const LF = 10;
const CR = 13;
/** A longer line is no report. */
const LINE_MAX = 400;

export class ReportFilter {
  readonly #options: FilterOptions;
  /** The line up to now, without what is too long. */
  #line = '';
  #notes: LineNotes | undefined;
  #loading: Promise<void> | undefined;
  #isLoaded = false;
  /** Bytes that wait for the symbols. */
  #held: Uint8Array[] = [];

  constructor(options: FilterOptions) {
    this.#options = options;
  }

  /** Bytes to print. */
  write(bytes: Uint8Array): void {
    if (this.#loading && !this.#isLoaded) {
      this.#held.push(bytes);
      return;
    }
    const parts: Uint8Array[] = [];
    let from = 0;
    for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) {
      const end = at > from && bytes[at - 1] === CR ? at - 1 : at;
      this.#append(bytes.subarray(from, end));
      const needs = this.#options.needs(this.#line);
      if (needs && !this.#isLoaded) {
        this.#emit([...parts, bytes.subarray(from, end)]);
        this.#line = this.#line.slice(0, LINE_MAX);
        this.#held.push(bytes.subarray(end));
        this.#loading = this.#load();
        return;
      }
      const text = needs ? (this.#notes?.behind(this.#line) ?? '') : '';
      parts.push(bytes.subarray(from, end), new TextEncoder().encode(text), bytes.subarray(end, at + 1));
      from = at + 1;
      this.#line = '';
    }
    this.#append(bytes.subarray(from));
    this.#emit([...parts, bytes.subarray(from)]);
  }

  /** Resolves when everything is printed. */
  async settle(): Promise<void> {
    await this.#loading;
  }

  async #load(): Promise<void> {
    this.#notes = await this.#options.load();
    this.#isLoaded = true;
    const held = this.#held;
    this.#held = [];
    for (const bytes of held) this.write(bytes);
  }

  #append(bytes: Uint8Array): void {
    for (const byte of bytes) if (this.#line.length < LINE_MAX) this.#line += String.fromCharCode(byte);
  }

  #emit(parts: readonly Uint8Array[]): void {
    for (const part of parts) if (part.length > 0) this.#options.write(part);
  }
}
