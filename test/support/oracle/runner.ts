// The interface of a machine for comparisons: run an image from RAM_BASE to its end and show the
// memory.

import type { Image } from './image.ts';

export interface ImageRunner {
  readonly name: string;
  /** The image's bytes after the run. Throws when the run does not come to its end. */
  run(image: Image): Uint8Array;
}

/** A runner that counts the instructions of all its runs. */
export interface CountingRunner extends ImageRunner {
  readonly instret: number;
}
