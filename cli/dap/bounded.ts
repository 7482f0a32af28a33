// The client's messages, each of bounded length: the protocol library would keep any number of
// bytes.
import { Transform, type TransformCallback } from 'node:stream';

const MESSAGE_MAX = 1 << 20;
const HEADER_MAX = 4096;

/** Passes bytes on, and fails where a message or its header is too long. */
export class Bounded extends Transform {
  /** Bytes of the body that are still to come. */
  #body = 0;
  #header = '';

  override _transform(chunk: Uint8Array, _encoding: string, done: TransformCallback): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.#body > 0) {
        const size = Math.min(this.#body, chunk.length - at);
        this.#body -= size;
        at += size;
        continue;
      }
      this.#header += String.fromCharCode(chunk[at++]!);
      if (this.#header.endsWith('\r\n\r\n')) {
        const length = Number(/Content-Length: *(\d{1,12})\r\n/i.exec(this.#header)?.[1] ?? Number.NaN);
        if (!(length <= MESSAGE_MAX)) {
          done(new Error(`a message of the client has no length, or more than ${MESSAGE_MAX} bytes`));
          return;
        }
        this.#body = length;
        this.#header = '';
      } else if (this.#header.length > HEADER_MAX) {
        done(new Error(`a header of the client has more than ${HEADER_MAX} bytes`));
        return;
      }
    }
    done(null, chunk);
  }
}
