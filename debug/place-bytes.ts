// The bytes of a variable, wherever the debug information says that it is.
import type { FrameView, Place } from '../coverage/index.ts';
import { bytesOf, type Read } from './values.ts';

/** Undefined: some of them are not known. */
export function bytesAt(place: Place, size: number, view: FrameView, read: Read): Uint8Array | undefined {
  switch (place.kind) {
    case 'memory':
      return read(place.va, size);
    case 'register': {
      const word = view.register(place.n);
      return word === undefined ? undefined : bytesOf(word, Math.min(8, size));
    }
    case 'value':
      return bytesOf(place.value, Math.min(8, size));
    case 'bytes':
      return place.bytes.slice(0, size);
    case 'pieces': {
      const all = new Uint8Array(size);
      let at = 0;
      for (const { place: part, bytes } of place.pieces) {
        const found = part && bytesAt(part, Math.min(bytes, size - at), view, read);
        if (!found) return undefined;
        all.set(found, at);
        at += bytes;
        if (at >= size) return all;
      }
      return undefined;
    }
  }
}
