// The public API of capsules: one file with everything that a run needs to be the same run again.
export { FormatError } from '../format-error.ts';
export { partRow } from './parts.ts';
export { Capsule, type CapsuleHost, imagesOf } from './read.ts';
export { type CapsuleManifest, STATE_HASH } from './schema.ts';
export { type Absent, type CapsuleContents, checkDescription, writeCapsule } from './write.ts';
export { type Entry, PACKING, pack } from './zip.ts';
