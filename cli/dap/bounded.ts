// The client's messages, each of bounded length and under one form of header: the protocol library
// would keep any number of bytes, and skips the message of a header that is written otherwise.
import { Transform, type TransformCallback } from 'node:stream';

const MESSAGE_MAX = 1 << 20;
const HEADER_MAX = 4096;

/** Passes messages on, and fails where one or its header is too long. */
export class Bounded extends Transform {
  /** Bytes of the body that are still to come. */
  #body = 0;
  #header = '';

  override _transform(chunk: Uint8Array, _encoding: string, done: TransformCallback): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.#body > 0) {
        const size = Math.min(this.#body, chunk.length - at);
        this.push(chunk.subarray(at, at + size));
        this.#body -= size;
        at += size;
        continue;
      }
      this.#header += String.fromCharCode(chunk[at++]!);
      if (this.#header.endsWith('\r\n\r\n')) {
        const length = lengthOf(this.#header);
        if (!(length <= MESSAGE_MAX)) {
          done(new Error(`a message of the client has no length, or more than ${MESSAGE_MAX} bytes`));
          return;
        }
        this.push(`Content-Length: ${length}\r\n\r\n`);
        this.#body = length;
        this.#header = '';
      } else if (this.#header.length > HEADER_MAX) {
        done(new Error(`a header of the client has more than ${HEADER_MAX} bytes`));
        return;
      }
    }
    done();
  }
}

/** Names of headers have no case, and blanks around the value are free. NaN: none, or several. */
function lengthOf(header: string): number {
  const found = [...header.matchAll(/^content-length[ \t]*:[ \t]*(\d{1,12})[ \t]*\r$/gim)];
  return found.length === 1 ? Number(found[0]![1]) : Number.NaN;
}
